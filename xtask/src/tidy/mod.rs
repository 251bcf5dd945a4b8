//! The house's rules as a test: what no compiler checks and every newcomer would otherwise have to be told.
//!
//! Each rule is a plain function from what it looks at to a list of complaints, and has a test that a violation is found.

mod graph;
mod licences;
mod lua;
mod migrations;
mod source;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;
use walkdir::WalkDir;

use crate::{cargo, say};

/// Checks every rule.
///
/// # Errors
/// When one is broken; each complaint is printed with what to do.
pub fn run(root: &Path) -> anyhow::Result<()> {
    let metadata = metadata(root)?;
    let mut complaints = graph::check(&graph::read(&metadata)?);
    complaints.extend(licences::check(&metadata));
    let files = files(root)?;
    for (path, text) in &files {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => complaints.extend(source::check(path, text)),
            Some("lua") => complaints.extend(lua::check(path, text)),
            _ => {}
        }
    }
    complaints.extend(migrations::check(root)?);
    for complaint in &complaints {
        say::note(complaint);
    }
    if complaints.is_empty() {
        say::note(&format!("tidy: {} files, no complaint", files.len()));
        return Ok(());
    }
    bail!("{} complaints", complaints.len())
}

fn metadata(root: &Path) -> anyhow::Result<Value> {
    let output =
        cargo::command(root, &["metadata", "--format-version", "1"]).output().context("can't run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// All Rust and Lua of the project, by path from the root.
fn files(root: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    for top in ["crates", "xtask", "bench"].into_iter().filter(|top| root.join(top).is_dir()) {
        let entries = WalkDir::new(root.join(top))
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("target" | "dist" | "node_modules")));
        for entry in entries {
            let entry = entry?;
            let is_ours = entry.path().extension().is_some_and(|extension| extension == "rs" || extension == "lua");
            if is_ours && entry.file_type().is_file() {
                let text = std::fs::read_to_string(entry.path()).with_context(|| entry.path().display().to_string())?;
                files.push((entry.path().strip_prefix(root)?.to_owned(), text));
            }
        }
    }
    Ok(files)
}

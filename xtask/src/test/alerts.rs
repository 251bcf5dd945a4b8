//! Prometheus' alert rules, by Prometheus' own checker: each fires where it has to, is silent where it must be, and is
//! explained to whom it wakes.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo;

/// Runs the rules' tests, and sees that every alert has two and a line in the guide.
///
/// # Errors
/// When promtool is missing, a rule does not do what its test says, or an alert has no test.
pub fn check(root: &Path) -> anyhow::Result<()> {
    let folder = root.join("deploy/prometheus");
    let unpacked = root.join("target/tools/usr/bin/promtool");
    let program = if unpacked.is_file() { unpacked } else { "promtool".into() };
    let mut command = Command::new(program);
    cargo::succeed(command.args(["test", "rules", "rules_test.yml"]).current_dir(&folder))
        .context("promtool is needed (Debian's package `prometheus`)")?;
    let names = |file: &str, word: &str| -> anyhow::Result<Vec<String>> {
        let text = std::fs::read_to_string(folder.join(file)).with_context(|| format!("reading {file}"))?;
        let after = text.lines().filter_map(|line| line.trim().strip_prefix(word));
        Ok(after.map(|name| name.trim().to_owned()).collect())
    };
    let guide = std::fs::read_to_string(root.join("docs/operations.md")).context("reading docs/operations.md")?;
    let tested = names("rules_test.yml", "- alertname:")?;
    for alert in names("rules.yml", "- alert:")? {
        if tested.iter().filter(|name| **name == alert).count() < 2 {
            bail!(
                "{alert} needs two tests in deploy/prometheus/rules_test.yml: one where it fires, one where it does not"
            );
        }
        if !guide.contains(&format!("`{alert}`")) {
            bail!("docs/operations.md does not say what to do at {alert}");
        }
    }
    Ok(())
}

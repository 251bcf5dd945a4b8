//! The checked queries' data, by which the store compiles without a database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use testkit::postgres::{Options, Server};

use crate::{cargo, say};

/// The crate that has all queries.
const STORE: &str = "crates/store/src/lib.rs";

/// A private server with a migrated database to compile against.
pub struct Schema {
    /// Ends with this.
    _server: Option<Server>,
    url: String,
}

impl Schema {
    /// Starts a server and applies `migrations/` in their order.
    ///
    /// # Errors
    /// When PostgreSQL is missing or a migration fails.
    pub fn start(root: &Path) -> anyhow::Result<Self> {
        let server = Server::start_blocking(Options::default())?;
        Self::on(root, server.url(), Some(server))
    }

    /// The same on a server that runs, in a database of its own.
    ///
    /// # Errors
    /// When a migration fails.
    pub fn on(root: &Path, server_url: String, server: Option<Server>) -> anyhow::Result<Self> {
        let name = format!("tollgate_prepare_{}", std::process::id());
        psql(&server_url, &["-c", &format!("CREATE DATABASE {name}")])?;
        let base = server_url.rsplit_once('/').map_or(server_url.as_str(), |(base, _)| base);
        let url = format!("{base}/{name}");
        for file in migrations(root)? {
            psql(&url, &["--single-transaction", "-f", &file.to_string_lossy()])
                .with_context(|| format!("{} failed", file.display()))?;
        }
        Ok(Self { _server: server, url })
    }

    /// Makes a cargo command compile the store against the database and leave the queries' data in `folder`.
    ///
    /// # Errors
    /// When the folder or the store is not there.
    pub fn check_queries(&self, root: &Path, command: &mut Command, folder: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)?;
        cargo::touch(&root.join(STORE))?;
        command.env("SQLX_OFFLINE", "false").env("SQLX_OFFLINE_DIR", folder).env("DATABASE_URL", &self.url);
        Ok(())
    }
}

/// `./dev prepare`
///
/// # Errors
/// When the store does not compile against the schema.
pub fn run(root: &Path) -> anyhow::Result<()> {
    say::step("starting a private PostgreSQL and applying migrations/");
    let schema = Schema::start(root)?;
    let fresh = tempfile::tempdir()?;
    say::step("compiling the store's queries against it");
    let mut command = cargo::command(root, &["check", "--package", "tollgate-store", "--all-targets"]);
    schema.check_queries(root, &mut command, fresh.path())?;
    cargo::succeed(&mut command)?;
    // What was built against the database is not what a build without one makes.
    cargo::touch(&root.join(STORE))?;
    let (old, new) = (read(&root.join(".sqlx"))?, read(fresh.path())?);
    std::fs::create_dir_all(root.join(".sqlx"))?;
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        std::fs::remove_file(root.join(".sqlx").join(name))?;
    }
    for (name, text) in new.iter().filter(|(name, text)| old.get(*name) != Some(text)) {
        std::fs::write(root.join(".sqlx").join(name), text)?;
    }
    say::result(&format!("{} queries in .sqlx; {}", new.len(), difference(&old, &new).unwrap_or("no change".into())));
    Ok(())
}

/// Compares the committed data with freshly made data.
///
/// # Errors
/// When they differ.
pub fn compare(root: &Path, fresh: &Path) -> anyhow::Result<()> {
    let (old, new) = (read(&root.join(".sqlx"))?, read(fresh)?);
    ensure!(!new.is_empty(), "compiling the store left no query data: nothing was compared");
    if let Some(difference) = difference(&old, &new) {
        bail!(".sqlx is not what the queries and the schema say ({difference}): run `./dev prepare` and commit .sqlx");
    }
    Ok(())
}

/// By file name. The text without the line end that git may add.
fn read(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(files) };
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("query-") {
            files.insert(name.clone(), std::fs::read_to_string(folder.join(&name))?.trim_end().to_owned());
        }
    }
    Ok(files)
}

fn difference(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Option<String> {
    let added = new.keys().filter(|name| !old.contains_key(*name)).count();
    let removed = old.keys().filter(|name| !new.contains_key(*name)).count();
    let changed = new.iter().filter(|(name, text)| old.get(*name).is_some_and(|old| old != *text)).count();
    (added + removed + changed > 0).then(|| format!("{added} added, {changed} changed, {removed} removed"))
}

fn migrations(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files: Vec<_> = std::fs::read_dir(root.join("migrations"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    files.sort();
    ensure!(!files.is_empty(), "there are no migrations");
    Ok(files)
}

/// PostgreSQL's own client; stops at the first error.
///
/// # Errors
/// When the server refuses something; with its words.
pub fn psql(url: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let beside = testkit::postgres::programs()?.join("psql");
    let output = Command::new(if beside.is_file() { beside } else { "psql".into() })
        .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "-v", "ON_ERROR_STOP=1", url])
        .args(arguments)
        .output()
        .context("can't run psql: install PostgreSQL's client")?;
    ensure!(output.status.success(), "psql: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = tempfile::tempdir().unwrap();
        let committed = folder.path().join(".sqlx");
        std::fs::create_dir(&committed).unwrap();
        let write = |folder: &Path, name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();

        assert!(compare(folder.path(), fresh.path()).is_err(), "nothing made is no success");
        write(&committed, "query-a.json", "{}\n");
        write(fresh.path(), "query-a.json", "{}");
        compare(folder.path(), fresh.path()).unwrap();
        write(fresh.path(), "query-a.json", "{ }");
        write(fresh.path(), "query-b.json", "{}");
        write(&committed, "query-c.json", "{}");
        let error = compare(folder.path(), fresh.path()).unwrap_err().to_string();
        assert!(error.contains("1 added, 1 changed, 1 removed"), "{error}");
    }
}

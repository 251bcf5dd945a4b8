//! The console's tests in a real browser, against a running system.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::system::System;
use super::tally::Tally;
use crate::{cargo, say};

/// A Node.js package whose `test` script runs them.
const FOLDER: &str = "tests/browser";

/// Runs them.
///
/// # Errors
/// When Node.js is missing, or the runner fails without having counted a failure.
pub fn run(root: &Path, system: &System, tally: &mut Tally) -> anyhow::Result<()> {
    let folder = root.join(FOLDER);
    let lock = std::fs::read_to_string(folder.join("package-lock.json"))?;
    let installed = folder.join("node_modules/installed.txt");
    if !std::fs::read_to_string(&installed).is_ok_and(|text| text == lock) {
        say::note("installing the packages of tests/browser/package-lock.json");
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder).stdout(std::io::stderr());
        cargo::succeed(&mut npm).context("Node.js with npm is needed (`apt-get install nodejs npm`)")?;
        std::fs::write(installed, lock)?;
    }
    let mut command = Command::new("npm");
    command
        .args(["--silent", "test"])
        .current_dir(&folder)
        .env("TOLLGATE_CREDENTIALS", system.credentials())
        .env("TOLLGATE_SCREENSHOTS", root.join("target/browser"))
        .env("TOLLGATE_CHROMIUM", chromium()?);
    tally.count(&mut command)
}

/// The system's browser: no test downloads one.
fn chromium() -> anyhow::Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let in_path = std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    let packaged = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].map(PathBuf::from);
    let Some(found) = in_path.chain(packaged).find(|path| path.is_file()) else {
        bail!("Chromium is missing: `apt-get install chromium`, or run `./dev test`, which installs it");
    };
    Ok(found)
}

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
    install(root)?;
    let mut command = Command::new("npm");
    tally.count(prepared(command.args(["--silent", "test"]), root, system, &root.join("target/browser"))?)
}

/// Every page in both languages and themes, on a phone and on a wide screen, as pictures in `target/screenshots`.
///
/// # Errors
/// When Node.js is missing, or a page does not come up.
pub fn screenshots(root: &Path) -> anyhow::Result<()> {
    crate::ui::build(root)?;
    cargo::run(root, &["build", "--quiet", "--bins"])?;
    let shots = root.join("target/screenshots");
    let system = System::start()?;
    node(root, &system, &["--test", "--test-timeout=300000", "pages.test.mjs"], &shots)?;
    say::note(&format!("pictures: {}", shots.display()));
    Ok(())
}

/// Runs Node.js among the tests.
///
/// # Errors
/// When Node.js is missing, or it fails.
pub fn node(root: &Path, system: &System, arguments: &[&str], shots: &Path) -> anyhow::Result<()> {
    install(root)?;
    cargo::succeed(prepared(Command::new("node").args(arguments), root, system, shots)?)
}

/// Installs the packages that the lock file names, where it is another one than the last time.
fn install(root: &Path) -> anyhow::Result<()> {
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
    Ok(())
}

/// With what the tests ask of their environment.
fn prepared<'a>(
    command: &'a mut Command,
    root: &Path,
    system: &System,
    shots: &Path,
) -> anyhow::Result<&'a mut Command> {
    Ok(command
        .current_dir(root.join(FOLDER))
        .env("TOLLGATE_CREDENTIALS", system.credentials())
        .env("TOLLGATE_SCREENSHOTS", shots)
        .env("TOLLGATE_CHROMIUM", chromium()?))
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

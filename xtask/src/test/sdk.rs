//! The tests in Python against a running system: with the real SDKs, and of the admin API by its own document.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::system::System;
use super::tally::Tally;
use crate::{cargo, say};

/// Tests with the real SDKs.
pub const SDKS: &str = "tests/sdk";
/// What leaves much behind, or looks at what all others have left: run it last.
pub const LAST: &str = "tests/last";

/// Runs those of a folder.
///
/// # Errors
/// When Python can't be started, or pytest fails without having counted a failure.
pub fn run(root: &Path, folder: &str, system: &System, tally: &mut Tally) -> anyhow::Result<()> {
    let python = environment(root)?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-p", "no:cacheprovider", "-q", "--durations=5", folder])
        .current_dir(root)
        .env("TOLLGATE_CREDENTIALS", system.credentials())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    tally.count(&mut command)
}

/// A virtual environment under `target/` with what `requirements.txt` names.
fn environment(root: &Path) -> anyhow::Result<PathBuf> {
    let folder = root.join("target/python");
    let python = folder.join("bin/python");
    let requirements = std::fs::read_to_string(root.join(SDKS).join("requirements.txt"))?;
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == requirements) && python.exists() {
        return Ok(python);
    }
    say::note("installing the Python packages of tests/sdk/requirements.txt");
    cargo::succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        .context("install Python 3 with its module venv (`apt-get install python3-venv`)")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    cargo::succeed(pip.arg(root.join(SDKS).join("requirements.txt")))?;
    std::fs::write(installed, requirements)?;
    Ok(python)
}

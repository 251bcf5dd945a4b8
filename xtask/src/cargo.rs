//! Calls of cargo and other programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The cargo that called us, else the one in PATH.
pub fn command(root: &Path, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    // What cargo set for this program is not meant for the one it starts: it would count as a change.
    let ours = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "SQLX_OFFLINE"
    });
    ours.for_each(|name| {
        command.env_remove(name);
    });
    command.args(arguments).current_dir(root);
    command
}

/// Runs cargo with our standard output and error.
///
/// # Errors
/// When it fails.
pub fn run(root: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    succeed(&mut command(root, arguments))
}

/// Runs a command to its success.
///
/// # Errors
/// When it can't be started, or fails.
pub fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("can't start {}", describe(command)))?;
    ensure!(status.success(), "{} failed ({status})", describe(command));
    Ok(())
}

/// The command as one would type it.
pub fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| Path::new(word).to_string_lossy().into_owned()).collect();
    let program = Path::new(&words[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    std::iter::once(program).chain(words.into_iter().skip(1)).collect::<Vec<_>>().join(" ")
}

/// A file that changes when it is touched is compiled again, which makes checked queries be looked at again.
///
/// # Errors
/// When the file is not there.
pub fn touch(path: &Path) -> anyhow::Result<()> {
    let file = std::fs::File::options().append(true).open(path).with_context(|| path.display().to_string())?;
    Ok(file.set_modified(std::time::UNIX_EPOCH + std::time::UNIX_EPOCH.elapsed()?)?)
}

/// The folder of the programs that a profile builds: beside this one for `dev`.
///
/// # Errors
/// When this program's own place can't be told.
pub fn binaries(profile: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("can't tell where this program is")?;
    let target = own.ancestors().nth(2).context("this program is in no target folder")?;
    Ok(target.join(if profile == "dev" { "debug" } else { profile }))
}

/// This program's path. A build may have put another in its place meanwhile, which is the same by its source.
///
/// # Errors
/// When this program's own place can't be told.
pub fn own() -> anyhow::Result<PathBuf> {
    Ok(binaries("dev")?.join("xtask"))
}

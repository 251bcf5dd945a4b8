//! A running system for tests that come from outside.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

use crate::cargo;

/// A whole system in a temporary folder. It ends when its standard input does: also when this process is killed.
pub struct System {
    folder: tempfile::TempDir,
    child: Child,
}

impl System {
    /// Starts one with two gateways, from what has been built.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&["--throwaway", "--gateways", "2"])
    }

    /// Starts one with these flags of `up`, from what has been built.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start_with(flags: &[&str]) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("tollgate-system-").tempdir()?;
        // Postgres may run as another user, who has to get to its data.
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let mut child = own(&["up", "--hold", "--no-build", "--dir"])?
            .arg(folder.path())
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().context("no pipe")?;
        let mut system = Self { folder, child };
        let ready = BufReader::new(out).lines().map_while(Result::ok).any(|line| line.contains("curl "));
        if !ready {
            let status = system.child.wait()?;
            ensure!(ready, "the system did not become ready ({status})");
        }
        Ok(system)
    }

    /// Where everything is and how to get in, a JSON file.
    pub fn credentials(&self) -> PathBuf {
        self.folder.path().join("credentials.json")
    }
}

impl Drop for System {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// This program again.
fn own(arguments: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(cargo::own()?);
    command.args(arguments);
    Ok(command)
}

//! The tests in Python with the real SDKs, against a system of their own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

use super::tally::Tally;
use crate::{cargo, say};

/// Where the tests are.
const FOLDER: &str = "tests/sdk";

/// Starts a system, runs the tests, ends the system.
///
/// # Errors
/// When Python or the system can't be started.
pub fn run(root: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let python = environment(root)?;
    let system = System::start()?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-p", "no:cacheprovider", "-q", "--durations=5", FOLDER])
        .current_dir(root)
        .env("TOLLGATE_CREDENTIALS", system.folder.path().join("credentials.json"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    tally.count(&mut command)
}

/// A virtual environment under `target/` with what `requirements.txt` names.
fn environment(root: &Path) -> anyhow::Result<PathBuf> {
    let folder = root.join("target/python");
    let python = folder.join("bin/python");
    let requirements = std::fs::read_to_string(root.join(FOLDER).join("requirements.txt"))?;
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == requirements) && python.exists() {
        return Ok(python);
    }
    say::note("installing the Python packages of tests/sdk/requirements.txt");
    cargo::succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        .context("install Python 3 with its module venv (`apt-get install python3-venv`)")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    cargo::succeed(pip.arg(root.join(FOLDER).join("requirements.txt")))?;
    std::fs::write(installed, requirements)?;
    Ok(python)
}

/// A whole system in a temporary folder. It ends when its standard input does: also when this process is killed.
pub struct System {
    /// Has `credentials.json`.
    pub folder: tempfile::TempDir,
    child: Child,
}

impl System {
    /// Starts one with two gateways, from what has been built.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("tollgate-system-").tempdir()?;
        // Postgres may run as another user, who has to get to its data.
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let mut child = super::own(&["up", "--hold", "--throwaway", "--no-build", "--gateways", "2", "--dir"])?
            .arg(folder.path())
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
}

impl Drop for System {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

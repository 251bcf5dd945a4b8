//! Ends servers whose owner was killed.
//!
//! A handle's `Drop` does not run when its process gets SIGKILL. So each server has a small shell beside it that reads
//! a pipe held by the owner: when the owner is gone the pipe ends, and the shell ends the server and removes its files.
//! Unlike a parent-death signal this needs no unsafe code, does not depend on the thread that started the server, and
//! works on macOS too.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::Context;

/// Ignores the terminal's signals: it has to outlive its owner. `SIGQUIT` lets Postgres release its shared memory.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
pid=
while read -r word value; do
    case $word in
        pid) pid=$value ;;
        none) pid= ;;
        done) exit 0 ;;
    esac
done
if [ -n "$pid" ]; then
    kill -s QUIT "$pid" 2>/dev/null
    tries=0
    while kill -s 0 "$pid" 2>/dev/null && [ $tries -lt 20 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -s KILL "$pid" 2>/dev/null
fi
[ -z "$1" ] || rm -rf "$1"
"#;

/// Watches at most one process, and removes a directory after its end.
#[derive(Debug)]
pub struct Watchdog {
    shell: Child,
    pipe: ChildStdin,
}

impl Watchdog {
    /// Starts the shell. `directory` is removed when the owner is gone (not when the watchdog is dropped).
    ///
    /// # Errors
    /// When `sh` can't be started.
    pub fn start(directory: Option<&Path>) -> anyhow::Result<Self> {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "tollgate-watchdog"])
            .args(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()
            .context("can't start `sh` as watchdog")?;
        let pipe = shell.stdin.take().context("the watchdog has no pipe")?;
        Ok(Self { shell, pipe })
    }

    /// From now on this process ends with its owner.
    ///
    /// # Errors
    /// When the watchdog is gone.
    pub fn watch(&mut self, pid: u32) -> anyhow::Result<()> {
        writeln!(self.pipe, "pid {pid}").context("the watchdog is gone")
    }

    /// The watched process has ended: its number may come to belong to another.
    pub fn forget(&mut self) {
        // A watchdog that is gone has nothing to forget.
        let _ = writeln!(self.pipe, "none");
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = writeln!(self.pipe, "done");
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait;
    use std::time::Duration;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn ends_the_process_and_removes_the_files_when_the_owner_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        let mut watchdog = Watchdog::start(Some(directory.path())).unwrap();
        watchdog.watch(child.id()).unwrap();
        // As if this process had been killed: the pipe closes without a word.
        let Watchdog { shell, pipe } = &mut watchdog;
        let quiet = std::mem::replace(pipe, sink());
        drop(quiet);
        wait::until("the child's end", Duration::from_secs(5), || Ok(child.try_wait()?)).unwrap();
        wait::until("the watchdog's end", Duration::from_secs(5), || Ok(shell.try_wait()?)).unwrap();
        assert!(!directory.path().exists());
    }

    #[test]
    fn leaves_everything_alone_when_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        let mut watchdog = Watchdog::start(Some(directory.path())).unwrap();
        watchdog.watch(child.id()).unwrap();
        drop(watchdog);
        assert!(child.try_wait().unwrap().is_none());
        assert!(directory.path().exists());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// A pipe to a process that is not the watchdog.
    fn sink() -> ChildStdin {
        let mut other = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let pipe = other.stdin.take().unwrap();
        other.wait().unwrap();
        pipe
    }
}

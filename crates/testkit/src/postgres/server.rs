//! A private PostgreSQL server with a data directory of its own.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use crate::process::{send, signal_name};
use crate::watchdog::Watchdog;
use crate::{ports, wait};

/// `initdb` takes about a second, a start 100 ms; the rest is for a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// How the server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keeps the data here instead of in a temporary directory; used again when it is there.
    pub directory: Option<PathBuf>,
    /// The superuser's password; without one every local connection is trusted.
    pub password: Option<String>,
    /// Write to disk before answering. Off for tests: a killed process loses nothing, only a power cut would.
    pub durable: bool,
    /// Logs there instead of to `postgres.log` in the directory.
    pub log: Option<PathBuf>,
    /// This port instead of any free one.
    pub port: Option<u16>,
    /// More settings: `[("max_connections", "20")]`.
    pub settings: Vec<(String, String)>,
    /// Leave the server running when the handle is dropped or its process ends.
    pub detached: bool,
}

/// A running server. Ends when dropped.
#[derive(Debug)]
pub struct Server {
    options: Options,
    programs: PathBuf,
    account: Option<Account>,
    data: PathBuf,
    port: u16,
    temporary: Option<TempDir>,
    postmaster: Option<Child>,
    watchdog: Option<Watchdog>,
}

/// Postgres refuses to run as root: it then runs under this account.
#[derive(Debug, Clone, Copy)]
struct Account {
    uid: u32,
    gid: u32,
}

impl Server {
    /// A server for tests: nothing is written to disk before answering.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not come up.
    pub async fn start() -> anyhow::Result<Self> {
        tokio::task::spawn_blocking(|| Self::start_blocking(Options::default())).await?
    }

    /// Blocks the thread until the server accepts connections.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not come up.
    pub fn start_blocking(options: Options) -> anyhow::Result<Self> {
        let programs = programs()?;
        let account = unprivileged_account()?;
        let (home, temporary) = match &options.directory {
            Some(directory) => {
                std::fs::create_dir_all(directory)?;
                (directory.clone(), None)
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("tollgate-postgres-").tempdir()?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        if let Some(account) = account {
            chown(&home, Some(account.uid), Some(account.gid))?;
        }
        let watchdog = match (options.detached, &temporary) {
            (true, _) => None,
            (false, Some(temporary)) => Some(Watchdog::start(Some(temporary.path()))?),
            (false, None) => Some(Watchdog::start(None)?),
        };
        let data = home.join("data");
        let mut server = Self { options, programs, account, data, port: 0, temporary, postmaster: None, watchdog };
        if !server.data.join("PG_VERSION").exists() {
            server.initialise()?;
        }
        server.launch_on_free_port()?;
        Ok(server)
    }

    /// `postgres://postgres@127.0.0.1:PORT/postgres`, the superuser.
    #[must_use]
    pub fn url(&self) -> String {
        let password = self.options.password.as_ref().map(|password| format!(":{password}")).unwrap_or_default();
        format!("postgres://postgres{password}@{}/postgres", self.address())
    }

    /// Where it listens, also while it is stopped.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The postmaster's process, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.postmaster.as_ref().map(Child::id)
    }

    /// Ends the server at once, as after a crash: sessions are cut, the next start recovers from the log.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop_immediately(&mut self) -> anyhow::Result<()> {
        self.stop(signal_name::QUIT)
    }

    /// Ends sessions, writes a checkpoint, ends.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop_fast(&mut self) -> anyhow::Result<()> {
        self.stop(signal_name::INT)
    }

    /// Starts a stopped server on its port. One that runs is stopped first.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        self.stop_immediately()?;
        self.launch(self.port)
    }

    fn stop(&mut self, signal: &str) -> anyhow::Result<()> {
        let Some(mut postmaster) = self.postmaster.take() else {
            return Ok(());
        };
        if postmaster.try_wait()?.is_none() {
            send(signal, postmaster.id())?;
        }
        let ended = wait::until("postgres to end", LIMIT, || Ok(postmaster.try_wait()?));
        if ended.is_err() {
            postmaster.kill()?;
            postmaster.wait()?;
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.forget();
        }
        ended.map(drop)
    }

    /// A command of PostgreSQL, under the account that owns the data.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir("/").stdin(Stdio::null()).process_group(0).env("LC_ALL", "C").env_remove("PGOPTIONS");
        if let Some(account) = self.account {
            command.uid(account.uid).gid(account.gid);
        }
        command
    }

    fn initialise(&self) -> anyhow::Result<()> {
        let mut command = self.command("initdb");
        command.arg("--pgdata").arg(&self.data).args([
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--no-instructions",
        ]);
        if !self.options.durable {
            command.arg("--no-sync");
        }
        // Removed when this function ends.
        let password_file;
        if let Some(password) = &self.options.password {
            password_file = tempfile::NamedTempFile::new()?;
            std::fs::write(password_file.path(), password)?;
            if let Some(account) = self.account {
                chown(password_file.path(), Some(account.uid), Some(account.gid))?;
            }
            command.arg("--auth=scram-sha-256").arg("--pwfile").arg(password_file.path());
        } else {
            command.arg("--auth=trust");
        }
        let output = command.output().context("can't run initdb")?;
        ensure!(
            output.status.success(),
            "initdb failed ({}): {}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    fn launch_on_free_port(&mut self) -> anyhow::Result<()> {
        for _ in 0..4 {
            let port = match self.options.port {
                Some(port) => return self.launch(port),
                None => ports::free()?,
            };
            match self.launch(port) {
                // Another process was quicker to the port.
                Err(_) if self.log().contains("could not bind") => {}
                other => return other,
            }
        }
        self.launch(ports::free()?)
    }

    fn launch(&mut self, port: u16) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&self.data);
        let flush = if self.options.durable { "on" } else { "off" };
        let fixed = [
            ("port", port.to_string()),
            ("listen_addresses", "127.0.0.1".to_owned()),
            ("unix_socket_directories", String::new()),
            ("fsync", flush.to_owned()),
            ("full_page_writes", flush.to_owned()),
            ("max_connections", "300".to_owned()),
            ("log_lock_waits", "on".to_owned()),
        ];
        let wished = self.options.settings.iter().map(|(name, value)| (name.as_str(), value.clone()));
        for (name, value) in fixed.into_iter().chain(wished) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let postmaster = command.stdout(log.try_clone()?).stderr(log).spawn().context("can't start postgres")?;
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.watch(postmaster.id())?;
        }
        self.postmaster = Some(postmaster);
        self.port = port;
        self.wait_until_ready().with_context(|| format!("its log is:\n{}", self.log())).inspect_err(|_| {
            // The first error is the one to report.
            let _ = self.stop_immediately();
        })
    }

    /// The postmaster writes its state into the last line of its lock file: no connection needed to know.
    fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let lock = self.data.join("postmaster.pid");
        let postmaster = self.postmaster.as_mut().context("postgres does not run")?;
        let pid = postmaster.id().to_string();
        wait::until("postgres to accept connections", LIMIT, || {
            if let Some(status) = postmaster.try_wait()? {
                bail!("postgres ended at once ({status})");
            }
            let text = std::fs::read_to_string(&lock).unwrap_or_default();
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            let ready = lines.first() == Some(&pid.as_str()) && lines.get(7) == Some(&"ready");
            Ok(ready.then_some(()))
        })
    }

    fn log_path(&self) -> PathBuf {
        self.options.log.clone().unwrap_or_else(|| self.data.with_file_name("postgres.log"))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.options.detached {
            let _ = self.stop(signal_name::QUIT);
        }
        drop(self.temporary.take());
    }
}

/// The folder of `initdb` and `postgres`: in PATH, or of the newest version under the places where packages put it.
///
/// # Errors
/// When there is none; the error says how to install it.
pub fn programs() -> anyhow::Result<PathBuf> {
    let in_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect::<Vec<_>>())
        .unwrap_or_default()
        .into_iter()
        .find(|folder| is_complete(folder));
    let packaged = || {
        ["/usr/lib/postgresql", "/usr/local/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"]
            .iter()
            .filter_map(|root| std::fs::read_dir(root).ok())
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path().join("bin"))
            .filter(|folder| is_complete(folder))
            .max_by_key(|folder| version(folder))
    };
    in_path.or_else(packaged).context(
        "PostgreSQL's server is not installed: `apt-get install postgresql` or `brew install postgresql@17`, or run `./dev up` once",
    )
}

fn is_complete(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("postgres").is_file()
}

/// The number in `/usr/lib/postgresql/17/bin` or `/opt/homebrew/opt/postgresql@17/bin`.
fn version(folder: &Path) -> u32 {
    let name = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    name.trim_start_matches("postgresql@").parse().unwrap_or(0)
}

/// `None` unless this process is root.
fn unprivileged_account() -> anyhow::Result<Option<Account>> {
    // A file made by this process belongs to the user it runs as.
    if tempfile::NamedTempFile::new()?.as_file().metadata()?.uid() != 0 {
        return Ok(None);
    }
    for name in ["postgres", "nobody"] {
        if let (Some(uid), Some(gid)) = (id("-u", name), id("-g", name)) {
            return Ok(Some(Account { uid, gid }));
        }
    }
    bail!("running as root, and there is neither a user `postgres` nor `nobody` to run PostgreSQL as")
}

fn id(flag: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([flag, name]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        assert_eq!(version(Path::new("/usr/lib/postgresql/15/bin")), 15);
        assert_eq!(version(Path::new("/opt/homebrew/opt/postgresql@17/bin")), 17);
        assert_eq!(version(Path::new("/opt/homebrew/opt/redis/bin")), 0);
    }
}

//! Our own programs as processes: started on free ports, waited for, killed, stopped, continued.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use crate::watchdog::Watchdog;
use crate::{http, ports, wait};

/// How long a service may take to become ready, on a busy machine with an unoptimised build.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Names of signals as `kill -s` takes them.
pub mod signal_name {
    /// Ends a process at once.
    pub const KILL: &str = "KILL";
    /// Asks a process to end.
    pub const TERM: &str = "TERM";
    /// Suspends a process.
    pub const STOP: &str = "STOP";
    /// Resumes a suspended process.
    pub const CONT: &str = "CONT";
    /// Asks Postgres to end at once, without a checkpoint.
    pub const QUIT: &str = "QUIT";
    /// Asks Postgres to end its sessions and then itself.
    pub const INT: &str = "INT";
}

/// Sends a signal with the system's `kill`.
///
/// # Errors
/// When there is no such process, or it belongs to another user.
pub fn send(signal: &str, pid: u32) -> anyhow::Result<()> {
    let output = Command::new("kill").args(["-s", signal, &pid.to_string()]).output().context("can't run `kill`")?;
    ensure!(output.status.success(), "kill -s {signal} {pid}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// Path of one of the workspace's programs, beside the running test or program.
///
/// # Errors
/// When it has not been built; the error says how.
pub fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("can't tell where this program is")?;
    // target/PROFILE/deps/test-hash or target/PROFILE/program
    let folder = own
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name().is_some_and(|name| name != "deps" && name != "examples"))
        .context("this program is in no folder")?;
    let path = folder.join(name);
    ensure!(path.is_file(), "{} does not exist: build it with `cargo build --bin {name}`", path.display());
    Ok(path)
}

/// What to start. `{listen}` and `{metrics}` in arguments and in the environment become `127.0.0.1:PORT`.
#[derive(Debug, Clone)]
pub struct Plan {
    program: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    log: Option<PathBuf>,
    ready_path: Option<String>,
    ready_within: Duration,
    ports: Option<(u16, u16)>,
    detached: bool,
}

impl Plan {
    /// `--listen {listen} --metrics-listen {metrics}`, ready when `GET /readyz` answers 200.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            arguments: ["--listen", "{listen}", "--metrics-listen", "{metrics}"].map(str::to_owned).to_vec(),
            environment: Vec::new(),
            log: None,
            ready_path: Some("/readyz".to_owned()),
            ready_within: READY_WITHIN,
            ports: None,
            detached: false,
        }
    }

    /// Replaces all arguments.
    #[must_use]
    pub fn arguments<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Adds one argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets an environment variable. The process gets only these and `PATH`, `HOME`, `TMPDIR`, `LANG`, `RUST_LOG`,
    /// `RUST_BACKTRACE`.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Appends standard output and error to this file (else to one in a temporary directory).
    #[must_use]
    pub fn log(mut self, path: impl Into<PathBuf>) -> Self {
        self.log = Some(path.into());
        self
    }

    /// Another path than `/readyz`; `None` waits for the port only.
    #[must_use]
    pub fn ready_path(mut self, path: Option<&str>) -> Self {
        self.ready_path = path.map(str::to_owned);
        self
    }

    /// Another limit than a minute for becoming ready.
    #[must_use]
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// These ports instead of free ones.
    #[must_use]
    pub fn ports(mut self, listen: u16, metrics: u16) -> Self {
        self.ports = Some((listen, metrics));
        self
    }

    /// Leave the process running when the handle is dropped or this process ends.
    #[must_use]
    pub fn detached(mut self) -> Self {
        self.detached = true;
        self
    }

    /// Starts the process and waits until it is ready.
    ///
    /// # Errors
    /// When the program can't be started, ends, or is not ready in time; with the end of its log.
    pub async fn start(self) -> anyhow::Result<Service> {
        tokio::task::spawn_blocking(move || self.start_blocking()).await?
    }

    /// [`Plan::start`], blocking the thread.
    ///
    /// # Errors
    /// As [`Plan::start`].
    pub fn start_blocking(self) -> anyhow::Result<Service> {
        let (log, temporary) = match &self.log {
            Some(path) => (path.clone(), None),
            None => {
                let temporary = tempfile::Builder::new().prefix("tollgate-service-").tempdir()?;
                (temporary.path().join("log"), Some(temporary))
            }
        };
        let watchdog = match (self.detached, &temporary) {
            (true, _) => None,
            (false, Some(temporary)) => Some(Watchdog::start(Some(temporary.path()))?),
            (false, None) => Some(Watchdog::start(None)?),
        };
        let fixed = self.ports;
        let mut service = Service { plan: self, log, temporary, child: None, watchdog, listen: 0, metrics: 0 };
        let mut attempts = 0;
        loop {
            attempts += 1;
            (service.listen, service.metrics) = match fixed {
                Some(ports) => ports,
                None => (ports::free()?, ports::free()?),
            };
            match service.launch() {
                Ok(()) => return Ok(service),
                // Another process was quicker to the port.
                Err(_) if fixed.is_none() && attempts < 5 && service.log().contains("Address already in use") => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A running service. Killed when dropped.
#[derive(Debug)]
pub struct Service {
    plan: Plan,
    log: PathBuf,
    temporary: Option<TempDir>,
    child: Option<Child>,
    watchdog: Option<Watchdog>,
    listen: u16,
    metrics: u16,
}

impl Service {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.listen).into()
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// `http://127.0.0.1:PORT` of the metrics port.
    #[must_use]
    pub fn metrics_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.metrics)
    }

    /// The process, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Everything it wrote to standard output and error.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Where it writes.
    #[must_use]
    pub fn log_path(&self) -> &Path {
        &self.log
    }

    /// `kill -9`, at once.
    ///
    /// # Errors
    /// When the process can't be ended.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        child.kill()?;
        child.wait()?;
        self.forget();
        Ok(())
    }

    /// SIGTERM, then waits for the end.
    ///
    /// # Errors
    /// When it has not ended within the limit (it goes on running then).
    pub fn terminate_blocking(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let child = self.child.as_mut().context("the service does not run")?;
        send(signal_name::TERM, child.id())?;
        let status = wait::until("the service to end after SIGTERM", within, || Ok(child.try_wait()?))?;
        self.child = None;
        self.forget();
        Ok(status)
    }

    /// SIGTERM, then waits for the end without blocking the runtime.
    ///
    /// # Errors
    /// When it has not ended within the limit (it goes on running then).
    pub async fn terminate(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let child = self.child.as_mut().context("the service does not run")?;
        send(signal_name::TERM, child.id())?;
        let start = std::time::Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            ensure!(start.elapsed() < within, "the service still runs {within:?} after SIGTERM");
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        self.child = None;
        self.forget();
        Ok(status)
    }

    /// SIGSTOP: connections stay, nothing answers.
    ///
    /// # Errors
    /// When it does not run.
    pub fn freeze(&self) -> anyhow::Result<()> {
        send(signal_name::STOP, self.pid().context("the service does not run")?)
    }

    /// SIGCONT after [`Service::freeze`].
    ///
    /// # Errors
    /// When it does not run.
    pub fn thaw(&self) -> anyhow::Result<()> {
        send(signal_name::CONT, self.pid().context("the service does not run")?)
    }

    /// Starts again on the same ports; one that runs is killed first. Blocks until ready.
    ///
    /// # Errors
    /// As [`Plan::start`].
    pub fn restart(&mut self) -> anyhow::Result<()> {
        self.kill()?;
        self.launch()
    }

    fn forget(&mut self) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.forget();
        }
    }

    fn launch(&mut self) -> anyhow::Result<()> {
        if let Some(folder) = self.log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let log = File::options().create(true).append(true).open(&self.log)?;
        let child =
            self.command(log)?.spawn().with_context(|| format!("can't start {}", self.plan.program.display()))?;
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.watch(child.id())?;
        }
        self.child = Some(child);
        self.wait_until_ready().with_context(|| format!("the end of its log is:\n{}", tail(&self.log()))).inspect_err(
            |_| {
                // The first error is the one to report.
                let _ = self.kill();
            },
        )
    }

    fn command(&self, log: File) -> anyhow::Result<Command> {
        let fill = |text: &str| {
            text.replace("{listen}", &self.address().to_string())
                .replace("{metrics}", &format!("127.0.0.1:{}", self.metrics))
        };
        let mut command = Command::new(&self.plan.program);
        command.env_clear();
        for name in ["PATH", "HOME", "TMPDIR", "LANG", "RUST_LOG", "RUST_BACKTRACE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .envs(self.plan.environment.iter().map(|(name, value)| (name, fill(value))))
            .args(self.plan.arguments.iter().map(|argument| fill(argument)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        Ok(command)
    }

    fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let name = self.plan.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (address, url) = (self.address(), self.url());
        let ready_path = self.plan.ready_path.clone();
        let child = self.child.as_mut().context("the service does not run")?;
        wait::until(&format!("{name} to become ready"), self.plan.ready_within, || {
            if let Some(status) = child.try_wait()? {
                bail!("{name} ended before it was ready ({})", describe(status));
            }
            let limit = Duration::from_secs(2);
            let ready = match &ready_path {
                Some(path) => http::get(&format!("{url}{path}"), limit).is_ok_and(|response| response.status == 200),
                None => std::net::TcpStream::connect_timeout(&address, limit).is_ok(),
            };
            Ok(ready.then_some(()))
        })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.plan.detached {
            let _ = self.kill();
        }
        drop(self.temporary.take());
    }
}

fn describe(status: ExitStatus) -> String {
    status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"))
}

/// The last 40 lines.
fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

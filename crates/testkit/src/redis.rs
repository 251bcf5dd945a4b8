//! A private Redis server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use crate::process::{send, signal_name};
use crate::watchdog::Watchdog;
use crate::{ports, wait};

/// Start and stop are each expected to take some 50 ms; the rest is for a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// How the server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Append-only file with `fsync` always: what was acknowledged survives a kill.
    pub aof: bool,
    /// `DEBUG` commands (`DEBUG SLEEP`, `DEBUG JMAP`...).
    pub debug_commands: bool,
    /// More directives, as on the command line: `["--maxmemory", "64mb"]`.
    pub arguments: Vec<String>,
    /// Keeps the files here instead of in a temporary directory.
    pub directory: Option<PathBuf>,
    /// Logs there instead of to `redis.log` in the directory.
    pub log: Option<PathBuf>,
    /// This port instead of any free one.
    pub port: Option<u16>,
    /// Leave the server running when the handle is dropped or its process ends.
    pub detached: bool,
}

/// A running `redis-server`. Ends when dropped.
#[derive(Debug)]
pub struct Redis {
    options: Options,
    port: u16,
    directory: PathBuf,
    temporary: Option<TempDir>,
    server: Option<Child>,
    watchdog: Option<Watchdog>,
}

impl Redis {
    /// A server that keeps nothing on disk.
    ///
    /// # Errors
    /// When `redis-server` is not installed or does not come up.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(Options::default()).await
    }

    /// A server with options.
    ///
    /// # Errors
    /// When `redis-server` is not installed or does not come up.
    pub async fn start_with(options: Options) -> anyhow::Result<Self> {
        tokio::task::spawn_blocking(move || Self::start_blocking(options)).await?
    }

    /// Blocks the thread until the server answers.
    ///
    /// # Errors
    /// When `redis-server` is not installed or does not come up.
    pub fn start_blocking(options: Options) -> anyhow::Result<Self> {
        let (directory, temporary) = match &options.directory {
            Some(directory) => {
                std::fs::create_dir_all(directory)?;
                (directory.clone(), None)
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("tollgate-redis-").tempdir()?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        let watchdog = match (options.detached, &temporary) {
            (true, _) => None,
            (false, Some(temporary)) => Some(Watchdog::start(Some(temporary.path()))?),
            (false, None) => Some(Watchdog::start(None)?),
        };
        let mut redis = Self { options, port: 0, directory, temporary, server: None, watchdog };
        redis.launch_on_free_port()?;
        Ok(redis)
    }

    /// `redis://127.0.0.1:PORT/`
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address())
    }

    /// Where it listens, also while it is stopped.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Its files, and its log where no other place was given.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The server's process, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    /// Sends one command on a connection of its own.
    ///
    /// # Errors
    /// When the server can't be reached, or answers with an error.
    pub fn command(&self, arguments: &[&str]) -> anyhow::Result<Reply> {
        command(self.address(), arguments, LIMIT)
    }

    /// `kill -9`. Files stay; [`Redis::restart`] starts again on the same port.
    ///
    /// # Errors
    /// When the process can't be ended.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let Some(mut server) = self.server.take() else {
            return Ok(());
        };
        server.kill()?;
        server.wait()?;
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.forget();
        }
        Ok(())
    }

    /// Starts a killed server on its port with the files it left. One that runs is killed first.
    ///
    /// # Errors
    /// When the server does not come up.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        self.kill()?;
        self.launch(self.port)
    }

    /// SIGSTOP: connections stay, nothing answers.
    ///
    /// # Errors
    /// When the server does not run.
    pub fn freeze(&self) -> anyhow::Result<()> {
        send(signal_name::STOP, self.pid().context("redis-server does not run")?)
    }

    /// SIGCONT after [`Redis::freeze`].
    ///
    /// # Errors
    /// When the server does not run.
    pub fn thaw(&self) -> anyhow::Result<()> {
        send(signal_name::CONT, self.pid().context("redis-server does not run")?)
    }

    fn launch_on_free_port(&mut self) -> anyhow::Result<()> {
        let mut failure = None;
        for _ in 0..5 {
            let port = match self.options.port {
                Some(port) => port,
                None => ports::free()?,
            };
            match self.launch(port) {
                Ok(()) => return Ok(()),
                // Another process was quicker to the port.
                Err(error) if self.options.port.is_none() && self.log().contains("Address already in use") => {
                    failure = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(failure.unwrap_or_else(|| anyhow::anyhow!("redis-server found no port")))
    }

    fn launch(&mut self, port: u16) -> anyhow::Result<()> {
        let log = std::fs::File::options().create(true).append(true).open(self.log_path())?;
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--daemonize", "no"])
            .args(["--appendonly", if self.options.aof { "yes" } else { "no" }, "--appendfsync", "always"])
            .arg("--dir")
            .arg(&self.directory)
            .args(if self.options.debug_commands { &["--enable-debug-command", "yes"][..] } else { &[] })
            .args(&self.options.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        let server = command.spawn().context(
            "can't start `redis-server`: install it (`apt-get install redis-server`, `brew install redis`) or run `./dev up` once",
        )?;
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.watch(server.id())?;
        }
        let server = self.server.insert(server);
        self.port = port;
        let pid = server.id();
        let ready = wait::until("redis-server to answer", LIMIT, || {
            if let Some(status) = server.try_wait()? {
                bail!("redis-server ended at once ({status})");
            }
            // Not just any server on that port: this one.
            Ok(is_process((Ipv4Addr::LOCALHOST, port).into(), pid).then_some(()))
        });
        ready.with_context(|| format!("its log is:\n{}", self.log())).inspect_err(|_| {
            // The first error is the one to report.
            let _ = self.kill();
        })
    }

    fn log_path(&self) -> PathBuf {
        self.options.log.clone().unwrap_or_else(|| self.directory.join("redis.log"))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if !self.options.detached {
            let _ = self.kill();
        }
        // Only then its files.
        drop(self.temporary.take());
    }
}

/// Whether the Redis at the address is that process, and has loaded its data.
#[must_use]
pub fn is_process(address: SocketAddr, pid: u32) -> bool {
    let Ok(Reply::Text(info)) = command(address, &["INFO"], Duration::from_secs(1)) else {
        return false;
    };
    let has = |line: &str| info.lines().any(|have| have.trim() == line);
    has(&format!("process_id:{pid}")) && has("loading:0")
}

/// What Redis answered (RESP2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// No such thing.
    Nil,
    /// An integer.
    Int(i64),
    /// A status or a string; bytes that are not UTF-8 are replaced.
    Text(String),
    /// Several replies.
    Array(Vec<Reply>),
}

/// Sends one command on a connection of its own; `limit` bounds the connect and each read.
///
/// # Errors
/// When the server can't be reached, or answers with an error.
pub fn command(address: SocketAddr, arguments: &[&str], limit: Duration) -> anyhow::Result<Reply> {
    let mut stream = TcpStream::connect_timeout(&address, limit).with_context(|| format!("no Redis at {address}"))?;
    stream.set_read_timeout(Some(limit))?;
    let mut text = format!("*{}\r\n", arguments.len());
    for argument in arguments {
        text.push_str(&format!("${}\r\n{argument}\r\n", argument.len()));
    }
    stream.write_all(text.as_bytes())?;
    read(&mut BufReader::new(stream)).with_context(|| format!("{arguments:?}"))
}

fn read(reader: &mut impl BufRead) -> anyhow::Result<Reply> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    ensure!(line.ends_with("\r\n"), "Redis closed the connection");
    let (kind, rest) = line.trim_end().split_at_checked(1).context("an empty reply")?;
    Ok(match kind {
        "+" => Reply::Text(rest.to_owned()),
        ":" => Reply::Int(rest.parse()?),
        "-" => bail!("Redis says: {rest}"),
        "$" | "*" if rest == "-1" => Reply::Nil,
        "$" => {
            let length: u64 = rest.parse()?;
            let mut bytes = Vec::new();
            reader.take(length + 2).read_to_end(&mut bytes)?;
            ensure!(bytes.len() as u64 == length + 2, "Redis closed the connection");
            bytes.truncate(bytes.len() - 2);
            Reply::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        "*" => {
            let count: usize = rest.parse()?;
            Reply::Array((0..count).map(|_| read(reader)).collect::<anyhow::Result<_>>()?)
        }
        other => bail!("unknown kind of reply `{other}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_nested_replies() {
        let text = "*4\r\n:7\r\n$-1\r\n$2\r\nab\r\n*1\r\n+OK\r\n";
        let ok = Reply::Array(vec![Reply::Text("OK".into())]);
        assert_eq!(
            read(&mut text.as_bytes()).unwrap(),
            Reply::Array(vec![Reply::Int(7), Reply::Nil, Reply::Text("ab".into()), ok])
        );
        assert!(read(&mut "-ERR no\r\n".as_bytes()).unwrap_err().to_string().contains("ERR no"));
    }
}

//! The private Postgres and Redis of a system.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use testkit::postgres::{self, Server};
use testkit::process::signal_name;
use testkit::redis::{self, Redis};

use super::processes;
use super::state::{Ports, Process, State};
use crate::{cargo, prepare, say};

/// The schema's owner, who may create roles and nothing else beyond its database.
const OWNER: &str = "tollgate_owner";
/// What services sign in as.
const SERVICE: &str = "tollgate_service";
/// The one database.
const DATABASE: &str = "tollgate";

/// URLs of the running database.
#[derive(Debug, Clone)]
pub struct Databases {
    /// As the superuser, for roles.
    pub superuser: String,
    /// As the schema's owner.
    pub owner: String,
    /// As a service.
    pub service: String,
}

impl Databases {
    fn new(state: &State, port: u16) -> Self {
        let url = |user: &str, password: &str, database: &str| {
            format!("postgres://{user}:{password}@127.0.0.1:{port}/{database}")
        };
        Self {
            superuser: url("postgres", &state.secrets.postgres, "postgres"),
            owner: url(OWNER, &state.secrets.owner, DATABASE),
            service: url(SERVICE, &state.secrets.service, DATABASE),
        }
    }
}

/// Where Postgres keeps its data. As root it runs under an account that may not get into the checkout (a home
/// directory of root's, say): then in a folder of the system's own under `/var/tmp`.
pub fn postgres_dir(folder: &Path) -> anyhow::Result<PathBuf> {
    let inside = folder.join("postgres");
    let absolute = std::path::absolute(folder)?;
    let existing = absolute.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let is_root = tempfile::NamedTempFile::new()?.as_file().metadata()?.uid() == 0;
    let is_open = existing
        .ancestors()
        .all(|path| std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0));
    if !is_root || is_open {
        return Ok(inside);
    }
    let name: String = absolute
        .to_string_lossy()
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
        .collect();
    Ok(Path::new("/var/tmp").join(format!("tollgate{name}")).join("postgres"))
}

/// The system's Postgres, if it runs: its lock file tells, also when the state was lost.
pub fn running_postgres(folder: &Path, state: &mut State) -> anyhow::Result<Option<Databases>> {
    let Ok(text) = std::fs::read_to_string(state.postgres_dir.join("data/postmaster.pid")) else { return Ok(None) };
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let number = |line: usize| lines.get(line).and_then(|text| text.parse::<u32>().ok());
    let (Some(pid), Some(port)) = (number(0), number(3)) else { return Ok(None) };
    let process = Process { pid, stamp: String::new() };
    if lines.get(7) != Some(&"ready") || !processes::is_alive(&process, "postgres") {
        return Ok(None);
    }
    let port = u16::try_from(port).context("postmaster.pid names no port")?;
    state.processes.insert("postgres".into(), process);
    state.ports.insert("postgres".into(), Ports { listen: port, metrics: 0 });
    state.save(folder)?;
    Ok(Some(Databases::new(state, port)))
}

/// Starts Postgres unless it runs.
///
/// # Errors
/// When it is not installed, or does not start.
pub fn ensure_postgres(folder: &Path, state: &mut State, durable: bool) -> anyhow::Result<Databases> {
    if let Some(databases) = running_postgres(folder, state)? {
        return Ok(databases);
    }
    say::step("starting PostgreSQL");
    let server = Server::start_blocking(postgres::Options {
        directory: Some(state.postgres_dir.clone()),
        password: Some(state.secrets.postgres.clone()),
        durable,
        log: Some(folder.join("logs/postgres.log")),
        port: former_port(state, "postgres"),
        detached: state.held.is_none(),
        ..postgres::Options::default()
    })?;
    let port = server.address().port();
    let pid = server.pid().context("postgres has no process")?;
    state.processes.insert("postgres".into(), Process { pid, stamp: String::new() });
    state.ports.insert("postgres".into(), Ports { listen: port, metrics: 0 });
    state.save(folder)?;
    state.keep(server);
    Ok(Databases::new(state, port))
}

/// Starts Redis unless it runs. Returns its URL.
///
/// # Errors
/// When it is not installed, or does not start.
pub fn ensure_redis(folder: &Path, state: &mut State) -> anyhow::Result<String> {
    if let (Some(process), Some(ports)) = (state.processes.get("redis"), state.ports.get("redis"))
        && redis::is_process(([127, 0, 0, 1], ports.listen).into(), process.pid)
    {
        return Ok(format!("redis://127.0.0.1:{}/", ports.listen));
    }
    say::step("starting Redis");
    let server = Redis::start_blocking(redis::Options {
        aof: true,
        arguments: vec!["--appendfsync".into(), "everysec".into()],
        directory: Some(folder.join("redis")),
        log: Some(folder.join("logs/redis.log")),
        port: former_port(state, "redis"),
        detached: state.held.is_none(),
        ..redis::Options::default()
    })?;
    let pid = server.pid().context("redis has no process")?;
    state.processes.insert("redis".into(), Process { pid, stamp: String::new() });
    state.ports.insert("redis".into(), Ports { listen: server.address().port(), metrics: 0 });
    state.save(folder)?;
    let url = server.url();
    state.keep(server);
    Ok(url)
}

/// The port of the last run, so that URLs stay; another where it is taken now.
fn former_port(state: &State, name: &str) -> Option<u16> {
    state.ports.get(name).map(|ports| ports.listen).filter(|port| testkit::ports::is_free(*port))
}

/// Roles and the database, where they are missing.
///
/// # Errors
/// When Postgres refuses.
pub fn ensure_database(state: &State, databases: &Databases) -> anyhow::Result<()> {
    let exists = format!("SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'");
    if prepare::psql(&databases.superuser, &["-c", &exists])? == "1" {
        return Ok(());
    }
    let role = format!("CREATE ROLE {OWNER} LOGIN CREATEROLE PASSWORD '{}'", state.secrets.owner);
    let has_role = format!("SELECT 1 FROM pg_roles WHERE rolname = '{OWNER}'");
    if prepare::psql(&databases.superuser, &["-c", &has_role])? != "1" {
        prepare::psql(&databases.superuser, &["-c", &role])?;
    }
    prepare::psql(&databases.superuser, &["-c", &format!("CREATE DATABASE {DATABASE} OWNER {OWNER}")]).map(drop)
}

/// Applies missing migrations, and makes the role that services sign in as, with `tollgate migrate`.
///
/// # Errors
/// When a migration fails.
pub fn migrate(binaries: &Path, state: &State, databases: &Databases) -> anyhow::Result<()> {
    say::step("bringing the schema up to date");
    let mut command = Command::new(binaries.join("tollgate"));
    command.args(["migrate", "--service-role", SERVICE]).env("TOLLGATE_SERVICE_PASSWORD", &state.secrets.service);
    cargo::succeed(command.env("DATABASE_URL", &databases.owner).stdout(std::io::stderr()))
}

/// Ends both, Postgres with a checkpoint.
///
/// # Errors
/// When one can't be ended.
pub fn stop(folder: &Path, state: &mut State) -> anyhow::Result<()> {
    let grace = Duration::from_secs(60);
    // Looks into the lock file too, so that a server is found whose number was lost.
    running_postgres(folder, state)?;
    for (name, program, signal) in
        [("redis", "redis-server", signal_name::TERM), ("postgres", "postgres", signal_name::INT)]
    {
        if let Some(process) = state.processes.remove(name) {
            processes::end(&process, program, signal, grace)?;
            state.save(folder)?;
        }
    }
    Ok(())
}

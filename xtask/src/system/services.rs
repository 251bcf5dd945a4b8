//! Our own programs: what each is started with, and which of them have to be started (again).

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use testkit::process::{Plan, signal_name};
use testkit::{http, ports};

use super::processes;
use super::state::{Ports, Process, State};
use crate::say;

/// A gateway ends its streams within 30 s of SIGTERM.
const GRACE: Duration = Duration::from_secs(40);

/// A program to run.
#[derive(Debug, Clone)]
pub struct Service {
    /// Its name here, in the state and as log file.
    pub name: String,
    program: &'static str,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    ready_path: Option<&'static str>,
    /// The port to take where it is free.
    preferred_port: Option<u16>,
}

impl Service {
    fn new(name: impl Into<String>, program: &'static str) -> Self {
        Self {
            name: name.into(),
            program,
            arguments: ["--listen", "{listen}", "--metrics-listen", "{metrics}"].map(str::to_owned).to_vec(),
            environment: Vec::new(),
            ready_path: Some("/readyz"),
            preferred_port: None,
        }
    }

    fn environment(mut self, variables: &[(&str, &str)]) -> Self {
        self.environment.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }
}

/// What services need to know.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// As the services' role.
    pub database_url: String,
    /// The private Redis.
    pub redis_url: String,
    /// Take 8080 and 8081 where they are free.
    pub well_known_ports: bool,
    /// How many gateways.
    pub gateways: u16,
    /// Run the simulated upstream.
    pub simulated_upstream: bool,
}

/// The simulated upstream and the mail catcher: others need their addresses.
pub fn helpers(state: &State, surroundings: &Surroundings) -> Vec<Service> {
    let mut services = Vec::new();
    if surroundings.simulated_upstream {
        let mut upstream = Service::new("upstream", "sim-upstream");
        upstream.arguments = vec!["--listen".into(), "{listen}".into()];
        upstream.ready_path = None;
        services.push(upstream.environment(&[("SIM_UPSTREAM_API_KEY", &state.secrets.upstream)]));
    }
    let mut mail = Service::new("mail", "mail-catcher");
    mail.arguments = ["--http-listen", "{listen}", "--smtp-listen", "{metrics}"].map(str::to_owned).to_vec();
    mail.ready_path = None;
    services.push(mail);
    services
}

/// The product's own services.
pub fn product(state: &State, surroundings: &Surroundings) -> Vec<Service> {
    let common = [
        ("DATABASE_URL", surroundings.database_url.as_str()),
        ("REDIS_URL", surroundings.redis_url.as_str()),
        ("TOLLGATE_SECRET_KEY", state.secrets.key.as_str()),
    ];
    let known = |port| surroundings.well_known_ports.then_some(port);
    let mut services = Vec::new();
    for number in 1..=surroundings.gateways {
        let mut gateway = Service::new(format!("gateway-{number}"), "tollgate-gateway").environment(&common);
        gateway.preferred_port = if number == 1 { known(8080) } else { None };
        services.push(gateway);
    }
    let smtp = state.ports.get("mail").map_or(0, |ports| ports.metrics);
    let mail = [
        ("TOLLGATE_SMTP_URL", format!("smtp://127.0.0.1:{smtp}")),
        ("TOLLGATE_MAIL_FROM", "tollgate@localhost".to_owned()),
    ];
    let mail = mail.each_ref().map(|(name, value)| (*name, value.as_str()));
    let gateway_url = ("TOLLGATE_GATEWAY_URL", url(state, "gateway-1"));
    let mut admin = Service::new("admin-api", "tollgate-admin-api").environment(&common).environment(&mail);
    admin.preferred_port = known(8081);
    services.push(admin.environment(&[(gateway_url.0, gateway_url.1.as_str())]));
    let mut reconciler = Service::new("reconciler", "tollgate-reconciler").environment(&common).environment(&mail);
    // Receivers under development run on this machine.
    let console = url(state, "admin-api");
    reconciler = reconciler
        .environment(&[("TOLLGATE_WEBHOOK_ALLOW", "127.0.0.0/8,::1/128"), ("TOLLGATE_PUBLIC_URL", console.as_str())]);
    // It has no port but the one of its metrics.
    reconciler.arguments = vec!["--metrics-listen".into(), "{listen}".into()];
    services.push(reconciler);
    services
}

/// `http://127.0.0.1:PORT` of a process that has been started.
pub fn url(state: &State, name: &str) -> String {
    state.ports.get(name).map_or_else(String::new, |ports| format!("http://127.0.0.1:{}", ports.listen))
}

/// Where its metrics are.
pub fn metrics_url(state: &State, name: &str) -> String {
    let port = |ports: &Ports| if name == "reconciler" { ports.listen } else { ports.metrics };
    state.ports.get(name).map_or_else(String::new, |ports| format!("http://127.0.0.1:{}/metrics", port(ports)))
}

/// Starts the service unless it runs just so and is ready. True where it was started.
///
/// # Errors
/// When it does not become ready; with the end of its log.
pub fn ensure(folder: &Path, binaries: &Path, state: &mut State, service: &Service) -> anyhow::Result<bool> {
    let program = binaries.join(service.program);
    let stamp = stamp(&program, service)?;
    if let Some(process) = state.processes.get(&service.name).cloned() {
        if process.stamp == stamp && processes::is_alive(&process, service.program) && is_ready(state, service) {
            return Ok(false);
        }
        processes::end(&process, service.program, signal_name::TERM, GRACE)?;
        state.processes.remove(&service.name);
    }
    say::step(&format!("starting {}", service.name));
    let log = folder.join("logs").join(format!("{}.log", service.name));
    let mut plan = Plan::new(program).arguments(service.arguments.clone()).ready_path(service.ready_path).log(log);
    if state.held.is_none() {
        plan = plan.detached();
    }
    for (name, value) in &service.environment {
        plan = plan.env(name, value);
    }
    let chosen = choose_ports(state, service)?;
    let running = plan.ports(chosen.listen, chosen.metrics).start_blocking()?;
    let pid = running.pid().with_context(|| format!("{} has no process", service.name))?;
    state.ports.insert(service.name.clone(), chosen);
    state.processes.insert(service.name.clone(), Process { pid, stamp });
    state.save(folder)?;
    state.keep(running);
    Ok(true)
}

/// The ports of the last run, so that URLs stay; else the well-known one; else free ones.
fn choose_ports(state: &State, service: &Service) -> anyhow::Result<Ports> {
    let former = state.ports.get(&service.name);
    let taken: BTreeSet<u16> = state
        .ports
        .iter()
        .filter(|(name, _)| **name != service.name)
        .flat_map(|(_, ports)| [ports.listen, ports.metrics])
        .collect();
    let usable = |port: &u16| *port != 0 && !taken.contains(port) && ports::is_free(*port);
    let listen = former.map(|ports| ports.listen).filter(usable).or(service.preferred_port.filter(usable));
    let metrics = former.map(|ports| ports.metrics).filter(usable);
    let fresh = || -> anyhow::Result<u16> {
        loop {
            let port = ports::free()?;
            if usable(&port) {
                return Ok(port);
            }
        }
    };
    Ok(Ports { listen: listen.map_or_else(fresh, Ok)?, metrics: metrics.map_or_else(fresh, Ok)? })
}

fn is_ready(state: &State, service: &Service) -> bool {
    let Some(ports) = state.ports.get(&service.name) else { return false };
    match service.ready_path {
        Some(path) => http::get(&format!("http://127.0.0.1:{}{path}", ports.listen), Duration::from_secs(5))
            .is_ok_and(|response| response.status == 200),
        None => !ports::is_free(ports.listen),
    }
}

/// Changes when the program was built anew, or is to be started differently.
fn stamp(program: &PathBuf, service: &Service) -> anyhow::Result<String> {
    let metadata = std::fs::metadata(program).with_context(|| format!("{} was not built", program.display()))?;
    let mut hasher = DefaultHasher::new();
    (program, metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.len()).hash(&mut hasher);
    (&service.arguments, &service.environment).hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Ends our programs, the ones that take requests first, and any gateway beyond `keep`.
///
/// # Errors
/// When one can't be ended.
pub fn stop(folder: &Path, state: &mut State, keep: Option<u16>) -> anyhow::Result<()> {
    let is_surplus = |name: &str| match (keep, name.strip_prefix("gateway-")) {
        (None, _) => !matches!(name, "postgres" | "redis"),
        (Some(keep), Some(number)) => number.parse::<u16>().is_ok_and(|number| number > keep),
        (Some(_), None) => false,
    };
    let mut names: Vec<String> = state.processes.keys().filter(|name| is_surplus(name)).cloned().collect();
    names.sort_by_key(|name| matches!(name.as_str(), "upstream" | "mail"));
    // All are asked at once: a gateway may take its time to drain.
    for name in &names {
        if let Some(process) = state.processes.get(name).filter(|process| processes::is_alive(process, program(name))) {
            let _ = testkit::process::send(signal_name::TERM, process.pid);
        }
    }
    for name in names {
        if let Some(process) = state.processes.remove(&name) {
            processes::end(&process, program(&name), signal_name::TERM, GRACE)?;
            state.save(folder)?;
        }
    }
    Ok(())
}

/// The program of a name in the state.
pub fn program(name: &str) -> &'static str {
    match name {
        "admin-api" => "tollgate-admin-api",
        "reconciler" => "tollgate-reconciler",
        "upstream" => "sim-upstream",
        "mail" => "mail-catcher",
        "redis" => "redis-server",
        "postgres" => "postgres",
        _ => "tollgate-gateway",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_kept_and_never_shared() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::load(folder.path()).unwrap();
        let service = Service::new("reconciler", "tollgate-reconciler");
        let chosen = choose_ports(&state, &service).unwrap();
        assert_ne!(chosen.listen, chosen.metrics);
        state.ports.insert("reconciler".into(), chosen);
        assert_eq!(choose_ports(&state, &service).unwrap(), chosen);
        // Remembered for another that is stopped at the moment.
        let other = Service::new("admin-api", "tollgate-admin-api");
        state.ports.insert("admin-api".into(), chosen);
        let apart = choose_ports(&state, &service).unwrap();
        assert!(apart.listen != chosen.listen && apart.metrics != chosen.metrics);
        assert_eq!(program(&other.name), other.program);
    }
}

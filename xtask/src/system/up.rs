//! `./dev up`

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::Value;
use testkit::wait;

use super::admin::{Admin, text};
use super::services::{self, Surroundings};
use super::state::{Demo, State};
use super::{Place, credentials, demo, processes, servers};
use crate::{cargo, say, ui};

/// The first administrator.
pub const ADMIN_EMAIL: &str = "admin@tollgate.localhost";

/// Flags of `./dev up`.
#[derive(Debug, Args)]
pub struct Up {
    /// Leave the system running. Without it `./dev` stays, shows the logs, and stops the system on Ctrl-C.
    #[arg(long)]
    detach: bool,
    /// How many gateways.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16))]
    gateways: u16,
    /// A real provider instead of the simulated one: its base URL, such as https://api.openai.com/v1.
    #[arg(long, value_name = "URL", requires = "upstream_key")]
    upstream_url: Option<String>,
    /// The provider's key.
    #[arg(long, value_name = "KEY", env = "TOLLGATE_UPSTREAM_KEY", hide_env_values = true, requires = "upstream_url")]
    upstream_key: Option<String>,
    /// The provider's name of the model that the demo models stand for.
    #[arg(long, value_name = "NAME", default_value = "gpt-4o-mini")]
    upstream_model: String,
    /// Optimised programs, as in production: for measurements. The build takes much longer.
    #[arg(long)]
    optimised: bool,
    /// For tests: only random ports, nothing is written to disk before answering.
    #[arg(long, hide = true)]
    throwaway: bool,
    /// For tests: end everything, and remove the folder, when standard input ends.
    #[arg(long, hide = true, conflicts_with = "detach")]
    hold: bool,
    /// For tests: everything has been built.
    #[arg(long, hide = true)]
    no_build: bool,
    #[command(flatten)]
    place: Place,
}

impl Up {
    /// Starts what does not run yet.
    ///
    /// # Errors
    /// When something can't be built or started; with what to do.
    pub fn run(self, root: &Path) -> anyhow::Result<()> {
        let start = Instant::now();
        let folder = self.place.folder(root);
        std::fs::create_dir_all(folder.join("logs")).with_context(|| format!("can't make {}", folder.display()))?;
        let folder = folder.canonicalize()?;
        let mut state = State::load(&folder)?;
        state.save(&folder)?;
        state.held = self.hold.then(Vec::new);
        let profile = if self.optimised { "fast" } else { "dev" };
        let binaries = cargo::binaries(profile)?;
        if !self.no_build {
            build(root, profile, &binaries)?;
        }
        let databases = servers::ensure_postgres(&folder, &mut state, !self.throwaway)?;
        let redis_url = servers::ensure_redis(&folder, &mut state)?;
        servers::ensure_database(&state, &databases)?;
        servers::migrate(&binaries, &state, &databases)?;
        ensure_people(&folder, &binaries, &mut state, &databases)?;

        let surroundings = Surroundings {
            database_url: databases.service.clone(),
            redis_url: redis_url.clone(),
            well_known_ports: !self.throwaway,
            gateways: self.gateways,
            simulated_upstream: self.upstream_url.is_none(),
        };
        services::stop(&folder, &mut state, Some(self.gateways))?;
        for service in services::helpers(&state, &surroundings) {
            services::ensure(&folder, &binaries, &mut state, &service)?;
        }
        for name in 0..services::product(&state, &surroundings).len() {
            // Made anew each time: the admin API is told the port that the gateway before it got.
            let service = services::product(&state, &surroundings).swap_remove(name);
            services::ensure(&folder, &binaries, &mut state, &service)?;
        }
        self.ensure_demo(&folder, &mut state)?;
        let demo = state.demo.clone().context("there is no demo data")?;
        self.wait_for_demo(&state, &demo)?;
        let credentials = credentials::write(&folder, &state, &demo, &databases, &redis_url)?;
        say::note(&format!("ready after {:.1} s", start.elapsed().as_secs_f32()));
        tell(&folder, &credentials);
        if let Some(mut held) = state.held.take() {
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
            // The services before the servers that they use.
            while held.pop().is_some() {}
            std::fs::remove_dir_all(&folder)?;
        }
        Ok(())
    }

    /// Gateways learn of a new model and key within a second: ready is when each of them serves the demo's.
    fn wait_for_demo(&self, state: &State, demo: &Demo) -> anyhow::Result<()> {
        let (bearer, limit) = (format!("Bearer {}", demo.api_key), Duration::from_secs(5));
        for number in 1..=self.gateways {
            let url = format!("{}/v1/models/{}", services::url(state, &format!("gateway-{number}")), demo.model);
            wait::until("every gateway to serve the demo's model", Duration::from_secs(20), || {
                let reply = testkit::http::request("GET", &url, &[("authorization", &bearer)], None, limit)?;
                Ok((reply.status == 200).then_some(()))
            })?;
        }
        Ok(())
    }

    /// Made once, and again when the upstream is another.
    fn ensure_demo(&self, folder: &Path, state: &mut State) -> anyhow::Result<()> {
        let upstream = match (&self.upstream_url, &self.upstream_key) {
            (Some(url), Some(key)) => demo::Upstream {
                base_url: url.trim_end_matches('/').to_owned(),
                key: key.clone(),
                model: self.upstream_model.clone(),
            },
            _ => demo::Upstream {
                base_url: format!("{}/v1", services::url(state, "upstream")),
                key: state.secrets.upstream.clone(),
                model: self.upstream_model.clone(),
            },
        };
        if state.demo.as_ref().is_some_and(|demo| demo.upstream_url == upstream.base_url) {
            return Ok(());
        }
        let token = state.service_token.clone().context("there is no service token")?;
        let url = services::url(state, "admin-api");
        state.demo = Some(demo::create(&Admin::new(&url, &token), &upstream)?);
        state.save(folder)
    }
}

fn build(root: &Path, profile: &str, binaries: &Path) -> anyhow::Result<()> {
    ui::build(root)?;
    let mut arguments = vec!["build", "--bins", "--profile", profile];
    let is_first = !binaries.join("tollgate-gateway").exists();
    if is_first {
        say::step("building the services (the first time takes some minutes)");
    } else {
        // A second call has little to say.
        arguments.push("--quiet");
    }
    cargo::run(root, &arguments)
}

/// The first administrator and the service token, by the program that an operator would use.
fn ensure_people(
    folder: &Path,
    binaries: &Path,
    state: &mut State,
    databases: &servers::Databases,
) -> anyhow::Result<()> {
    if state.service_token.is_some() {
        return Ok(());
    }
    say::step("creating the first administrator and a service token");
    let tollgate = || {
        let mut command = Command::new(binaries.join("tollgate"));
        command.env("DATABASE_URL", &databases.service).env("TOLLGATE_SECRET_KEY", &state.secrets.key);
        command
    };
    let mut admin = tollgate();
    admin.args(["create-admin", "--if-missing", "--email", ADMIN_EMAIL, "--name", "Administrator"]);
    cargo::succeed(admin.env("TOLLGATE_ADMIN_PASSWORD", &state.secrets.admin).stdout(std::io::stderr()))?;
    let output = tollgate().args(["create-service-token", "--name", "dev", "--all-scopes", "--json"]).output()?;
    ensure!(
        output.status.success(),
        "tollgate create-service-token failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let reply: Value = serde_json::from_slice(&output.stdout).context("create-service-token printed no JSON")?;
    state.service_token = Some(text(&reply, "secret")?);
    state.save(folder)
}

fn tell(folder: &Path, credentials: &Value) {
    let value = |name: &str| credentials[name].as_str().unwrap_or_default().to_owned();
    let (gateway, admin) = (value("gateway_url"), value("admin_url"));
    say::result("");
    say::result(&format!("  Gateway    {gateway}/v1"));
    say::result(&format!("  Console    {admin}"));
    say::result(&format!("  Sign in    {} / {}", value("admin_email"), value("admin_password")));
    say::result(&format!("  Admin API  {admin}/api/v1  (Authorization: Bearer {})", value("service_token")));
    say::result(&format!("  Mail       {}", value("mail_url")));
    say::result(&format!("  All of it  {}", folder.join("credentials.json").display()));
    say::result(&format!("  Logs       {}", folder.join("logs").display()));
    say::result("");
    say::result("Try it:");
    say::result("");
    say::result(&format!(
        "curl {gateway}/v1/chat/completions -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' \
         -d '{{\"model\":\"{}\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello\"}}]}}'",
        value("api_key"),
        value("model")
    ));
    say::result("");
}

/// Flags of the hidden `watch`.
#[derive(Debug, Args)]
pub struct Watch {
    #[command(flatten)]
    place: Place,
}

impl Watch {
    /// Returns when a process of the system has ended by itself.
    ///
    /// # Errors
    /// Always: that is what it waits for.
    pub fn run(self, root: &Path) -> anyhow::Result<()> {
        let folder = self.place.folder(root);
        let state = State::load(&folder)?;
        loop {
            for (name, process) in &state.processes {
                if !processes::is_alive(process, services::program(name)) {
                    bail!("{name} has ended: see {}", folder.join(format!("logs/{name}.log")).display());
                }
            }
            wait::pause(Duration::from_secs(1));
        }
    }
}

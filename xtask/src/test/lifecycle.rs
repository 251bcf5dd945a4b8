//! `up` and `down` themselves: what a developer relies on without thinking.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::Value;
use testkit::process::{send, signal_name};

use crate::{cargo, say};

/// Up, up again, one process killed, up again with more gateways, down, up with the same data, gone.
///
/// # Errors
/// At the first thing that is not as it should be.
pub fn check() -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("tollgate-lifecycle-").tempdir()?;
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let place = Place(folder.path());
    let outcome = place.live();
    // Also after a failure: nothing may be left running.
    let wiped = place.call(&["down", "--wipe"]);
    outcome.and(wiped)?;
    ensure!(!folder.path().exists(), "down --wipe left {}", folder.path().display());
    let left = Command::new("pgrep").args(["-f", &folder.path().to_string_lossy()]).output()?;
    ensure!(left.stdout.is_empty(), "still running after down: {}", String::from_utf8_lossy(&left.stdout));
    Ok(())
}

struct Place<'a>(&'a Path);

impl Place<'_> {
    fn live(&self) -> anyhow::Result<()> {
        self.up("1")?;
        let first = self.credentials()?;
        for name in ["gateway_url", "admin_url", "service_token", "tenant_id", "project_id", "api_key", "model"] {
            ensure!(first[name].as_str().is_some_and(|text| !text.is_empty()), "credentials.json has no {name}");
        }

        let start = Instant::now();
        self.up("1")?;
        say::note(&format!("a second `up` took {:.1} s", start.elapsed().as_secs_f32()));
        ensure!(self.credentials()? == first, "a second `up` changed something");

        let reconciler = first["pids"]["reconciler"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        send(signal_name::KILL, reconciler.context("credentials.json has no number of the reconciler")?)?;
        self.up("2")?;
        let healed = self.credentials()?;
        ensure!(healed["pids"]["reconciler"] != first["pids"]["reconciler"], "a killed service was not started again");
        ensure!(healed["pids"]["admin_api"] == first["pids"]["admin_api"], "a service that runs was started again");
        ensure!(healed["gateway_urls"].as_array().is_some_and(|urls| urls.len() == 2), "there are not two gateways");

        self.call(&["down"])?;
        self.up("1")?;
        let again = self.credentials()?;
        ensure!(again["api_key"] == first["api_key"], "the data did not survive `down`");
        ensure!(again["gateway_url"] == first["gateway_url"], "the addresses did not stay");
        Ok(())
    }

    fn up(&self, gateways: &str) -> anyhow::Result<()> {
        self.call(&["up", "--detach", "--throwaway", "--no-build", "--gateways", gateways])
    }

    fn call(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(cargo::own()?);
        command.args(arguments).arg("--dir").arg(self.0).stdin(Stdio::null()).stdout(Stdio::null());
        cargo::succeed(&mut command)
    }

    fn credentials(&self) -> anyhow::Result<Value> {
        let text = std::fs::read_to_string(self.0.join("credentials.json")).context("credentials.json")?;
        Ok(serde_json::from_str(&text)?)
    }
}

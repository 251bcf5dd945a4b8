//! What the system remembers between two calls.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// `state.json`. Readable by its owner only.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    /// Where Postgres keeps its data: in the system's folder unless the account that it runs as can't get there.
    pub postgres_dir: PathBuf,
    /// Random per system.
    pub secrets: Secrets,
    /// By name: `gateway-1`, `admin-api`, `redis`...
    #[serde(default)]
    pub processes: BTreeMap<String, Process>,
    /// Ports that a process had, for the next start.
    #[serde(default)]
    pub ports: BTreeMap<String, Ports>,
    /// Set once the demo data is complete.
    #[serde(default)]
    pub demo: Option<Demo>,
    /// The service token that everything here uses.
    #[serde(default)]
    pub service_token: Option<String>,
    /// Handles of what was started, where it is to end with this process; `None`: it runs on.
    #[serde(skip)]
    pub held: Option<Vec<Box<dyn Any>>>,
}

/// Made at the first start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Secrets {
    /// `TOLLGATE_SECRET_KEY`
    pub key: String,
    /// The superuser's.
    pub postgres: String,
    /// The schema owner's.
    pub owner: String,
    /// The services' role's.
    pub service: String,
    /// The first administrator's.
    pub admin: String,
    /// What the gateways send to the simulated upstream.
    pub upstream: String,
}

/// Something that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// What it was started with: program, its age, arguments, environment. Another value means: start it again.
    pub stamp: String,
}

/// Where a process listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// Requests.
    pub listen: u16,
    /// Metrics; 0 where there are none.
    pub metrics: u16,
}

/// Ids of the demo data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demo {
    /// `t_...`
    pub tenant_id: String,
    /// `p_...`
    pub project_id: String,
    /// `tg_live_...`
    pub api_key: String,
    /// The model that the ready `curl` line names.
    pub model: String,
    /// Where calls go to.
    pub upstream_url: String,
}

impl State {
    /// Reads the folder's state, or makes a new one with fresh secrets.
    ///
    /// # Errors
    /// When the file can't be read or understood.
    pub fn load(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("state.json");
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is not understood: `./dev down --wipe` starts anew", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::fresh(folder),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    fn fresh(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            postgres_dir: super::servers::postgres_dir(folder)?,
            secrets: Secrets {
                key: STANDARD.encode(random()?),
                postgres: hex()?,
                owner: hex()?,
                service: hex()?,
                admin: hex()?,
                upstream: format!("sk-sim-{}", hex()?),
            },
            processes: BTreeMap::new(),
            ports: BTreeMap::new(),
            demo: None,
            service_token: None,
            held: None,
        })
    }

    /// Keeps a handle, or lets the process behind it run on.
    pub fn keep(&mut self, handle: impl Any) {
        if let Some(held) = &mut self.held {
            held.push(Box::new(handle));
        }
    }

    /// Writes the state. Called after every start, so that nothing is forgotten when a later one fails.
    ///
    /// # Errors
    /// When the folder can't be written.
    pub fn save(&self, folder: &Path) -> anyhow::Result<()> {
        write_private(&folder.join("state.json"), &serde_json::to_string_pretty(self)?)
    }
}

/// Replaces a file whole, readable by its owner only.
///
/// # Errors
/// When the folder can't be written.
pub fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let unfinished = path.with_extension("new");
    let _ = std::fs::remove_file(&unfinished);
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .with_context(|| unfinished.display().to_string())?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(&unfinished, path).with_context(|| path.display().to_string())
}

/// 32 bytes of the system's generator.
fn random() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes).context("/dev/urandom")?;
    Ok(bytes)
}

/// 32 characters.
fn hex() -> anyhow::Result<String> {
    Ok(random()?.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn is_written_for_its_owner_only_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::load(folder.path()).unwrap();
        assert_ne!(state.secrets.admin, state.secrets.owner);
        state.ports.insert("gateway-1".into(), Ports { listen: 1, metrics: 2 });
        state.save(folder.path()).unwrap();
        let path = folder.path().join("state.json");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let again = State::load(folder.path()).unwrap();
        assert_eq!((again.secrets.key, again.ports), (state.secrets.key, state.ports));
        std::fs::write(&path, "{").unwrap();
        assert!(State::load(folder.path()).unwrap_err().to_string().contains("./dev down --wipe"));
    }
}

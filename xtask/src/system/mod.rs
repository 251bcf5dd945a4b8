//! The development system: private Postgres and Redis, every service, demo data.
//!
//! A system lives in one folder, `.dev` (or another one, for tests): `state.json` says what runs and holds the secrets,
//! `credentials.json` is for people and programs that use the system, `logs/` has a file per process, `postgres/` and
//! `redis/` the data. Processes run on after `up`; every `up` compares what should run with what does, and starts the
//! rest. Nothing here touches a server that it did not start.

mod admin;
mod credentials;
mod demo;
mod down;
mod processes;
mod servers;
mod services;
mod state;
mod up;

use std::path::{Path, PathBuf};

use clap::Args;

pub use down::Down;
pub use up::{Up, Watch};

use crate::{cargo, say};

/// Which system.
#[derive(Debug, Clone, Args)]
pub struct Place {
    /// Keep the system in this folder instead of in `.dev`.
    #[arg(long, value_name = "FOLDER", env = "TOLLGATE_DEV_DIR")]
    pub dir: Option<PathBuf>,
}

impl Place {
    /// The system's folder.
    pub fn folder(&self, root: &Path) -> PathBuf {
        self.dir.clone().unwrap_or_else(|| root.join(".dev"))
    }
}

/// Flags of `./dev migrate`.
#[derive(Debug, Args)]
pub struct Migrate {
    #[command(flatten)]
    place: Place,
}

impl Migrate {
    /// Applies missing migrations to the running system.
    ///
    /// # Errors
    /// When nothing runs, or a migration fails.
    pub fn run(self, root: &Path) -> anyhow::Result<()> {
        let folder = self.place.folder(root);
        let mut state = state::State::load(&folder)?;
        let databases = servers::running_postgres(&folder, &mut state)?
            .ok_or_else(|| anyhow::anyhow!("the system does not run: start it with `./dev up`"))?;
        say::step("building the migrations");
        cargo::run(root, &["build", "--bin", "tollgate"])?;
        servers::migrate(&cargo::binaries("dev")?, &state, &databases)
    }
}

//! `./dev down`

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::state::State;
use super::{Place, servers, services};
use crate::say;

/// Flags of `./dev down`.
#[derive(Debug, Args)]
pub struct Down {
    /// Remove the data too.
    #[arg(long)]
    wipe: bool,
    #[command(flatten)]
    place: Place,
}

impl Down {
    /// Ends every process of the system.
    ///
    /// # Errors
    /// When one can't be ended.
    pub fn run(self, root: &Path) -> anyhow::Result<()> {
        let folder = self.place.folder(root);
        if !folder.join("state.json").exists() {
            say::note(&format!("nothing was started in {}", folder.display()));
            return if self.wipe { wipe(&folder, None) } else { Ok(()) };
        }
        let mut state = match State::load(&folder) {
            Ok(state) => state,
            Err(error) if self.wipe => {
                say::note(&format!("{error:#}; what still runs has to be ended by hand"));
                return wipe(&folder, None);
            }
            Err(error) => return Err(error),
        };
        say::step("stopping");
        services::stop(&folder, &mut state, None)?;
        servers::stop(&folder, &mut state)?;
        // Not valid any more: the processes are gone.
        let _ = std::fs::remove_file(folder.join("credentials.json"));
        if self.wipe {
            wipe(&folder, Some(&state.postgres_dir))?;
            say::result("stopped; the data is removed");
        } else {
            say::result("stopped; the data stays (`./dev down --wipe` removes it)");
        }
        Ok(())
    }
}

fn wipe(folder: &Path, postgres_dir: Option<&Path>) -> anyhow::Result<()> {
    let outside = postgres_dir.filter(|path| !path.starts_with(folder)).and_then(Path::parent);
    for folder in [Some(folder), outside].into_iter().flatten().filter(|folder| folder.exists()) {
        std::fs::remove_dir_all(folder).with_context(|| format!("can't remove {}", folder.display()))?;
    }
    Ok(())
}

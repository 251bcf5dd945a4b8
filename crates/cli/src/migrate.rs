//! `tollgate migrate`

use anyhow::Context;
use clap::Args;

use crate::{Database, say};

/// Flags of `tollgate migrate`.
#[derive(Debug, Args)]
pub struct Migrate {
    /// The owner of the schema: the database's owner, with the right to create roles.
    #[command(flatten)]
    database: Database,
}

impl Migrate {
    /// Applies the missing migrations.
    pub async fn run(self) -> anyhow::Result<()> {
        let store = self.database.connect().await?;
        let version = store::migrate::migrate(&store).await.context(
            "the schema could not be brought up to date: run as the database's owner, with a program not older than the schema",
        )?;
        say(&format!("the schema is at version {version}"))
    }
}

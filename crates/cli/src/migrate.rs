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
    /// Also make this login role for the services, or give it the password anew: it may use the tables and own nothing.
    #[arg(long, value_name = "NAME", env = "TOLLGATE_SERVICE_ROLE", requires = "service_password")]
    service_role: Option<String>,
    /// The password of that role.
    #[arg(long, value_name = "PASSWORD", env = "TOLLGATE_SERVICE_PASSWORD", hide_env_values = true)]
    service_password: Option<String>,
}

impl Migrate {
    /// Applies the missing migrations.
    pub async fn run(self) -> anyhow::Result<()> {
        let store = self.database.connect().await?;
        let version = store::migrate::migrate(&store).await.context(
            "the schema could not be brought up to date: run as the database's owner, with a program not older than the schema",
        )?;
        if let (Some(role), Some(password)) = (&self.service_role, &self.service_password) {
            store::migrate::ensure_service_role(&store, role, password).await.with_context(|| {
                format!("the role {role} could not be made: the schema's owner needs the right to create roles")
            })?;
        }
        say(&format!("the schema is at version {version}"))
    }
}

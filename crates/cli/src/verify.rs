//! `tollgate verify`

use anyhow::{Context as _, bail};
use clap::Args;
use domain::TenantId;

use crate::{Database, OLD_SCHEMA, say};

/// Flags of `tollgate verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// Only this tenant (t_...); every tenant without it.
    #[arg(long, value_name = "ID")]
    tenant: Option<TenantId>,
    #[command(flatten)]
    database: Database,
}

impl Verify {
    /// Adds everything up from the append-only rows, in one snapshot: services may go on working.
    pub async fn run(self) -> anyhow::Result<()> {
        let store = self.database.connect().await?;
        let mut snapshot = store.snapshot().await?;
        let wrong = store::verify::sums(&mut snapshot, self.tenant).await.context(OLD_SCHEMA)?;
        for wrong in &wrong {
            say(&format!("{}: {}", wrong.subject, wrong.detail))?;
        }
        if !wrong.is_empty() {
            bail!(
                "{} sums do not add up: nothing in Tollgate does that; was a table written by hand, or a restore cut short?",
                wrong.len()
            );
        }
        say("every sum adds up")
    }
}

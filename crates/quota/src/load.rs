//! Reading Postgres for a ticket.

use std::time::Duration;

use domain::{Scope, Snapshot, TenantId};
use ledger::{Load, Ticket};

use crate::{Shared, Unavailable};

impl Shared {
    /// Snapshots for `ticket`, read from the primary after it was given. Where an instant has passed by Redis' clock but not yet
    /// by Postgres', waits for Postgres.
    pub(crate) async fn load(
        &self,
        ticket: Ticket,
        tenant_id: TenantId,
        scopes: &[Scope],
    ) -> Result<Load, Unavailable> {
        let mut connection = self.store.acquire().await?;
        let loaded = store::load::load(&mut connection, tenant_id, scopes).await?;
        if let Some(wait_ms) = loaded.wait_ms.filter(|wait_ms| *wait_ms <= 2_000) {
            tokio::time::sleep(Duration::from_millis(wait_ms.unsigned_abs())).await;
            let loaded = store::load::load(&mut connection, tenant_id, scopes).await?;
            return Ok(Load { ticket, snapshots: loaded.snapshots });
        }
        Ok(Load { ticket, snapshots: loaded.snapshots })
    }

    /// Snapshots of accounts as they are, without applying what is due.
    pub(crate) async fn snapshots(&self, scopes: &[Scope]) -> Result<Vec<Snapshot>, Unavailable> {
        let mut connection = self.store.acquire().await?;
        Ok(store::accounts::snapshots(&mut connection, scopes).await?)
    }
}

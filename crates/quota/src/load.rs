//! Reading Postgres for a ticket.

use std::time::Duration;

use domain::{Home, Scope, Snapshot, TenantId};
use ledger::{Load, Ticket};
use store::load::Loaded;

use crate::{Shared, Unavailable};

/// One wait for Postgres' clock at most; then the ledger is asked again.
const WAIT_AT_MOST: Duration = Duration::from_millis(500);
/// Postgres has to answer within this.
const LOAD_WITHIN: Duration = Duration::from_secs(5);

impl Shared {
    /// Snapshots for `ticket` of `home`, read from the primary after it was given, with what was due applied. `before`: what the last call
    /// brought. Where the ledger asks again with the same ticket though nothing has changed, the totals are over by Redis' clock
    /// and not yet by Postgres': then this waits for Postgres first.
    pub(crate) async fn load(
        &self,
        ticket: Ticket,
        home: Home,
        tenant_id: TenantId,
        scopes: &[Scope],
        before: Option<&Load>,
    ) -> Result<Load, Unavailable> {
        let mut loaded = match self.loaded(tenant_id, scopes).await {
            // The accounts of a pool are opened for its members alone.
            Err(Unavailable::Store(store::Error::NotFound)) if self.home(tenant_id).await? != home => {
                return Err(Unavailable::Moved);
            }
            loaded => loaded?,
        };
        let is_asked_again =
            before.is_some_and(|before| before.ticket == ticket && before.snapshots == loaded.snapshots);
        if let Some(wait_ms) = loaded.wait_ms.filter(|_| is_asked_again) {
            tokio::time::sleep(Duration::from_millis(wait_ms.unsigned_abs()).min(WAIT_AT_MOST)).await;
            loaded = self.loaded(tenant_id, scopes).await?;
        }
        if loaded.home != home {
            return Err(Unavailable::Moved);
        }
        Ok(Load { ticket, snapshots: loaded.snapshots })
    }

    /// No connection is held while it waits.
    pub(crate) async fn loaded(&self, tenant_id: TenantId, scopes: &[Scope]) -> Result<Loaded, Unavailable> {
        let load = async {
            let mut connection = self.store.acquire().await?;
            Ok(store::load::load(&mut connection, tenant_id, scopes).await?)
        };
        tokio::time::timeout(LOAD_WITHIN, load).await.unwrap_or(Err(store::Error::Silent.into()))
    }

    /// Where the tenant's accounts live now.
    pub(crate) async fn home(&self, tenant_id: TenantId) -> Result<Home, Unavailable> {
        let mut connection = self.store.acquire().await?;
        Ok(store::pools::home(&mut connection, tenant_id).await?)
    }

    /// Snapshots of accounts as they are, without applying what is due.
    pub(crate) async fn snapshots(&self, scopes: &[Scope]) -> Result<Vec<Snapshot>, Unavailable> {
        let mut connection = self.store.acquire().await?;
        Ok(store::accounts::snapshots(&mut connection, scopes).await?)
    }
}

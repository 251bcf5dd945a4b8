//! Comparisons of Redis and PostgreSQL, and what they saw.

pub mod create;
pub mod list;
pub mod snapshots;

use api_types::alert::Reconciliation;
use domain::{ReconciliationId, TenantId};

use crate::error::{Error, Result};

/// A comparison as the API shows it.
///
/// # Errors
/// 500 for a state that this version does not know.
pub fn view(row: store::comparisons::Reconciliation) -> Result<Reconciliation> {
    Ok(Reconciliation {
        id: ReconciliationId::from_uuid(row.id),
        tenant_id: row.tenant_id.map(TenantId::from_uuid),
        dry_run: row.dry_run,
        by: row.actor,
        state: row.state.parse().map_err(|_| Error::internal("a state that this version does not know"))?,
        accounts: row.accounts,
        differences: row.differences,
        repaired: row.repaired,
        alerts: row.alerts,
        started_at: row.started_at.into(),
        ended_at: row.ended_at.map(Into::into),
    })
}

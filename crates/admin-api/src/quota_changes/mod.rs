//! Quota changes: deltas to a tenant's grants, or to a project's or key's budget.

pub mod create;
mod decrease;
pub mod list;
mod make;

use api_types::Decimal;
use api_types::quota_change::QuotaChange;
use domain::{KeyId, ProjectId, TenantId, Unit};
use store::tenants::Tenant;

use crate::auth::{Call, Policy};
use crate::error::{Error, Result};
use crate::scopes::{self, Present};

/// Whose quota.
pub(crate) struct Target {
    /// The tenant that it belongs to.
    pub tenant: Tenant,
    /// The account of its present period.
    pub present: Present,
    /// Where its changes are listed, below `/api/v1`.
    pub path: String,
}

impl Target {
    async fn tenant<P: Policy>(call: &mut Call<P>, id: TenantId) -> Result<Self> {
        let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
        let present = scopes::tenant(&tenant);
        Ok(Self { tenant, present, path: format!("/tenants/{id}/quota-changes") })
    }

    async fn project<P: Policy>(call: &mut Call<P>, id: ProjectId) -> Result<Self> {
        let project = store::projects::get(&mut call.tx, id, &call.reach).await?;
        let tenant = store::tenants::get(&mut call.tx, project.tenant_id, &call.reach).await?;
        let present = scopes::project(&tenant, &project)?;
        Ok(Self { tenant, present, path: format!("/projects/{id}/quota-changes") })
    }

    async fn key<P: Policy>(call: &mut Call<P>, id: KeyId) -> Result<Self> {
        let key = store::keys::get(&mut call.tx, id, &call.reach).await?;
        let tenant = store::tenants::get(&mut call.tx, key.tenant_id, &call.reach).await?;
        let present = scopes::key(&tenant, &key)?;
        Ok(Self { tenant, present, path: format!("/keys/{id}/quota-changes") })
    }
}

/// A change as the API shows it.
///
/// # Errors
/// 500 for stored numbers that this version does not understand.
pub fn view(change: store::quota_changes::QuotaChange, unit: Unit) -> Result<QuotaChange> {
    Ok(QuotaChange {
        id: Some(change.id),
        delta: Decimal::of(change.delta, unit),
        recurring: change.recurring,
        reason: change.reason,
        before: serde_json::from_value(change.before).map_err(Error::internal)?,
        after: serde_json::from_value(change.after).map_err(Error::internal)?,
        by: change.actor,
        at: change.created_at.into(),
        in_force: None,
    })
}

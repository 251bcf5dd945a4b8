//! The audit log: who changed what, append-only.

use domain::TenantId;
use serde_json::Value;
use sqlx::PgConnection;

use crate::Error;

/// One change.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// `usr_...`, `st_...`, `reconciler` or `cli`.
    pub actor: &'a str,
    /// Noun and verb, such as `tenant.create`.
    pub action: &'a str,
    /// The id of what was changed.
    pub target: &'a str,
    /// Whose it is.
    pub tenant_id: Option<TenantId>,
    /// How it was; no secrets.
    pub before: Option<Value>,
    /// How it is; no secrets.
    pub after: Option<Value>,
    /// From where.
    pub address: Option<&'a str>,
    /// The call's id.
    pub request_id: Option<&'a str>,
}

/// Writes one entry; commits with the change.
///
/// # Errors
/// Those of Postgres.
pub async fn append(conn: &mut PgConnection, entry: &Entry<'_>) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO audit_log (actor, action, target, tenant_id, before, after, address, request_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        entry.actor,
        entry.action,
        entry.target,
        entry.tenant_id.map(TenantId::uuid),
        entry.before,
        entry.after,
        entry.address,
        entry.request_id,
    )
    .execute(conn)
    .await?;
    Ok(())
}

//! The audit log: who changed what, append-only.

use domain::TenantId;
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{Error, Reach};

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

/// An entry as it stands in the log.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its number, in the order of the log.
    pub id: i64,
    /// When.
    pub at: OffsetDateTime,
    /// Who.
    pub actor: String,
    /// What.
    pub action: String,
    /// To what.
    pub target: String,
    /// Whose that is.
    pub tenant_id: Option<TenantId>,
    /// How it was.
    pub before: Option<Value>,
    /// How it is.
    pub after: Option<Value>,
    /// From where.
    pub address: Option<String>,
    /// The call's id.
    pub request_id: Option<String>,
}

/// Which entries. All conditions hold together.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// By this one.
    pub actor: Option<String>,
    /// Of this kind.
    pub action: Option<String>,
    /// On this.
    pub target: Option<String>,
    /// Of this tenant.
    pub tenant_id: Option<TenantId>,
    /// At or after.
    pub from: Option<OffsetDateTime>,
    /// Before.
    pub to: Option<OffsetDateTime>,
}

/// Lists entries within reach, newest first, those below the number `before`.
///
/// # Errors
/// Those of Postgres.
pub async fn list(
    conn: &mut PgConnection,
    filter: &Filter,
    reach: &Reach,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Written>, Error> {
    let within = reach.ids();
    let rows = sqlx::query!(
        "SELECT id, at, actor, action, target, tenant_id, before, after, address, request_id FROM audit_log
         WHERE ($1::text IS NULL OR actor = $1) AND ($2::text IS NULL OR action = $2) AND ($3::text IS NULL OR target = $3)
           AND ($4::uuid IS NULL OR tenant_id = $4) AND ($5::timestamptz IS NULL OR at >= $5)
           AND ($6::timestamptz IS NULL OR at < $6) AND ($7::uuid[] IS NULL OR tenant_id = ANY ($7))
           AND ($8::bigint IS NULL OR id < $8) ORDER BY id DESC LIMIT $9",
        filter.actor,
        filter.action,
        filter.target,
        filter.tenant_id.map(TenantId::uuid),
        filter.from,
        filter.to,
        within.as_deref(),
        before,
        limit,
    )
    .fetch_all(conn)
    .await?;
    let entries = rows.into_iter().map(|row| Written {
        id: row.id,
        at: row.at,
        actor: row.actor,
        action: row.action,
        target: row.target,
        tenant_id: row.tenant_id.map(TenantId::from_uuid),
        before: row.before,
        after: row.after,
        address: row.address,
        request_id: row.request_id,
    });
    Ok(entries.collect())
}

//! Requests admitted while Redis was away: the trace that a gateway leaves before it calls the provider.

use domain::settings::OutageMode;
use domain::{Amount, KeyId, ProjectId, RequestId, Scope, TenantId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// One such request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The request.
    pub request_id: RequestId,
    /// Who pays.
    pub tenant_id: TenantId,
    /// The key's project.
    pub project_id: ProjectId,
    /// The caller's key.
    pub key_id: KeyId,
    /// Key, project, tenant.
    pub scopes: Vec<Scope>,
    /// The gateway that holds it.
    pub gateway_id: String,
    /// The model's name.
    pub model: String,
    /// What is set aside for it.
    pub amount: Amount,
    /// Version of the tenant's account, as far as the gateway knew.
    pub version: i64,
}

/// Writes it. Repeating it changes nothing.
///
/// # Errors
/// What Postgres refused.
pub async fn open(conn: &mut PgConnection, opened: &Opened, mode: OutageMode) -> Result<(), Error> {
    let scopes: Vec<String> = opened.scopes.iter().map(ToString::to_string).collect();
    sqlx::query!(
        "INSERT INTO opened_requests (request_id, tenant_id, project_id, key_id, scopes, gateway_id, model, mode, amount, version)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
        opened.request_id.uuid(),
        opened.tenant_id.uuid(),
        opened.project_id.uuid(),
        opened.key_id.uuid(),
        &scopes,
        opened.gateway_id,
        opened.model,
        mode.as_str(),
        opened.amount.units(),
        opened.version
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes those whose outcome this transaction records.
///
/// # Errors
/// What Postgres refused.
pub async fn close(conn: &mut PgConnection, requests: &[RequestId]) -> Result<u64, Error> {
    if requests.is_empty() {
        return Ok(0);
    }
    let ids: Vec<Uuid> = requests.iter().map(|id| id.uuid()).collect();
    let done = sqlx::query!("DELETE FROM opened_requests WHERE request_id = ANY($1)", &ids).execute(conn).await?;
    Ok(done.rows_affected())
}

/// Deletes those whose outcome stands already, such as those that the reconciler found in Redis first.
///
/// # Errors
/// What Postgres refused.
pub async fn forget_recorded(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!(
        "DELETE FROM opened_requests o WHERE EXISTS (SELECT FROM settlements s WHERE s.request_id = o.request_id AND s.kind = 0)"
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// The oldest of those without an outcome.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn all(conn: &mut PgConnection, limit: i64) -> Result<Vec<Opened>, Error> {
    let rows = sqlx::query!(
        r#"SELECT request_id, tenant_id, project_id, key_id, scopes, gateway_id, model, amount AS "amount!: i64", version
           FROM opened_requests ORDER BY opened_at LIMIT $1"#,
        limit
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let scopes: Result<Vec<Scope>, _> = row.scopes.iter().map(|scope| scope.parse()).collect();
            Ok(Opened {
                request_id: RequestId::from_uuid(row.request_id),
                tenant_id: TenantId::from_uuid(row.tenant_id),
                project_id: ProjectId::from_uuid(row.project_id),
                key_id: KeyId::from_uuid(row.key_id),
                scopes: scopes.map_err(|why| Error::corrupt("opened_requests.scopes", why))?,
                gateway_id: row.gateway_id,
                model: row.model,
                amount: Amount::new(row.amount).map_err(|why| Error::corrupt("opened_requests.amount", why))?,
                version: row.version,
            })
        })
        .collect()
}

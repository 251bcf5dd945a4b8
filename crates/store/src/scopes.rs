//! Which scopes a tenant has accounts of.

use domain::{Scope, TenantId};
use sqlx::PgConnection;

use crate::Error;

/// Scopes of the tenant's accounts in scope order: its own first, then keys and projects of every period, at most `limit`.
///
/// # Errors
/// What Postgres refused, or a stored scope that can't be read.
pub async fn of_tenant(conn: &mut PgConnection, tenant: TenantId, limit: i64) -> Result<Vec<Scope>, Error> {
    let names = sqlx::query_scalar!(
        "SELECT scope FROM accounts WHERE tenant_id = $1 ORDER BY level = 'tenant' DESC, updated_at DESC, scope LIMIT $2",
        tenant.uuid(),
        limit
    )
    .fetch_all(conn)
    .await?;
    names.iter().map(|name| name.parse().map_err(|error| Error::corrupt("accounts.scope", error))).collect()
}

/// Every tenant that is not closed.
///
/// # Errors
/// What Postgres refused.
pub async fn tenants(conn: &mut PgConnection) -> Result<Vec<TenantId>, Error> {
    let ids =
        sqlx::query_scalar!("SELECT id FROM tenants WHERE status <> 'closed' ORDER BY id").fetch_all(conn).await?;
    Ok(ids.into_iter().map(TenantId::from_uuid).collect())
}

/// Scopes of the tenant's accounts beyond `after`, in one fixed order, at most `limit`: for looking at every account.
///
/// # Errors
/// What Postgres refused, or a stored scope that can't be read.
pub async fn page(
    conn: &mut PgConnection,
    tenant: TenantId,
    after: Option<&Scope>,
    limit: i64,
) -> Result<Vec<Scope>, Error> {
    let names = sqlx::query_scalar!(
        "SELECT scope FROM accounts WHERE tenant_id = $1 AND ($2::text IS NULL OR scope > $2) ORDER BY scope LIMIT $3",
        tenant.uuid(),
        after.map(ToString::to_string),
        limit
    )
    .fetch_all(conn)
    .await?;
    names.iter().map(|name| name.parse().map_err(|error| Error::corrupt("accounts.scope", error))).collect()
}

/// Scopes of the tenant's accounts that are halted.
///
/// # Errors
/// What Postgres refused, or a stored scope that can't be read.
pub async fn halted(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<Scope>, Error> {
    let names = sqlx::query_scalar!(
        "SELECT scope FROM accounts WHERE tenant_id = $1 AND status = 'halted' ORDER BY scope",
        tenant.uuid()
    )
    .fetch_all(conn)
    .await?;
    names.iter().map(|name| name.parse().map_err(|error| Error::corrupt("accounts.scope", error))).collect()
}

/// Scopes of the tenant's accounts that change their place with it when it joins or leaves a pool: all but those that count what
/// it uses of one.
///
/// # Errors
/// What Postgres refused, or a stored scope that can't be read.
pub(crate) async fn that_move(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<Scope>, Error> {
    let names = sqlx::query_scalar!(
        "SELECT scope FROM accounts WHERE tenant_id = $1 AND level <> 'member' ORDER BY scope",
        tenant.uuid()
    )
    .fetch_all(conn)
    .await?;
    names.iter().map(|name| name.parse().map_err(|error| Error::corrupt("accounts.scope", error))).collect()
}

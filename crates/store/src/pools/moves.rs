//! A tenant on its way into a pool or out of one. Its accounts change the keys in Redis that they live among, so for the time
//! between `begin_move` and `finish_move` its own account admits nothing: nothing of it may be frozen at either place.

use domain::{PoolId, Scope, Status, TenantId};
use sqlx::PgConnection;

use crate::accounts::{self, Change};
use crate::{Error, scopes};

/// Why a tenant is not moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmoved {
    /// It is being moved already.
    UnderWay,
    /// The move took too long and was undone.
    Undone,
    /// Calls that were admitted while Redis was away still run.
    Running,
}

/// A move under way.
#[derive(Debug, Clone)]
pub struct Move {
    /// Every account of the tenant that changes its place.
    pub scopes: Vec<Scope>,
}

/// Begins: from the commit on the tenant's account admits nothing, wherever it is read.
///
/// # Errors
/// Those of Postgres.
pub async fn begin_move(
    conn: &mut PgConnection,
    tenant: TenantId,
    to: Option<PoolId>,
) -> Result<Result<Move, Unmoved>, Error> {
    let begun = sqlx::query!(
        "INSERT INTO pool_moves (tenant_id, pool_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        tenant.uuid(),
        to.map(PoolId::uuid),
    );
    if begun.execute(&mut *conn).await?.rows_affected() == 0 {
        return Ok(Err(Unmoved::UnderWay));
    }
    set_status(conn, tenant, Status::Active, Status::Moving).await?;
    Ok(Ok(Move { scopes: scopes::that_move(conn, tenant).await? }))
}

/// Whether something of the tenant runs that Redis may not know of: it was admitted while Redis was away.
async fn has_opened(conn: &mut PgConnection, tenant: TenantId) -> Result<bool, Error> {
    let found = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM opened_requests WHERE tenant_id = $1) AS "found!""#,
        tenant.uuid()
    );
    Ok(found.fetch_one(conn).await?)
}

/// Ends: the tenant is in the pool (or in none), and its account admits again, at its new place.
///
/// # Errors
/// Those of Postgres.
pub async fn finish_move(
    conn: &mut PgConnection,
    tenant: TenantId,
    to: Option<(PoolId, u32)>,
) -> Result<Result<(), Unmoved>, Error> {
    let ended = sqlx::query!("DELETE FROM pool_moves WHERE tenant_id = $1", tenant.uuid());
    if ended.execute(&mut *conn).await?.rows_affected() == 0 {
        return Ok(Err(Unmoved::Undone));
    }
    if has_opened(conn, tenant).await? {
        return Ok(Err(Unmoved::Running));
    }
    sqlx::query!("DELETE FROM pool_members WHERE tenant_id = $1", tenant.uuid()).execute(&mut *conn).await?;
    if let Some((pool, weight)) = to {
        sqlx::query!(
            "INSERT INTO pool_members (tenant_id, pool_id, weight) VALUES ($1, $2, $3)",
            tenant.uuid(),
            pool.uuid(),
            i32::try_from(weight).map_err(|why| Error::corrupt("pool_members.weight", why))?,
        )
        .execute(&mut *conn)
        .await?;
    }
    set_status(conn, tenant, Status::Moving, Status::Active).await?;
    Ok(Ok(()))
}

/// Undoes a move: the tenant stays where it is, and its account admits again. Changes nothing where none is under way.
///
/// # Errors
/// Those of Postgres.
pub async fn cancel_move(conn: &mut PgConnection, tenant: TenantId) -> Result<bool, Error> {
    let ended = sqlx::query!("DELETE FROM pool_moves WHERE tenant_id = $1", tenant.uuid());
    if ended.execute(&mut *conn).await?.rows_affected() == 0 {
        return Ok(false);
    }
    set_status(conn, tenant, Status::Moving, Status::Active).await?;
    Ok(true)
}

/// Whether the tenant is being moved.
///
/// # Errors
/// Those of Postgres.
pub async fn is_moving(conn: &mut PgConnection, tenant: TenantId) -> Result<bool, Error> {
    let found = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM pool_moves WHERE tenant_id = $1) AS "found!""#,
        tenant.uuid()
    );
    Ok(found.fetch_one(conn).await?)
}

/// Tenants whose move has been under way for longer than one can take, so that its process is gone.
///
/// # Errors
/// Those of Postgres.
pub async fn stale_moves(conn: &mut PgConnection, older_than_s: i32) -> Result<Vec<TenantId>, Error> {
    let ids = sqlx::query_scalar!(
        "SELECT tenant_id FROM pool_moves WHERE started_at < clock_timestamp() - make_interval(secs => $1) ORDER BY tenant_id",
        f64::from(older_than_s),
    );
    Ok(ids.fetch_all(conn).await?.into_iter().map(TenantId::from_uuid).collect())
}

/// Where the account has the status `from`; a tenant that is suspended stays so.
async fn set_status(conn: &mut PgConnection, tenant: TenantId, from: Status, to: Status) -> Result<(), Error> {
    let scope = Scope::Tenant(tenant);
    let locked = accounts::lock(conn, std::slice::from_ref(&scope)).await?;
    if locked.first().is_some_and(|snapshot| snapshot.status == from) {
        accounts::change(conn, &scope, &Change { status: Some(to), ..Change::default() }).await?;
    }
    Ok(())
}

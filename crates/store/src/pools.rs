//! Shared pools: their members, the accounts of their periods, and what each member is guaranteed of them.
//!
//! A pool's account in a period and those of its members are written under one lock of the pool (`lock`) wherever guarantees
//! are dealt out, so that they always sum up to what the pool's weights say.

use domain::pool::{guarantee, unused};
use domain::{Amount, Home, PeriodLabel, PoolId, Scope, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Window};

mod moves;

pub use moves::{Move, Unmoved, begin_move, cancel_move, finish_move, is_moving, stale_moves};

/// A pool as stored.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Id.
    pub id: PoolId,
    /// Name.
    pub name: String,
    /// `credit` or `token`.
    pub unit: String,
    /// What part of the total is guaranteed to the members.
    pub guaranteed_percent: u32,
    /// What the members may spend together, in each period.
    pub budget: Amount,
    /// `day`, `week`, `month` or `year`; None: the budget never renews.
    pub period: Option<String>,
    /// In which periods begin, an IANA name.
    pub time_zone: String,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

struct Row {
    id: Uuid,
    name: String,
    unit: String,
    guaranteed_percent: i16,
    budget: i64,
    period: Option<String>,
    time_zone: String,
    created_at: OffsetDateTime,
    version: i64,
}

impl TryFrom<Row> for Pool {
    type Error = Error;
    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: PoolId::from_uuid(row.id),
            name: row.name,
            unit: row.unit,
            guaranteed_percent: u32::try_from(row.guaranteed_percent)
                .map_err(|why| Error::corrupt("pools.guaranteed_percent", why))?,
            budget: Amount::new(row.budget).map_err(|why| Error::corrupt("pools.budget_amount", why))?,
            period: row.period,
            time_zone: row.time_zone,
            created_at: row.created_at,
            version: row.version,
        })
    }
}

/// A member with its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The tenant.
    pub tenant_id: TenantId,
    /// Its name.
    pub name: String,
    /// Its part of what is guaranteed, beside the other members' weights.
    pub weight: u32,
    /// Since when.
    pub joined_at: OffsetDateTime,
}

/// Creates a pool without members. Its account is opened by the first request of each period.
///
/// # Errors
/// Those of Postgres.
pub async fn create(
    conn: &mut PgConnection,
    name: &str,
    unit: &str,
    guaranteed_percent: u32,
    budget: Amount,
    period: Option<&str>,
    time_zone: &str,
) -> Result<Pool, Error> {
    let id = PoolId::generate();
    sqlx::query!(
        "INSERT INTO pools (id, name, unit, guaranteed_percent, budget_amount, budget_period, time_zone)
         VALUES ($1, $2, $3, $4, $5::bigint, $6, $7)",
        id.uuid(),
        name,
        unit,
        stored(guaranteed_percent)?,
        budget.units(),
        period,
        time_zone,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id).await
}

/// A pool.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: PoolId) -> Result<Pool, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, name, unit, guaranteed_percent, budget_amount AS "budget!: i64", budget_period AS period, time_zone,
                  created_at, version FROM pools WHERE id = $1"#,
        id.uuid(),
    );
    row.fetch_optional(conn).await?.ok_or(Error::NotFound)?.try_into()
}

/// A page of pools.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, window: Window) -> Result<Vec<Pool>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, name, unit, guaranteed_percent, budget_amount AS "budget!: i64", budget_period AS period, time_zone,
                  created_at, version FROM pools
           WHERE $1::uuid IS NULL OR CASE WHEN $2 THEN id > $1 ELSE id < $1 END
           ORDER BY CASE WHEN $2 THEN id END, CASE WHEN NOT $2 THEN id END DESC LIMIT $3"#,
        window.after,
        window.ascending,
        window.limit,
    );
    rows.fetch_all(conn).await?.into_iter().map(Pool::try_from).collect()
}

/// Writes what may change of a pool that is locked; [`share_out`] brings it to its accounts.
///
/// # Errors
/// `NotFound`.
pub async fn update(conn: &mut PgConnection, pool: &Pool) -> Result<Pool, Error> {
    sqlx::query!(
        "UPDATE pools SET name = $2, guaranteed_percent = $3, budget_amount = $4::bigint, updated_at = now(), version = version + 1
         WHERE id = $1",
        pool.id.uuid(),
        pool.name,
        stored(pool.guaranteed_percent)?,
        pool.budget.units(),
    )
    .execute(&mut *conn)
    .await?;
    get(conn, pool.id).await
}

/// Has whoever deals out guarantees of a pool follow one another until the transaction ends.
///
/// # Errors
/// Those of Postgres.
pub async fn lock(conn: &mut PgConnection, id: PoolId) -> Result<(), Error> {
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtext('tollgate.pool'), hashtext($1))", id.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

/// Its members in the order of their ids.
///
/// # Errors
/// Those of Postgres.
pub async fn members(conn: &mut PgConnection, id: PoolId) -> Result<Vec<Member>, Error> {
    let rows = sqlx::query!(
        "SELECT m.tenant_id, t.name, m.weight, m.joined_at FROM pool_members m JOIN tenants t ON t.id = m.tenant_id
         WHERE m.pool_id = $1 ORDER BY m.tenant_id",
        id.uuid(),
    );
    let rows = rows.fetch_all(conn).await?.into_iter();
    rows.map(|row| {
        let weight = u32::try_from(row.weight).map_err(|why| Error::corrupt("pool_members.weight", why))?;
        Ok(Member { tenant_id: TenantId::from_uuid(row.tenant_id), name: row.name, weight, joined_at: row.joined_at })
    })
    .collect()
}

/// The pool that a tenant is in, with its weight there.
///
/// # Errors
/// Those of Postgres.
pub async fn of_tenant(conn: &mut PgConnection, tenant: TenantId) -> Result<Option<(Pool, u32)>, Error> {
    let member = sqlx::query!("SELECT pool_id, weight FROM pool_members WHERE tenant_id = $1", tenant.uuid());
    let Some(member) = member.fetch_optional(&mut *conn).await? else { return Ok(None) };
    let weight = u32::try_from(member.weight).map_err(|why| Error::corrupt("pool_members.weight", why))?;
    Ok(Some((get(conn, PoolId::from_uuid(member.pool_id)).await?, weight)))
}

/// Whose keys in Redis the tenant's accounts live among now.
///
/// # Errors
/// Those of Postgres.
pub async fn home(conn: &mut PgConnection, tenant: TenantId) -> Result<Home, Error> {
    let pool = sqlx::query_scalar!("SELECT pool_id FROM pool_members WHERE tenant_id = $1", tenant.uuid());
    Ok(pool.fetch_optional(conn).await?.map_or(Home::Tenant(tenant), |id| Home::Pool(PoolId::from_uuid(id))))
}

/// Sets a member's weight; the caller deals out anew ([`share_out`]).
///
/// # Errors
/// `NotFound` where the tenant is no member.
pub async fn set_weight(conn: &mut PgConnection, id: PoolId, tenant: TenantId, weight: u32) -> Result<(), Error> {
    let changed = sqlx::query!(
        "UPDATE pool_members SET weight = $3 WHERE pool_id = $1 AND tenant_id = $2",
        id.uuid(),
        tenant.uuid(),
        i32::try_from(weight).map_err(|why| Error::corrupt("pool_members.weight", why))?,
    );
    if changed.execute(conn).await?.rows_affected() == 0 { Err(Error::NotFound) } else { Ok(()) }
}

/// The members' weights, also for a caller that may see some of them only: what it charges depends on all.
struct Weights {
    sum: u64,
    of: Vec<(TenantId, u32)>,
}

impl Weights {
    async fn read(conn: &mut PgConnection, id: PoolId) -> Result<Self, Error> {
        let rows = sqlx::query!(
            r#"SELECT tenant_id AS "tenant_id!", weight AS "weight!" FROM weights_in_pool($1) ORDER BY tenant_id"#,
            id.uuid()
        );
        let of = rows
            .fetch_all(conn)
            .await?
            .into_iter()
            .map(|row| Ok((TenantId::from_uuid(row.tenant_id), u32::try_from(row.weight).unwrap_or_default())))
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { sum: of.iter().map(|(_, weight)| u64::from(*weight)).sum(), of })
    }

    /// What a tenant is guaranteed of `total`: nothing where it is no member.
    fn guaranteed(&self, pool: &Pool, total: Amount, tenant: TenantId) -> Amount {
        let weight = self.of.iter().find(|(member, _)| *member == tenant).map_or(0, |(_, weight)| *weight);
        guarantee(total, pool.guaranteed_percent, weight, self.sum)
    }
}

/// Opens the accounts of a pool and of one member in a period, where they are not open yet.
///
/// # Errors
/// `NotFound` where the tenant is no member.
pub(crate) async fn open(
    conn: &mut PgConnection,
    id: PoolId,
    tenant: TenantId,
    label: &PeriodLabel,
) -> Result<(), Error> {
    lock(conn, id).await?;
    let (pool, weights) = (get(conn, id).await?, Weights::read(conn, id).await?);
    if !weights.of.iter().any(|(member, _)| *member == tenant) {
        return Err(Error::NotFound);
    }
    let scope = Scope::Pool(id, label.clone());
    let all =
        weights.of.iter().map(|(_, weight)| guarantee(pool.budget, pool.guaranteed_percent, *weight, weights.sum));
    let share = all.fold(Amount::ZERO, Amount::saturating_add);
    sqlx::query!(
        "INSERT INTO accounts (scope, pool_id, level, total, share) VALUES ($1, $2, 'pool', $3::bigint, $4::bigint)
         ON CONFLICT (scope) DO NOTHING",
        scope.to_string(),
        id.uuid(),
        pool.budget.units(),
        share.units(),
    )
    .execute(&mut *conn)
    .await?;
    let total =
        sqlx::query_scalar!(r#"SELECT total AS "total!: i64" FROM accounts WHERE scope = $1"#, scope.to_string())
            .fetch_one(&mut *conn)
            .await?;
    let total = Amount::new(total).map_err(|why| Error::corrupt("accounts.total", why))?;
    sqlx::query!(
        "INSERT INTO accounts (scope, tenant_id, pool_id, level, share) VALUES ($1, $2, $3, 'member', $4::bigint)
         ON CONFLICT (scope) DO NOTHING",
        Scope::Member(id, tenant, label.clone()).to_string(),
        tenant.uuid(),
        id.uuid(),
        weights.guaranteed(&pool, total, tenant).units(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deals out what the members of a pool that is locked are guaranteed, by its present budget and weights: in the period
/// `present`, and in those whose account changed within a day (gateways whose clock differs). A lower budget waits for the next
/// period. Returns the accounts that changed.
///
/// # Errors
/// Those of Postgres.
pub async fn share_out(conn: &mut PgConnection, id: PoolId, present: &PeriodLabel) -> Result<Vec<Scope>, Error> {
    let (pool, weights) = (get(conn, id).await?, Weights::read(conn, id).await?);
    let open = sqlx::query_scalar!(
        "SELECT scope FROM accounts WHERE pool_id = $1 AND level = 'pool'
            AND (scope = $2 OR updated_at > clock_timestamp() - interval '1 day') ORDER BY scope",
        id.uuid(),
        Scope::Pool(id, present.clone()).to_string(),
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut changed = Vec::new();
    for name in open {
        if let Scope::Pool(_, label) = read(&name)? {
            changed.extend(share_out_period(conn, &pool, &weights, &label).await?);
        }
    }
    Ok(changed)
}

async fn share_out_period(
    conn: &mut PgConnection,
    pool: &Pool,
    weights: &Weights,
    label: &PeriodLabel,
) -> Result<Vec<Scope>, Error> {
    let amount = |units| Amount::new(units).map_err(|why| Error::corrupt("accounts", why));
    // In scope order, as the record transaction locks: the members' names stand before their pool's.
    let open = sqlx::query!(
        r#"SELECT scope, tenant_id AS "tenant_id!", used AS "used!: i64" FROM accounts
           WHERE pool_id = $1 AND level = 'member' AND split_part(scope, ':', 2) = $2 ORDER BY scope FOR UPDATE"#,
        pool.id.uuid(),
        label.as_str(),
    )
    .fetch_all(&mut *conn)
    .await?;
    let scope = Scope::Pool(pool.id, label.clone());
    let before = sqlx::query_scalar!(
        r#"SELECT total AS "total!: i64" FROM accounts WHERE scope = $1 FOR UPDATE"#,
        scope.to_string()
    )
    .fetch_one(&mut *conn)
    .await?;
    let total = amount(before)?.max(pool.budget);
    let (mut names, mut shares, mut left) = (Vec::new(), Vec::new(), Amount::ZERO);
    for row in &open {
        let guaranteed = weights.guaranteed(pool, total, TenantId::from_uuid(row.tenant_id));
        left = left.saturating_add(unused(guaranteed, amount(row.used)?));
        names.push(row.scope.clone());
        shares.push(guaranteed.units());
    }
    for (tenant, _) in &weights.of {
        if !open.iter().any(|row| row.tenant_id == tenant.uuid()) {
            left = left.saturating_add(weights.guaranteed(pool, total, *tenant));
        }
    }
    names.push(scope.to_string());
    shares.push(left.units());
    let changed = sqlx::query_scalar!(
        "UPDATE accounts a SET share = x.share, total = CASE WHEN level = 'pool' THEN $3::bigint ELSE total END,
                version = version + 1, updated_at = clock_timestamp()
         FROM unnest($1::text[], $2::bigint[]) AS x (scope, share)
         WHERE a.scope = x.scope AND (a.share <> x.share OR level = 'pool' AND total <> $3::bigint) RETURNING a.scope",
        &names,
        &shares,
        total.units(),
    )
    .fetch_all(conn)
    .await?;
    changed.iter().map(|name| read(name)).collect()
}

fn read(name: &str) -> Result<Scope, Error> {
    name.parse().map_err(|why| Error::corrupt("accounts.scope", why))
}

fn stored(percent: u32) -> Result<i16, Error> {
    i16::try_from(percent).map_err(|why| Error::corrupt("pools.guaranteed_percent", why))
}

/// Has a tenant that was created in this transaction in a pool; the caller deals out anew ([`share_out`]).
///
/// # Errors
/// Those of Postgres.
pub async fn add_new_tenant(conn: &mut PgConnection, id: PoolId, tenant: TenantId, weight: u32) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO pool_members (tenant_id, pool_id, weight) VALUES ($1, $2, $3)",
        tenant.uuid(),
        id.uuid(),
        i32::try_from(weight).map_err(|why| Error::corrupt("pool_members.weight", why))?,
    )
    .execute(conn)
    .await?;
    Ok(())
}

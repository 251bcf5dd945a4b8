//! A tenant's plan: a grant that comes again each period, on its day and time in the tenant's own zone.

use domain::grant::Plan;
use domain::period::{PeriodKind, Renewal, Zone};
use domain::{Amount, TenantId};
use jiff::Timestamp;
use sqlx::PgConnection;

use crate::grants::NewGrant;
use crate::grants::book::Book;
use crate::{Error, instant};

/// A plan as stored.
#[derive(Debug, Clone)]
pub struct StoredPlan {
    /// When it renews, with how much.
    pub plan: Plan,
    /// A remark for people.
    pub note: String,
    /// Who gave it.
    pub created_by: String,
}

/// The plan of a tenant, if it has one.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn read(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Option<StoredPlan>, Error> {
    let row = sqlx::query!(
        r#"SELECT p.amount AS "amount!: i64", p.priority, p.renews_at, p.anchor_day, p.note, p.created_by, t.time_zone, t.period_kind,
                  (extract(epoch FROM p.anchor_time) * 1000000)::bigint AS "anchor_micros!"
           FROM plans p JOIN tenants t ON t.id = p.tenant_id WHERE p.tenant_id = $1"#,
        tenant_id.uuid()
    )
    .fetch_optional(conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let kind =
        PeriodKind::parse(&row.period_kind).ok_or_else(|| Error::corrupt("tenants.period_kind", &row.period_kind))?;
    let plan = Plan {
        amount: Amount::new(row.amount).map_err(|why| Error::corrupt("plans.amount", why))?,
        priority: row.priority,
        renews_at: instant::read("plans.renews_at", row.renews_at)?,
        renewal: Renewal::from_parts(kind, row.anchor_day, row.anchor_micros)
            .map_err(|why| Error::corrupt("plans.anchor_day", why))?,
        zone: Zone::parse(&row.time_zone).map_err(|why| Error::corrupt("tenants.time_zone", why))?,
    };
    Ok(Some(StoredPlan { plan, note: row.note, created_by: row.created_by }))
}

/// Gives the tenant a plan and its first grant, from `first.starts_at` (none: now) up to the first renewal.
///
/// # Errors
/// `AlreadyExists` where the tenant has a plan; `NotFound` without an account; what Postgres refused.
pub async fn begin(conn: &mut PgConnection, first: &NewGrant, plan: &Plan) -> Result<(), Error> {
    let renews_at = instant::write("plans.renews_at", plan.renews_at)?;
    sqlx::query!(
        "INSERT INTO plans (tenant_id, amount, priority, renews_at, anchor_day, anchor_time, note, created_by)
         VALUES ($1, $2::bigint, $3, $4, $5, '00:00'::time + $6::bigint * interval '1 microsecond', $7, $8)",
        first.tenant_id.uuid(),
        plan.amount.units(),
        plan.priority,
        renews_at,
        plan.renewal.anchor_day(),
        plan.renewal.micros_of_day(),
        first.note,
        first.actor
    )
    .execute(&mut *conn)
    .await?;
    crate::grants::add(conn, &NewGrant { ends_at: Some(renews_at), ..first.clone() }).await?;
    Ok(())
}

/// Sets the next renewal.
pub(crate) async fn advance(conn: &mut PgConnection, tenant_id: TenantId, renews_at: Timestamp) -> Result<(), Error> {
    let renews_at = instant::write("plans.renews_at", renews_at)?;
    sqlx::query!("UPDATE plans SET renews_at = $2 WHERE tenant_id = $1", tenant_id.uuid(), renews_at)
        .execute(conn)
        .await?;
    Ok(())
}

/// Changes what each renewal gives. False, and nothing changed, where that would not be above zero.
pub(crate) async fn change_amount(conn: &mut PgConnection, tenant_id: TenantId, delta: i64) -> Result<bool, Error> {
    let changed = sqlx::query!(
        "UPDATE plans SET amount = amount + $2::bigint WHERE tenant_id = $1 AND amount + $2::bigint > 0",
        tenant_id.uuid(),
        delta
    )
    .execute(conn)
    .await?;
    Ok(changed.rows_affected() == 1)
}

/// Ends the plan: what it gave stays, nothing more comes.
pub(crate) async fn delete(conn: &mut PgConnection, tenant_id: TenantId) -> Result<(), Error> {
    sqlx::query!("DELETE FROM plans WHERE tenant_id = $1", tenant_id.uuid()).execute(conn).await?;
    Ok(())
}

/// After the tenant moved from zone `before` to its present one: the plan keeps its day and time of day, so the next renewal
/// and the end of the running grant move by the difference of the zones.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn move_zone(conn: &mut PgConnection, tenant_id: TenantId, before: &Zone, actor: &str) -> Result<(), Error> {
    let mut book = Book::open(conn, tenant_id).await?;
    let Some(stored) = read(conn, tenant_id).await? else { return Ok(()) };
    let old = stored.plan.renews_at;
    let renews_at = stored.plan.zone.same_civil_time(before, old);
    let running: Vec<_> =
        book.balances().into_iter().filter(|grant| grant.ends_at == Some(old)).map(|grant| grant.id).collect();
    for id in running {
        book.move_end(id, Some(renews_at))?;
    }
    advance(conn, tenant_id, renews_at).await?;
    book.close(conn, actor, "time zone").await?;
    Ok(())
}

//! Grants: quota given to a tenant. Rows and events are append-only; balances and the account follow in the same transaction.

pub(crate) mod book;
pub mod expiring;
mod write;

use domain::grant::{GrantKind, GrantStatus};
use domain::{Amount, GrantId, Snapshot, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{Error, Reach, plans};
use book::Book;

/// A grant to be given.
#[derive(Debug, Clone)]
pub struct NewGrant {
    /// Its id.
    pub id: GrantId,
    /// To whom.
    pub tenant_id: TenantId,
    /// `plan`, `temporary` or `gift`.
    pub kind: String,
    /// How much; above zero.
    pub amount: Amount,
    /// Lower is spent first.
    pub priority: i32,
    /// From when; None: from now.
    pub starts_at: Option<OffsetDateTime>,
    /// Until when; None: for good.
    pub ends_at: Option<OffsetDateTime>,
    /// A remark for people.
    pub note: String,
    /// Who gave it.
    pub actor: String,
}

/// A grant with what is left of it.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Whose.
    pub tenant_id: TenantId,
    /// `plan`, `temporary` or `gift`.
    pub kind: String,
    /// Given in all, adjustments included.
    pub amount: Amount,
    /// Spent of it.
    pub used: Amount,
    /// Lower is spent first.
    pub priority: i32,
    /// From when.
    pub starts_at: OffsetDateTime,
    /// Until when; None: for good.
    pub ends_at: Option<OffsetDateTime>,
    /// `pending`, `in_force`, `ended` or `lapsed`.
    pub status: String,
    /// A remark for people.
    pub note: String,
    /// When it was given.
    pub created_at: OffsetDateTime,
}

/// Gives a grant, in force at once or from its start on; what is owed is repaid from it first. Returns the tenant's account
/// after it.
///
/// # Errors
/// `NotFound` without an account of the tenant; what Postgres refused.
pub async fn add(conn: &mut PgConnection, grant: &NewGrant) -> Result<Snapshot, Error> {
    let mut book = Book::open(conn, grant.tenant_id).await?;
    book.give(grant.clone())?;
    book.close(conn, &grant.actor, &grant.note).await
}

/// Ends a grant that is pending or in force. Requests frozen before may still use what was left of it. A grant of the
/// tenant's plan takes the plan with it: it renews no more.
///
/// # Errors
/// `NotFound` where it is over already; what Postgres refused.
pub async fn end(
    conn: &mut PgConnection,
    tenant_id: TenantId,
    id: GrantId,
    actor: &str,
    reason: &str,
) -> Result<Snapshot, Error> {
    let mut book = Book::open(conn, tenant_id).await?;
    let balance = book.balance(id).ok_or(Error::NotFound)?;
    let (kind, ends_at) = (balance.kind, balance.ends_at);
    if let Some(plan) = plans::read(conn, tenant_id).await?
        && kind == GrantKind::Plan
        && ends_at == Some(plan.plan.renews_at)
    {
        plans::delete(conn, tenant_id).await?;
    }
    book.end(id, GrantStatus::Ended)?;
    book.close(conn, actor, reason).await
}

struct Row {
    id: uuid::Uuid,
    tenant_id: uuid::Uuid,
    kind: String,
    amount: i64,
    used: i64,
    priority: i32,
    starts_at: OffsetDateTime,
    ends_at: Option<OffsetDateTime>,
    status: String,
    note: String,
    created_at: OffsetDateTime,
}

impl TryFrom<Row> for Grant {
    type Error = Error;
    fn try_from(row: Row) -> Result<Self, Error> {
        let amount = |units: i64| Amount::new(units).map_err(|error| Error::corrupt("grant_balances.amount", error));
        Ok(Self {
            id: GrantId::from_uuid(row.id),
            tenant_id: TenantId::from_uuid(row.tenant_id),
            kind: row.kind,
            amount: amount(row.amount)?,
            used: amount(row.used)?,
            priority: row.priority,
            starts_at: row.starts_at,
            ends_at: row.ends_at,
            status: row.status,
            note: row.note,
            created_at: row.created_at,
        })
    }
}

/// A tenant's grants in burn order, ended ones last.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn list(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Vec<Grant>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT g.id, g.tenant_id, g.kind, b.amount AS "amount!: i64", b.used AS "used!: i64", b.priority, b.starts_at,
                  b.ends_at, b.status, g.note, g.created_at
           FROM grants g JOIN grant_balances b ON b.grant_id = g.id WHERE g.tenant_id = $1
           ORDER BY b.status IN ('ended', 'lapsed'), b.priority, b.ends_at NULLS LAST, b.created_at, g.id"#,
        tenant_id.uuid()
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Grant::try_from).collect()
}

/// Reads a grant within reach.
///
/// # Errors
/// `NotFound`; what Postgres refused, or a stored value that can't be read.
pub async fn get(conn: &mut PgConnection, id: GrantId, reach: &Reach) -> Result<Grant, Error> {
    let within = reach.ids();
    let row = sqlx::query_as!(
        Row,
        r#"SELECT g.id, g.tenant_id, g.kind, b.amount AS "amount!: i64", b.used AS "used!: i64", b.priority, b.starts_at,
                  b.ends_at, b.status, g.note, g.created_at
           FROM grants g JOIN grant_balances b ON b.grant_id = g.id
           WHERE g.id = $1 AND ($2::uuid[] IS NULL OR g.tenant_id = ANY ($2))"#,
        id.uuid(),
        within.as_deref()
    )
    .fetch_one(conn)
    .await?;
    row.try_into()
}

//! Alerts: opened when a comparison first finds something, closed when one finds it no more.

use domain::{AlertId, Scope, TenantId};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// Something found of an account.
#[derive(Debug, Clone)]
pub struct Found {
    /// The account.
    pub scope: Scope,
    /// `urgent`, `warning` or `hint`.
    pub grade: &'static str,
    /// What, such as `beyond_limit`.
    pub kind: &'static str,
    /// The account's numbers; amounts as strings of units.
    pub numbers: Value,
    /// What was charged lately.
    pub trend: Option<Value>,
    /// What to do.
    pub remedy: String,
}

/// An alert as stored.
#[derive(Debug, Clone)]
pub struct Alert {
    /// Id.
    pub id: Uuid,
    /// `urgent`, `warning` or `hint`.
    pub grade: String,
    /// What.
    pub kind: String,
    /// Whose.
    pub tenant_id: Uuid,
    /// `credit` or `token`.
    pub unit: String,
    /// The account.
    pub scope: String,
    /// Its numbers when it was seen last; amounts as strings of units.
    pub numbers: Value,
    /// What was charged lately.
    pub trend: Option<Value>,
    /// What to do.
    pub remedy: String,
    /// When it was found first.
    pub opened_at: OffsetDateTime,
    /// When it was found last.
    pub seen_at: OffsetDateTime,
    /// When it was found no more.
    pub closed_at: Option<OffsetDateTime>,
    /// When somebody took note of it.
    pub acknowledged_at: Option<OffsetDateTime>,
    /// Who.
    pub acknowledged_by: Option<String>,
    /// What they noted.
    pub note: Option<String>,
}

/// Makes the open alerts of the accounts that were looked at those that were found: opens, renews and closes. Returns the
/// scope and kind of those that are new. Hold the tenant's lock of [`crate::comparisons::lock`].
///
/// # Errors
/// Those of Postgres.
pub async fn settle(
    conn: &mut PgConnection,
    tenant: TenantId,
    looked_at: &[Scope],
    found: &[Found],
) -> Result<Vec<(String, String)>, Error> {
    let scopes: Vec<String> = looked_at.iter().map(ToString::to_string).collect();
    let of: Vec<String> = found.iter().map(|found| found.scope.to_string()).collect();
    let kinds: Vec<String> = found.iter().map(|found| found.kind.to_owned()).collect();
    sqlx::query!(
        "UPDATE alerts SET closed_at = clock_timestamp() WHERE closed_at IS NULL AND scope = ANY ($1)
             AND NOT EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS f (s, k) WHERE f.s = scope AND f.k = kind)",
        &scopes,
        &of,
        &kinds,
    )
    .execute(&mut *conn)
    .await?;
    let ids: Vec<Uuid> = found.iter().map(|_| AlertId::generate().uuid()).collect();
    let grades: Vec<String> = found.iter().map(|found| found.grade.to_owned()).collect();
    let numbers: Vec<Value> = found.iter().map(|found| found.numbers.clone()).collect();
    let trends: Vec<Option<Value>> = found.iter().map(|found| found.trend.clone()).collect();
    let remedies: Vec<String> = found.iter().map(|found| found.remedy.clone()).collect();
    let rows = sqlx::query!(
        r#"INSERT INTO alerts (id, grade, kind, tenant_id, scope, numbers, trend, remedy)
           SELECT i, g, k, $1, s, n, t, r
           FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::jsonb[], $8::text[]) AS x (i, g, k, s, n, t, r)
           ON CONFLICT (scope, kind) WHERE closed_at IS NULL DO UPDATE SET numbers = excluded.numbers, trend = excluded.trend,
               remedy = excluded.remedy, grade = excluded.grade, seen_at = excluded.seen_at
           RETURNING scope, kind, id = ANY ($2) AS "is_new!""#,
        tenant.uuid(),
        &ids,
        &grades,
        &kinds,
        &of,
        &numbers,
        &trends as &[Option<Value>],
        &remedies,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().filter(|row| row.is_new).map(|row| (row.scope, row.kind)).collect())
}

/// Closes those of tenants that are closed: nobody compares them any more. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn close_of_closed_tenants(conn: &mut PgConnection) -> Result<u64, Error> {
    let closed = sqlx::query!(
        "UPDATE alerts SET closed_at = clock_timestamp()
         WHERE closed_at IS NULL AND tenant_id IN (SELECT id FROM tenants WHERE status = 'closed')"
    );
    Ok(closed.execute(conn).await?.rows_affected())
}

/// Which alerts.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Open ones, or past ones; none: both.
    pub is_open: Option<bool>,
    /// Of this grade.
    pub grade: Option<String>,
    /// Of this tenant.
    pub tenant_id: Option<TenantId>,
    /// Below this id.
    pub after: Option<Uuid>,
    /// Alerts at most.
    pub limit: i64,
}

/// Alerts within reach, newest first.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, filter: &Filter, reach: &Reach) -> Result<Vec<Alert>, Error> {
    let within = reach.ids();
    let alerts = sqlx::query_as!(
        Alert,
        "SELECT a.id, grade, kind, tenant_id, t.unit, scope, numbers, trend, remedy, opened_at, seen_at, closed_at,
                acknowledged_at, acknowledged_by, note
         FROM alerts a JOIN tenants t ON t.id = a.tenant_id
         WHERE ($1::uuid[] IS NULL OR tenant_id = ANY ($1)) AND ($2::boolean IS NULL OR (closed_at IS NULL) = $2)
           AND ($3::text IS NULL OR grade = $3) AND ($4::uuid IS NULL OR tenant_id = $4) AND ($5::uuid IS NULL OR a.id < $5)
         ORDER BY a.id DESC LIMIT $6",
        within.as_deref(),
        filter.is_open,
        filter.grade,
        filter.tenant_id.map(TenantId::uuid),
        filter.after,
        filter.limit,
    );
    Ok(alerts.fetch_all(conn).await?)
}

/// An alert within reach.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: AlertId, reach: &Reach) -> Result<Alert, Error> {
    let within = reach.ids();
    let alert = sqlx::query_as!(
        Alert,
        "SELECT a.id, grade, kind, tenant_id, t.unit, scope, numbers, trend, remedy, opened_at, seen_at, closed_at,
                acknowledged_at, acknowledged_by, note
         FROM alerts a JOIN tenants t ON t.id = a.tenant_id WHERE a.id = $1 AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2))",
        id.uuid(),
        within.as_deref(),
    );
    Ok(alert.fetch_one(conn).await?)
}

/// Notes that somebody knows of it.
///
/// # Errors
/// Those of Postgres.
pub async fn acknowledge(conn: &mut PgConnection, id: AlertId, by: &str, note: &str) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE alerts SET acknowledged_at = clock_timestamp(), acknowledged_by = $2, note = $3 WHERE id = $1",
        id.uuid(),
        by,
        note,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How many are open, by grade: urgent, warning, hint.
///
/// # Errors
/// Those of Postgres.
pub async fn open(conn: &mut PgConnection) -> Result<[i64; 3], Error> {
    let row = sqlx::query!(
        r#"SELECT count(*) FILTER (WHERE grade = 'urgent') AS "urgent!", count(*) FILTER (WHERE grade = 'warning') AS "warning!",
                  count(*) FILTER (WHERE grade = 'hint') AS "hint!" FROM alerts WHERE closed_at IS NULL"#
    );
    let row = row.fetch_one(conn).await?;
    Ok([row.urgent, row.warning, row.hint])
}

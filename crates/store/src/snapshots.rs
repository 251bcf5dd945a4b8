//! Accounts as the comparisons saw them.

use domain::{Amount, Scope, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// What a comparison saw of an account in Redis.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Which.
    pub scope: Scope,
    /// Sum of the live freezes.
    pub frozen: Amount,
    /// How Redis' copy compared.
    pub verdict: &'static str,
}

/// Keeps what a comparison saw, with Postgres' own numbers as they are now.
///
/// # Errors
/// Those of Postgres.
pub async fn keep(conn: &mut PgConnection, seen: &[Seen]) -> Result<(), Error> {
    let scopes: Vec<String> = seen.iter().map(|seen| seen.scope.to_string()).collect();
    let frozen: Vec<i64> = seen.iter().map(|seen| seen.frozen.units()).collect();
    let verdicts: Vec<String> = seen.iter().map(|seen| seen.verdict.to_owned()).collect();
    sqlx::query!(
        "INSERT INTO snapshots (scope, at, tenant_id, version, total, used, spent_sum, frozen, verdict)
         SELECT a.scope, clock_timestamp(), a.tenant_id, a.version, a.total, a.used, a.spent_sum, x.frozen, x.verdict
         FROM unnest($1::text[], $2::bigint[], $3::text[]) AS x (scope, frozen, verdict) JOIN accounts a ON a.scope = x.scope",
        &scopes,
        &frozen,
        &verdicts,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A snapshot as stored; amounts in units.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The account.
    pub scope: String,
    /// When.
    pub at: OffsetDateTime,
    /// Whose.
    pub tenant_id: Uuid,
    /// `credit` or `token`.
    pub unit: String,
    /// Its version in Postgres.
    pub version: i64,
    /// Sum of the grants in force, or the budget.
    pub total: Option<i64>,
    /// Spent against it.
    pub used: i64,
    /// In flight.
    pub frozen: i64,
    /// Spent in all.
    pub spent_sum: String,
    /// How Redis' copy compared.
    pub verdict: String,
}

/// Which snapshots.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this account.
    pub scope: Option<String>,
    /// Of this tenant.
    pub tenant_id: Option<TenantId>,
    /// At or after.
    pub from: Option<OffsetDateTime>,
    /// Before.
    pub to: Option<OffsetDateTime>,
    /// Below this instant and scope.
    pub after: Option<(OffsetDateTime, String)>,
    /// Snapshots at most.
    pub limit: i64,
}

/// Snapshots within reach, newest first.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, filter: &Filter, reach: &Reach) -> Result<Vec<Kept>, Error> {
    let within = reach.ids();
    let (at, scope) = filter.after.clone().unzip();
    let kept = sqlx::query_as!(
        Kept,
        r#"SELECT scope, at, tenant_id, t.unit, s.version, total AS "total: i64", used AS "used!: i64", frozen AS "frozen!: i64",
                  spent_sum::text AS "spent_sum!", verdict
           FROM snapshots s JOIN tenants t ON t.id = s.tenant_id
           WHERE ($1::uuid[] IS NULL OR tenant_id = ANY ($1)) AND ($2::text IS NULL OR scope = $2)
             AND ($3::uuid IS NULL OR tenant_id = $3) AND ($4::timestamptz IS NULL OR at >= $4)
             AND ($5::timestamptz IS NULL OR at < $5) AND ($6::timestamptz IS NULL OR (at, scope) < ($6, $7::text))
           ORDER BY at DESC, scope DESC LIMIT $8"#,
        within.as_deref(),
        filter.scope,
        filter.tenant_id.map(TenantId::uuid),
        filter.from,
        filter.to,
        at,
        scope,
        filter.limit,
    );
    Ok(kept.fetch_all(conn).await?)
}

/// Removes snapshots older than `days` days, `most` at most.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_old(conn: &mut PgConnection, days: i32, most: i64) -> Result<u64, Error> {
    let removed = sqlx::query!(
        "DELETE FROM snapshots WHERE (scope, at) IN (SELECT scope, at FROM snapshots
             WHERE at < now() - make_interval(days => $1) ORDER BY at LIMIT $2)",
        days,
        most,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

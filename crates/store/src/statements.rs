//! Statements: what a tenant was given and charged, period by period, from the append-only rows.

use domain::TenantId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::Error;

/// What happened between two instants; sums in units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Put in force by grants, changes of them included.
    pub granted: i128,
    /// Settled.
    pub charged: i128,
    /// Left of grants that ended, less what requests frozen before still used of them.
    pub ended: i128,
    /// Settlements.
    pub settlements: i64,
}

/// A statement's line.
#[derive(Debug, Clone)]
pub struct Line {
    /// The project.
    pub project_id: Uuid,
    /// The key.
    pub key_id: Uuid,
    /// The model that was asked for.
    pub model: String,
    /// Requests.
    pub requests: i64,
    /// Settlements: requests and late corrections.
    pub settlements: i64,
    /// Tokens of prompts and answers.
    pub tokens: i64,
    /// Charged, in units.
    pub charge: String,
}

/// Sums before the first of `bounds` and then from each bound to the next: as many entries as there are bounds, which
/// ascend and are full quarters of an hour.
///
/// # Errors
/// Those of Postgres, or a sum beyond all bounds.
pub async fn sums(conn: &mut PgConnection, tenant: TenantId, bounds: &[OffsetDateTime]) -> Result<Vec<Sums>, Error> {
    let mut sums = vec![Sums::default(); bounds.len()];
    let end = bounds.last().copied().unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let charges = sqlx::query!(
        r#"SELECT width_bucket(quarter, $2::timestamptz[]) AS "bucket!", sum(charge)::text AS "charge!",
                  sum(settlements)::bigint AS "settlements!"
           FROM usage_quarters WHERE tenant_id = $1 AND quarter < $3 GROUP BY 1"#,
        tenant.uuid(),
        bounds,
        end,
    );
    for row in charges.fetch_all(&mut *conn).await? {
        let Some(of) = usize::try_from(row.bucket).ok().and_then(|index| sums.get_mut(index)) else { continue };
        (of.charged, of.settlements) = (units(&row.charge)?, row.settlements);
    }
    let grants = sqlx::query!(
        r#"SELECT width_bucket(at, $2::timestamptz[]) AS "bucket!",
                  coalesce(sum(delta) FILTER (WHERE kind IN ('started', 'adjusted')), 0)::text AS "granted!",
                  (coalesce(sum(unused), 0) - coalesce(sum(delta) FILTER (WHERE kind = 'unlapsed'), 0))::text AS "ended!"
           FROM grant_events WHERE tenant_id = $1 AND at < $3 GROUP BY 1"#,
        tenant.uuid(),
        bounds,
        end,
    );
    for row in grants.fetch_all(conn).await? {
        let Some(of) = usize::try_from(row.bucket).ok().and_then(|index| sums.get_mut(index)) else { continue };
        (of.granted, of.ended) = (units(&row.granted)?, units(&row.ended)?);
    }
    Ok(sums)
}

/// What was charged from `from` to `to` by project, key and model; both full quarters of an hour.
///
/// # Errors
/// Those of Postgres.
pub async fn lines(
    conn: &mut PgConnection,
    tenant: TenantId,
    from: OffsetDateTime,
    to: OffsetDateTime,
) -> Result<Vec<Line>, Error> {
    let lines = sqlx::query_as!(
        Line,
        r#"SELECT project_id, key_id, model, sum(requests)::bigint AS "requests!",
                  sum(settlements)::bigint AS "settlements!",
                  least(sum(prompt_tokens + completion_tokens), 9007199254740991)::bigint AS "tokens!",
                  sum(charge)::text AS "charge!"
           FROM usage_quarters WHERE tenant_id = $1 AND quarter >= $2 AND quarter < $3
           GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"#,
        tenant.uuid(),
        from,
        to,
    );
    Ok(lines.fetch_all(conn).await?)
}

fn units(text: &str) -> Result<i128, Error> {
    text.parse().map_err(|why| Error::corrupt("a sum of units", why))
}

//! What a tenant used, hour by hour.

use domain::TenantId;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::Error;

/// One hour.
#[derive(Debug, Clone, Copy)]
pub struct Hour {
    /// When it began, UTC.
    pub from: OffsetDateTime,
    /// Requests that ended in it, without those that were rolled back.
    pub calls: i64,
    /// What was charged, in units.
    pub charge: i64,
}

/// The hours of the day before an instant in which something was recorded, oldest first; the first and last in part.
///
/// # Errors
/// Those of Postgres.
pub async fn last_day(conn: &mut PgConnection, tenant: TenantId, until: OffsetDateTime) -> Result<Vec<Hour>, Error> {
    let rows = sqlx::query_as!(
        Hour,
        r#"SELECT date_trunc('hour', recorded_at, 'UTC') AS "from!",
                  count(*) FILTER (WHERE kind = 0 AND outcome <> 'rolled_back') AS "calls!", sum(amount)::bigint AS "charge!"
           FROM settlements WHERE tenant_id = $1 AND recorded_at > $2::timestamptz - interval '24 hours' AND recorded_at <= $2
           GROUP BY 1 ORDER BY 1"#,
        tenant.uuid(),
        until
    );
    Ok(rows.fetch_all(conn).await?)
}

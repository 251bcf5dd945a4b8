//! The platform's settings, and figures over all tenants.

use domain::TenantId;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// What an owner sets for the whole platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The sender of mails; none: the reconciler's configuration.
    pub mail_from: Option<String>,
    /// Of tenants that are created without their own.
    pub default_time_zone: String,
    /// Of tenants that are created without their own.
    pub default_thresholds: Vec<i32>,
    /// For how many days usage records are kept; none: for ever.
    pub keep_usage_records_days: Option<i32>,
    /// For how many days events and their deliveries are kept; none: for ever.
    pub keep_events_days: Option<i32>,
    /// For how many days snapshots of accounts are kept; none: for ever.
    pub keep_snapshots_days: Option<i32>,
    /// + 1 per change.
    pub version: i64,
}

/// Reads them.
///
/// # Errors
/// Those of Postgres.
pub async fn settings(conn: &mut PgConnection) -> Result<Settings, Error> {
    let row = sqlx::query_as!(
        Settings,
        "SELECT mail_from, default_time_zone, default_thresholds, keep_usage_records_days, keep_events_days, keep_snapshots_days,
                version
         FROM platform_settings"
    );
    Ok(row.fetch_one(conn).await?)
}

/// Writes them, if they still have the version that was read.
///
/// # Errors
/// `Stale` where they were changed meanwhile.
pub async fn update(conn: &mut PgConnection, settings: &Settings) -> Result<(), Error> {
    let updated = sqlx::query!(
        "UPDATE platform_settings SET mail_from = $2, default_time_zone = $3, default_thresholds = $4,
                keep_usage_records_days = $5, keep_events_days = $6, keep_snapshots_days = $7, updated_at = now(), version = version + 1
         WHERE version = $1",
        settings.version,
        settings.mail_from,
        settings.default_time_zone,
        &settings.default_thresholds,
        settings.keep_usage_records_days,
        settings.keep_events_days,
        settings.keep_snapshots_days,
    )
    .execute(conn)
    .await?;
    if updated.rows_affected() == 1 { Ok(()) } else { Err(Error::Stale) }
}

/// Removes usage records of requests that began more than `days` days ago, `most` at most. Settlements, allocations and the
/// sums stay: they are the books.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_usage_records(conn: &mut PgConnection, days: i32, most: i64) -> Result<u64, Error> {
    let removed = sqlx::query!(
        "DELETE FROM usage_records WHERE request_id IN (SELECT request_id FROM usage_records
             WHERE request_id < uuid_v7_floor(now() - make_interval(days => $1)) ORDER BY request_id LIMIT $2)",
        days,
        most,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

/// Removes events older than `days` days with their deliveries, `most` at most; none that is still being told.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_events(conn: &mut PgConnection, days: i32, most: i32) -> Result<i64, Error> {
    let removed = sqlx::query_scalar!("SELECT remove_old_events(now() - make_interval(days => $1), $2)", days, most);
    Ok(removed.fetch_one(conn).await?.unwrap_or_default())
}

/// A tenant that is near its end; amounts in units.
#[derive(Debug, Clone)]
pub struct Driest {
    /// Which.
    pub tenant_id: TenantId,
    /// Its name.
    pub name: String,
    /// `credit` or `token`.
    pub unit: String,
    /// Sum of its grants in force.
    pub total: i64,
    /// Spent against it.
    pub used: i64,
}

/// The active tenants that have the least left of their total, in percent, least first.
///
/// # Errors
/// Those of Postgres.
pub async fn driest(conn: &mut PgConnection, limit: i64) -> Result<Vec<Driest>, Error> {
    let rows = sqlx::query!(
        r#"SELECT t.id, t.name, t.unit, a.total AS "total!: i64", a.used AS "used!: i64"
           FROM accounts a JOIN tenants t ON t.id = a.tenant_id
           WHERE a.level = 'tenant' AND a.total > 0 AND t.status = 'active'
           ORDER BY (a.total - a.used)::numeric / a.total, t.id LIMIT $1"#,
        limit,
    )
    .fetch_all(conn)
    .await?;
    let driest = |(id, name, unit, total, used): (Uuid, String, String, i64, i64)| Driest {
        tenant_id: TenantId::from_uuid(id),
        name,
        unit,
        total,
        used,
    };
    Ok(rows.into_iter().map(|row| driest((row.id, row.name, row.unit, row.total, row.used))).collect())
}

/// How many tenants, projects and keys there are that may call.
///
/// # Errors
/// Those of Postgres.
pub async fn active(conn: &mut PgConnection) -> Result<(i64, i64, i64), Error> {
    let row = sqlx::query!(
        r#"SELECT (SELECT count(*) FROM tenants WHERE status = 'active') AS "tenants!",
                  (SELECT count(*) FROM projects WHERE status = 'active') AS "projects!",
                  (SELECT count(*) FROM api_keys WHERE status = 'active') AS "keys!""#
    );
    let row = row.fetch_one(conn).await?;
    Ok((row.tenants, row.projects, row.keys))
}

/// How long the slowest outcome that was recorded within the last 5 minutes waited from its request's end, in milliseconds.
///
/// # Errors
/// Those of Postgres.
pub async fn record_lag_ms(conn: &mut PgConnection) -> Result<i64, Error> {
    let lag = sqlx::query_scalar!(
        r#"SELECT (extract(epoch FROM greatest(coalesce(max(recorded_at - ended_at), interval '0'), interval '0')) * 1000)::bigint AS "lag!"
           FROM usage_records WHERE request_id >= uuid_v7_floor(now() - interval '15 minutes')
             AND recorded_at > now() - interval '5 minutes'"#
    );
    Ok(lag.fetch_one(conn).await?)
}

/// The server's version, such as `16.4`.
///
/// # Errors
/// Those of Postgres.
pub async fn postgres_version(conn: &mut PgConnection) -> Result<String, Error> {
    let version = sqlx::query_scalar!(r#"SELECT current_setting('server_version') AS "version!""#);
    Ok(version.fetch_one(conn).await?)
}

//! `GET /system`.

use std::time::{Duration, Instant};

use api_types::platform::{Server, Service, System};
use time::OffsetDateTime;

use crate::auth::Call;
use crate::auth::policy::ReadPlatform;
use crate::error::Result;
use crate::reply::Reply;

/// How long Redis is waited for.
const WITHIN: Duration = Duration::from_millis(800);

/// Which processes serve, and how Redis and PostgreSQL fare.
#[utoipa::path(get, path = "/system", operation_id = "read_system", tag = "platform",
    responses((status = 200, description = "The state of things.", body = System)))]
pub async fn handler(mut call: Call<ReadPlatform>) -> Result<Reply<System>> {
    let asked = Instant::now();
    let version = store::platform::postgres_version(&mut call.tx).await?;
    let postgres = Server { state: "up".to_owned(), version: Some(version), latency_ms: ms(asked.elapsed()) };
    let asked = Instant::now();
    let redis = match tokio::time::timeout(WITHIN, call.app.quota().redis_version()).await {
        Ok(Ok(version)) => Server { state: "up".to_owned(), version, latency_ms: ms(asked.elapsed()) },
        Ok(Err(_)) | Err(_) => Server { state: "away".to_owned(), version: None, latency_ms: ms(asked.elapsed()) },
    };
    let mut services: Vec<Service> = store::reports::all(&mut call.tx).await?.into_iter().map(service).collect();
    services.insert(
        0,
        Service {
            name: "admin_api".to_owned(),
            id: call.app.quota().id().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state: "up".to_owned(),
            seen_at: OffsetDateTime::now_utc().into(),
        },
    );
    let outbox_lag_ms = store::outbox::lag_ms(&mut call.tx).await?;
    let record_lag_ms = store::platform::record_lag_ms(&mut call.tx).await?;
    let seconds = |ms: i64| u64::try_from(ms / 1000).unwrap_or_default();
    let (outbox_lag_s, record_lag_s) = (seconds(outbox_lag_ms), seconds(record_lag_ms));
    Ok(Reply::ok(System { services, redis, postgres, outbox_lag_s, record_lag_s }))
}

fn service(report: store::reports::Report) -> Service {
    let state = if report.is_fresh { "up" } else { "silent" };
    let (name, id, version) = (report.name, report.id, report.version);
    Service { name, id, version, state: state.to_owned(), seen_at: report.at.into() }
}

fn ms(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

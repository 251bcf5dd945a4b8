//! Start and end of the process.

use anyhow::Context as _;
use domain::api_key;
use quota::Quota;
use rand::distr::{Alphanumeric, SampleString as _};
use store::Store;
use time::OffsetDateTime;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Config;
use crate::{router, server};

const NAME: &str = "tollgate-admin-api";
/// Connections of the quota's own pool: reads, and the short transactions beside a call's own.
const QUOTA_CONNECTIONS: u32 = 8;
const SETUP_TOKEN_DAYS: i64 = 7;

/// Runs the service until SIGTERM or SIGINT.
///
/// # Errors
/// Names the setting that is wrong, or what can't be reached.
pub async fn run(config: Config) -> anyhow::Result<()> {
    metrics_exporter_prometheus::PrometheusBuilder::new()
        .with_http_listener(config.metrics_listen)
        .install()
        .with_context(|| {
            format!("TOLLGATE_ADMIN_METRICS_LISTEN (--metrics-listen): can't listen on {}", config.metrics_listen)
        })?;
    let app = tokio::select! {
        app = connect(config) => app?,
        ended = ended() => return ended,
    };
    print_setup_token(&app).await?;
    let listen = app.config().listen;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("TOLLGATE_ADMIN_LISTEN (--listen): can't listen on {listen}"))?;
    tracing::info!(%listen, "ready");
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server::serve(listener, router::router(app)?, stop.clone()));
    ended().await?;
    tracing::info!("stopping: running calls are finished");
    stop.cancel();
    serving.await.context("the server's task failed")
}

/// Connects to Postgres and Redis.
///
/// # Errors
/// Names the setting that is wrong, or what can't be reached.
pub async fn connect(config: Config) -> anyhow::Result<App> {
    let mut main = store::Config::new(&config.database_url, NAME);
    main.max_connections = config.database_connections;
    main.plans_each_call = true;
    let mut side = store::Config::new(&config.database_url, "tollgate-admin-api quota");
    side.max_connections = QUOTA_CONNECTIONS;
    let wrong = "DATABASE_URL (--database-url): PostgreSQL can't be reached";
    let store = Store::connect_waiting(&main).await.context(wrong)?;
    let quota_store = Store::connect_waiting(&side).await.context(wrong)?;
    let name = format!("admin-{}", uuid::Uuid::now_v7().simple());
    let quota = Quota::observe(quota::Config::new(name, &config.redis_url), quota_store)
        .await
        .context("REDIS_URL (--redis-url): Redis can't be used")?;
    App::new(config, store, quota)
}

/// While the first administrator is missing, each start prints a one-time token for creating them.
async fn print_setup_token(app: &App) -> anyhow::Result<()> {
    let mut tx = app.store().begin().await?;
    if store::users::owner_exists(&mut tx).await? {
        return Ok(());
    }
    let token = Alphanumeric.sample_string(&mut rand::rng(), 32);
    let expires_at = OffsetDateTime::now_utc() + time::Duration::days(SETUP_TOKEN_DAYS);
    store::setup::add_token(&mut tx, &api_key::hash(app.secret(), &token), expires_at).await?;
    tx.commit().await.map_err(store::Error::from)?;
    tracing::warn!("there is no administrator yet: create the first one at /setup with the one-time token {token}");
    Ok(())
}

async fn ended() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        ended = tokio::signal::ctrl_c() => Ok(ended?),
    }
}

//! The binary `tollgate-admin-api`.

use clap::Parser as _;
use tollgate_admin_api::config::Config;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let config = Config::parse();
    let filter = EnvFilter::try_new(&config.log)
        .map_err(|error| anyhow::anyhow!("TOLLGATE_LOG (--log) is not a log filter such as info: {error}"))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).init();
    tollgate_admin_api::run(config).await
}

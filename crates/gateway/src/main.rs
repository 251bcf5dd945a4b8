//! The program `tollgate-gateway`.

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tollgate_gateway::config::Config;
use tollgate_gateway::server::{self, Server};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let config = Config::parse();
    let filter = tracing_subscriber::EnvFilter::try_new(&config.log)
        .map_err(|error| anyhow::anyhow!("TOLLGATE_LOG: {error}"))?;
    tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter).with_writer(std::io::stderr).init();
    server::serve_metrics(&config)?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let server = tokio::select! {
        started = Server::start(config) => started?,
        _ = terminate.recv() => return Ok(()),
        _ = interrupt.recv() => return Ok(()),
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    server.stop().await;
    Ok(())
}

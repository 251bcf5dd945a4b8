//! The program `sim-upstream`.

use std::{io::Write as _, net::SocketAddr};

use anyhow::Context as _;
use clap::Parser;
use tokio::{net::TcpListener, signal::unix};
use tollgate_sim_upstream::{Config, Sim, serve, warm_up};

/// The end of --help: what a message can say.
const SCRIPT: &str = include_str!("script.txt");

/// A simulated model provider that speaks OpenAI's and Anthropic's dialects.
#[derive(Debug, Parser)]
#[command(name = "sim-upstream", version, after_help = SCRIPT)]
struct Args {
    /// Address to listen on; port 0 takes a free one. The bound URL is printed.
    #[arg(long, env = "SIM_UPSTREAM_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Key that callers must send (as bearer token or x-api-key). None: any caller is served.
    #[arg(long, env = "SIM_UPSTREAM_API_KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// Names that GET /v1/models lists, separated by commas. Any model is served.
    #[arg(long, env = "SIM_UPSTREAM_MODELS", value_delimiter = ',')]
    models: Vec<String>,
    /// How many served answers the ledger keeps.
    #[arg(long, env = "SIM_UPSTREAM_LEDGER_LINES", default_value_t = 100_000)]
    ledger_lines: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()))
        .init();
    let args = Args::parse();
    // Every stream is a descriptor, and the usual limit is 1 024.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "the limit of open files stays as it is: thousands of streams may not fit");
    }
    let mut config = Config { api_key: args.api_key, ledger_lines: args.ledger_lines, ..Config::default() };
    if !args.models.is_empty() {
        config.models = args.models;
    }
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("can't listen on {}: give --listen another address", args.listen))?;
    let address = listener.local_addr().context("the listener has no address")?;
    tokio::task::spawn_blocking(warm_up).await.context("the vocabulary can't be loaded")?;
    // The only line on standard output: whoever starts the program reads the URL from it.
    writeln!(std::io::stdout(), "http://{address}").context("can't print the URL")?;
    let mut terminate = unix::signal(unix::SignalKind::terminate()).context("can't listen for SIGTERM")?;
    tokio::select! {
        served = serve(listener, Sim::new(config)) => served.context("serving ended"),
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted.context("can't listen for an interrupt"),
    }
}

//! The program `mail-catcher`.

use std::{io::Write as _, net::SocketAddr};

use anyhow::Context as _;
use clap::Parser;
use tokio::{net::TcpListener, signal::unix};
use tollgate_mail_catcher::{Config, serve};

/// A mail server that keeps what it gets and shows it over HTTP: GET /messages, GET /messages/{id}, DELETE /messages,
/// and a list for people at /.
#[derive(Debug, Parser)]
#[command(name = "mail-catcher", version)]
struct Args {
    /// Address to take mail on; port 0 takes a free one. The bound URL is printed on the first line.
    #[arg(long, env = "MAIL_CATCHER_SMTP_LISTEN", default_value = "127.0.0.1:0")]
    smtp_listen: SocketAddr,
    /// Address to show mail on; port 0 takes a free one. The bound URL is printed on the second line.
    #[arg(long, env = "MAIL_CATCHER_HTTP_LISTEN", default_value = "127.0.0.1:0")]
    http_listen: SocketAddr,
    /// Largest message, in bytes.
    #[arg(long, env = "MAIL_CATCHER_MAX_MESSAGE_BYTES", default_value_t = Config::default().max_message_bytes)]
    max_message_bytes: usize,
    /// How many messages are kept.
    #[arg(long, env = "MAIL_CATCHER_MAX_MESSAGES", default_value_t = Config::default().max_messages)]
    max_messages: usize,
}

async fn bind(address: SocketAddr, flag: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("can't listen on {address}: give {flag} another address"))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()))
        .init();
    let args = Args::parse();
    let smtp = bind(args.smtp_listen, "--smtp-listen").await?;
    let http = bind(args.http_listen, "--http-listen").await?;
    let (smtp_address, http_address) = (smtp.local_addr()?, http.local_addr()?);
    // The only lines on standard output: whoever starts the program reads the URLs from them.
    writeln!(std::io::stdout(), "smtp://{smtp_address}\nhttp://{http_address}").context("can't print the URLs")?;
    let config = Config { max_message_bytes: args.max_message_bytes, max_messages: args.max_messages };
    let mut terminate = unix::signal(unix::SignalKind::terminate()).context("can't listen for SIGTERM")?;
    tokio::select! {
        served = serve(smtp, http, config) => served.context("serving ended"),
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted.context("can't listen for an interrupt"),
    }
}

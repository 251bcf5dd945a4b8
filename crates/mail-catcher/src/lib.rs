//! A mail server that keeps what it gets instead of delivering it, for development and tests.
//!
//! `smtp` talks to senders, `inbox` keeps messages in memory, `http` shows them. Nothing ever leaves it: it has no queue and
//! no client. To support another SMTP command, add it to `smtp::command::Command`.

#![forbid(unsafe_code)]

mod http;
mod inbox;
mod smtp;

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{net::TcpListener, task::JoinHandle};

pub use crate::inbox::{Inbox, Message};

/// How the catcher is set up.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Largest message in bytes; told to senders and enforced.
    pub max_message_bytes: usize,
    /// How many messages are kept; the oldest goes first.
    pub max_messages: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { max_message_bytes: 10 * 1024 * 1024, max_messages: 1_000 }
    }
}

/// Takes mail on `smtp` and shows it on `http` until the future is dropped.
///
/// # Errors
/// Where a listener fails for good.
pub async fn serve(smtp: TcpListener, http: TcpListener, config: Config) -> io::Result<()> {
    let inbox = Arc::new(Inbox::new(config.max_messages));
    serve_inbox(smtp, http, config, inbox).await
}

async fn serve_inbox(smtp: TcpListener, http: TcpListener, config: Config, inbox: Arc<Inbox>) -> io::Result<()> {
    let pages = axum::serve(http, http::router(Arc::clone(&inbox)));
    tokio::select! {
        ended = smtp::run(smtp, config, inbox) => ended,
        ended = async { pages.await } => ended,
    }
}

/// A catcher running in this process, for tests. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    smtp: SocketAddr,
    http: SocketAddr,
    inbox: Arc<Inbox>,
    task: JoinHandle<io::Result<()>>,
}

impl Running {
    /// Starts a catcher on free ports of the loopback interface.
    ///
    /// # Errors
    /// Where no port can be bound.
    pub async fn start(config: Config) -> io::Result<Self> {
        let smtp_listener = TcpListener::bind("127.0.0.1:0").await?;
        let http_listener = TcpListener::bind("127.0.0.1:0").await?;
        let (smtp, http) = (smtp_listener.local_addr()?, http_listener.local_addr()?);
        let inbox = Arc::new(Inbox::new(config.max_messages));
        let task = tokio::spawn(serve_inbox(smtp_listener, http_listener, config, Arc::clone(&inbox)));
        Ok(Self { smtp, http, inbox, task })
    }

    /// Where mail is sent to.
    #[must_use]
    pub fn smtp_address(&self) -> SocketAddr {
        self.smtp
    }

    /// Base URL of the pages, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.http)
    }

    /// What came in.
    #[must_use]
    pub fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

//! A simulated model provider, for development and tests.
//!
//! It speaks OpenAI's and Anthropic's dialects on their usual routes, answers what a script in the last user message
//! tells it to (or a short text), and keeps books of what it served, as ground truth for whoever checks a gateway in
//! front of it. It knows nothing of that gateway: no tenants, no prices, no quota.
//!
//! A request's way: `server` reads it, `plan` turns it into a rendered `reel` (through `ask`, `script`, `answer` and a
//! `dialect`), `playback` plays that with its pauses, holds and faults, and `book` gets the line. To add a route, add it to
//! `plan::Route` with a `read` and a rendering; to add a fault, start at `script::Faults`.

#![forbid(unsafe_code)]

mod answer;
mod ask;
mod audio;
mod book;
mod control;
mod dialect;
mod form;
mod others;
mod plan;
mod playback;
mod reel;
mod script;
mod server;
mod stage;
mod tokens;
mod wire;

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{net::TcpListener, task::JoinHandle};

pub use crate::{
    book::{Active, ActiveEntry, Book, Ending, Entry},
    tokens::{Vocabulary, warm_up, words},
};

/// How the provider is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The key that callers must send, if any, as a bearer token or in `x-api-key`.
    pub api_key: Option<String>,
    /// Names that `GET /v1/models` lists. Any model is served.
    pub models: Vec<String>,
    /// How many lines the ledger keeps; older ones are forgotten.
    pub ledger_lines: usize,
}

impl Default for Config {
    fn default() -> Self {
        let models = ["sim-small", "sim-large", "gpt-4o-mini", "text-embedding-3-small"];
        Self { api_key: None, models: models.map(str::to_owned).to_vec(), ledger_lines: 100_000 }
    }
}

/// A provider's state; clones share it.
#[derive(Clone, Debug)]
pub struct Sim {
    book: Arc<Book>,
    config: Arc<Config>,
}

impl Sim {
    /// A provider with empty books.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { book: Arc::new(Book::new(config.ledger_lines)), config: Arc::new(config) }
    }

    /// The books: ledger, active answers, hold and release.
    #[must_use]
    pub fn book(&self) -> &Arc<Book> {
        &self.book
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

/// Serves on `listener` until the future is dropped.
///
/// # Errors
/// Where an accepted socket can't be set up.
pub async fn serve(listener: TcpListener, sim: Sim) -> io::Result<()> {
    server::run(listener, sim).await
}

/// A provider running in this process, for tests. Dropping it stops accepting.
#[derive(Debug)]
pub struct Running {
    sim: Sim,
    address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
}

impl Running {
    /// Starts a provider on a free port of the loopback interface. Its vocabulary is loaded first, so that no answer is
    /// late for it.
    ///
    /// # Errors
    /// Where no port can be bound.
    pub async fn start(config: Config) -> io::Result<Self> {
        tokio::task::spawn_blocking(warm_up).await.map_err(io::Error::other)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let sim = Sim::new(config);
        let task = tokio::spawn(serve(listener, sim.clone()));
        Ok(Self { sim, address, task })
    }

    /// Its base URL, without a slash at the end and without `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its books.
    #[must_use]
    pub fn book(&self) -> &Arc<Book> {
        self.sim.book()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

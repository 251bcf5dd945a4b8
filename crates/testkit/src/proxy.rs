//! A TCP proxy that delays, cuts, swallows and refuses: put it between two parts to see how they take it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What happens to bytes. Holds for connections that exist and for new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// They pass.
    #[default]
    Forward,
    /// They pass after this time, in each direction.
    Delay(Duration),
    /// Nothing passes and nothing is closed; new connections are accepted. What was read before the mode ends is lost.
    BlackHole,
    /// Requests pass, replies are swallowed.
    LoseReplies,
}

/// Forwards a loopback port to an address. Ends, with all connections, when dropped.
#[derive(Debug)]
pub struct TcpProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    target: watch::Sender<SocketAddr>,
    mode: watch::Sender<Mode>,
    /// Connections end when the number changes.
    cuts: watch::Sender<u64>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    connections: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    round_trips: AtomicU64,
}

impl TcpProxy {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(target: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            target: watch::Sender::new(target),
            mode: watch::Sender::new(Mode::Forward),
            cuts: watch::Sender::new(0),
            counts: Counts::default(),
        });
        let acceptor = Some(tokio::spawn(accept(listener, Arc::clone(&shared))));
        Ok(Self { address, shared, acceptor })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes what happens to bytes from now on.
    pub fn set_mode(&self, mode: Mode) {
        self.shared.mode.send_replace(mode);
    }

    /// New connections go there from now on.
    pub fn set_target(&self, target: SocketAddr) {
        self.shared.target.send_replace(target);
    }

    /// Resets every connection, once; new ones are served.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|count| *count += 1);
    }

    /// Stops listening, so that connects are refused, and resets every connection.
    pub async fn refuse(&mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.abort();
            // Its end closes the listener.
            let _ = acceptor.await;
        }
        self.cut();
    }

    /// Listens again after [`TcpProxy::refuse`], on the same port.
    ///
    /// # Errors
    /// When another process has taken the port.
    pub async fn accept_again(&mut self) -> anyhow::Result<()> {
        self.refuse().await;
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(self.address)?;
        let listener = socket.listen(1024).context("can't listen again")?;
        self.acceptor = Some(tokio::spawn(accept(listener, Arc::clone(&self.shared))));
        Ok(())
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.shared.counts.connections.load(Ordering::SeqCst)
    }

    /// Bytes passed on to the target so far.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.shared.counts.sent.load(Ordering::SeqCst)
    }

    /// Bytes passed back to clients so far.
    #[must_use]
    pub fn bytes_received(&self) -> u64 {
        self.shared.counts.received.load(Ordering::SeqCst)
    }

    /// How often a connection's client spoke after its server had spoken, or first. A pipeline counts once; so do
    /// requests sent on one connection while another's reply is under way.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.shared.counts.round_trips.load(Ordering::SeqCst)
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.abort();
        }
        self.cut();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        shared.counts.connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(serve(client, Arc::clone(&shared)));
    }
}

async fn serve(client: TcpStream, shared: Arc<Shared>) {
    let mut cuts = shared.cuts.subscribe();
    cuts.mark_unchanged();
    // Closing with unsent data or with this option sends a reset, as a process that was killed does.
    let _ = client.set_zero_linger();
    let relay = async {
        pass(&shared).await;
        let target = *shared.target.borrow();
        let server = TcpStream::connect(target).await?;
        let _ = server.set_zero_linger();
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (client_read, client_write) = client.into_split();
        let (server_read, server_write) = server.into_split();
        let turn = Turn::default();
        tokio::try_join!(
            pump(client_read, server_write, Direction::Request, &shared, &turn),
            pump(server_read, client_write, Direction::Reply, &shared, &turn),
        )?;
        std::io::Result::Ok(())
    };
    tokio::select! {
        _ = relay => {}
        _ = cuts.changed() => {}
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Request,
    Reply,
}

/// Who spoke last on a connection: odd after the client.
#[derive(Default)]
struct Turn(AtomicU64);

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    direction: Direction,
    shared: &Shared,
    turn: &Turn,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            pass(shared).await;
            return to.shutdown().await;
        }
        let mode = *shared.mode.borrow();
        match (mode, direction) {
            (Mode::BlackHole, _) => {
                pass(shared).await;
                continue;
            }
            (Mode::LoseReplies, Direction::Reply) => continue,
            (Mode::Delay(time), _) => tokio::time::sleep(time).await,
            (Mode::Forward | Mode::LoseReplies, _) => {}
        }
        to.write_all(&buffer[..length]).await?;
        let passed = u64::try_from(length).unwrap_or(u64::MAX);
        let counts = &shared.counts;
        match direction {
            Direction::Request => {
                counts.sent.fetch_add(passed, Ordering::SeqCst);
                if turn.0.swap(1, Ordering::SeqCst) == 0 {
                    counts.round_trips.fetch_add(1, Ordering::SeqCst);
                }
            }
            Direction::Reply => {
                counts.received.fetch_add(passed, Ordering::SeqCst);
                turn.0.store(0, Ordering::SeqCst);
            }
        }
    }
}

/// Waits while the mode is a black hole.
async fn pass(shared: &Shared) {
    let mut mode = shared.mode.subscribe();
    // The sender lives in `shared`.
    let _ = mode.wait_for(|mode| *mode != Mode::BlackHole).await;
}

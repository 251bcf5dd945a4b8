//! The accept loop: bounds on connections, on headers and on idling, which a bare `axum::serve` does not have.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::tls::Tls;

/// Pause after a failed accept (no file descriptors left): the loop must neither spin nor end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Bounds of one listener.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Connections at once; more wait in the kernel's queue.
    pub connections: usize,
    /// For a request's head to arrive complete, from the connection's or the last reply's end.
    pub header_timeout: Duration,
    /// Bytes of a request's head.
    pub header_bytes: usize,
}

/// Where callers come in.
pub struct Listener {
    /// The socket.
    pub tcp: TcpListener,
    /// Set where they speak TLS.
    pub tls: Option<Arc<Tls>>,
}

/// Accepts connections and serves them until `stop`; then tells each connection to end after its running requests.
/// Returns at once after `stop`; `connections` counts those still open.
pub async fn serve(
    listener: Listener,
    router: Router,
    bounds: Bounds,
    stop: CancellationToken,
    connections: TaskTracker,
) {
    let builder = Arc::new(builder(bounds));
    let permits = Arc::new(Semaphore::new(bounds.connections));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = accept(&listener.tcp, &permits) => accepted,
        };
        let Some((stream, address, permit)) = accepted else { continue };
        let (builder, router, stop) = (Arc::clone(&builder), router.clone(), stop.clone());
        let acceptor = listener.tls.as_ref().map(|tls| tls.acceptor());
        connections.spawn(async move {
            metrics::gauge!("tollgate_gateway_connections").increment(1);
            // Without it, the small writes of a stream on a kept connection wait for the client's delayed acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY refused");
            }
            let within = bounds.header_timeout;
            match acceptor {
                None => connection(&builder, stream, address, router, within, stop).await,
                Some(acceptor) => match tokio::time::timeout(within, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => connection(&builder, stream, address, router, within, stop).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                    Err(_) => tracing::debug!("a TLS handshake took too long"),
                },
            }
            metrics::gauge!("tollgate_gateway_connections").decrement(1);
            drop(permit);
        });
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => Some((stream, address, permit)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

fn builder(bounds: Bounds) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.header_timeout)
        .max_buf_size(bounds.header_bytes.max(8 * 1024));
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20))
        .max_concurrent_streams(256)
        .max_header_list_size(u32::try_from(bounds.header_bytes).unwrap_or(u32::MAX));
    builder
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    builder: &Builder<TokioExecutor>,
    stream: S,
    address: SocketAddr,
    router: Router,
    first_request_within: Duration,
    stop: CancellationToken,
) {
    let begun = Arc::new(AtomicBool::new(false));
    let service = {
        let begun = Arc::clone(&begun);
        service_fn(move |mut request: Request<Incoming>| {
            begun.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(ConnectInfo(address));
            let router = router.clone();
            async move {
                Ok::<Response<axum::body::Body>, Infallible>(
                    router.oneshot(request.map(axum::body::Body::new)).await.unwrap_or_else(|never| match never {}),
                )
            }
        })
    };
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    // hyper's own time-out begins only once the protocol is known; a client that says nothing at all is ended here.
    let mut silence = std::pin::pin!(tokio::time::sleep(first_request_within));
    let (mut waiting, mut stopping) = (true, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            () = silence.as_mut(), if waiting => {
                waiting = false;
                if !begun.load(Ordering::Relaxed) {
                    return;
                }
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

//! The accept loop, with a bound on everything that a client can drag out, and an end that finishes what runs.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

const HEADERS_WITHIN: Duration = Duration::from_secs(10);
const FINISH_WITHIN: Duration = Duration::from_secs(20);
const HEADER_BYTES: usize = 64 * 1024;

/// Serves until `stop`, then waits for running calls.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => connection(stream, peer, &router, &graceful),
                Err(cause) => {
                    // Out of file descriptors, most likely: give running calls a moment to return some.
                    tracing::warn!(%cause, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            () = stop.cancelled() => break,
        }
    }
    drop(listener);
    if tokio::time::timeout(FINISH_WITHIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("calls that did not end in time were cut off");
    }
}

fn connection(stream: TcpStream, peer: SocketAddr, router: &Router, graceful: &GracefulShutdown) {
    let service = router.clone().map_request(move |mut request: http::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(axum::body::Body::new)
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(HEADER_BYTES);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(100).max_header_list_size(64 * 1024);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).into_owned();
    let watched = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(cause) = watched.await {
            tracing::debug!(%cause, %peer, "the connection ended early");
        }
    });
}

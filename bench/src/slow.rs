//! Sockets that never finish their head, beside requests that work.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connection::Connection;
use crate::latency::Latency;
use crate::report::Report;
use crate::scene::Scene;

const SOCKETS: usize = 1_000;

/// 1 000 slow sockets: normal requests go on beside them, and each is ended at the gateway's header time-out.
///
/// # Errors
/// A normal request that was not answered 200.
pub async fn measure(scene: &Scene, report: &mut Report) -> anyhow::Result<()> {
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        let mut socket = TcpStream::connect(scene.gateway).await?;
        socket.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ").await?;
        sockets.push(socket);
    }
    let opened = Instant::now();
    let (mut connection, mut latency) = (Connection::open(scene.gateway).await?, Latency::new()?);
    let aim = scene.short(scene.gateway);
    for _ in 0..500 {
        let began = Instant::now();
        connection.call(&aim).await?;
        latency.add(began.elapsed());
    }
    let quantiles = latency.quantiles();
    let mut ended = 0;
    for mut socket in sockets {
        let mut rest = Vec::new();
        let left = Duration::from_secs(20).saturating_sub(opened.elapsed());
        if tokio::time::timeout(left.max(Duration::from_millis(1)), socket.read_to_end(&mut rest)).await.is_ok() {
            ended += 1;
        }
    }
    ensure!(ended > 0, "no slow socket was ended");
    report.raw("slow", json!({"sockets": SOCKETS, "ended": ended, "beside": quantiles}));
    let beside = format!("p50 {} us, p99 {} us", quantiles.p50_us, quantiles.p99_us);
    report.line("1 000 slow sockets: requests beside them", beside, None);
    let text = format!("{ended} of {SOCKETS}");
    report.line("1 000 slow sockets: ended by the gateway within 20 s", text, Some(ended == SOCKETS));
    Ok(())
}

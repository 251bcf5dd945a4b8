//! Streams: the time to the first chunk and the CPU of two hundred, the memory of thousands.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::future::try_join_all;
use serde::Serialize;
use serde_json::json;

use crate::closed::as_float;
use crate::connection::Connection;
use crate::latency::{Latency, Quantiles};
use crate::machine::{cpu_ms, resident_bytes};
use crate::report::{Bound, Report};
use crate::scene::Scene;

const AT_ONCE: usize = 200;
const WAVES: usize = 4;
const SCRIPT: &str = "out=50 chunks=50 delay_ms=20";

#[derive(Debug, Clone, Serialize)]
struct Run {
    first_chunk: Quantiles,
    cpu_ms_per_stream: f64,
}

/// 200 streams at once, 50 chunks each, 20 ms apart: directly, through nginx, through the gateway.
///
/// # Errors
/// A stream that did not end well.
pub async fn measure(scene: &Scene, report: &mut Report) -> anyhow::Result<()> {
    run(scene, scene.gateway, scene.gateway_pid, 1).await?;
    let direct = run(scene, scene.simulated, scene.gateway_pid, WAVES).await?;
    let plain = run(scene, scene.stream_proxy.address, scene.stream_proxy.pid()?, WAVES).await?;
    let ours = run(scene, scene.gateway, scene.gateway_pid, WAVES).await?;
    report.raw("streams", json!({"direct": direct, "nginx": plain, "gateway": ours}));
    let added = ours.first_chunk.p99_us.saturating_sub(direct.first_chunk.p99_us);
    report.milliseconds(
        "200 streams: added time to the first chunk, p99",
        as_float(added) / 1000.0,
        Bound::AtMost(5.0),
    );
    let cpu = format!("{:.2} ms, {:.2} ms", ours.cpu_ms_per_stream, plain.cpu_ms_per_stream);
    report.line("200 streams: CPU per stream, gateway and nginx", cpu, None);
    let ratio = ours.cpu_ms_per_stream / plain.cpu_ms_per_stream;
    report.ratio("200 streams: CPU per stream, against nginx's", ratio, Bound::AtMost(2.5));
    Ok(())
}

async fn run(scene: &Scene, address: SocketAddr, pid: u32, waves: usize) -> anyhow::Result<Run> {
    let aim = scene.streamed(address, SCRIPT);
    let mut connections = try_join_all((0..AT_ONCE).map(|_| Connection::open(address))).await?;
    let (mut latency, before) = (Latency::new()?, cpu_ms(pid)?);
    for _ in 0..waves {
        let streams = connections.iter_mut().enumerate().map(|(number, connection)| {
            let aim = &aim;
            async move {
                // Spread over the gap between two chunks: as many clients would be.
                tokio::time::sleep(Duration::from_micros(u64::try_from(number).unwrap_or_default() * 1000)).await;
                connection.stream(aim, |_| ()).await
            }
        });
        try_join_all(streams).await?.into_iter().for_each(|first| latency.add(first));
    }
    let streams = as_float(u64::try_from(AT_ONCE * waves)?);
    Ok(Run { first_chunk: latency.quantiles(), cpu_ms_per_stream: as_float(cpu_ms(pid)? - before) / streams })
}

/// Thousands of streams at once: what each costs in the gateway's memory, and that nothing stays in flight.
///
/// # Errors
/// A stream that could not be opened.
pub async fn many(scene: &Scene, count: usize, report: &mut Report) -> anyhow::Result<()> {
    let before = resident_bytes(scene.gateway_pid)?;
    let began = Instant::now();
    let tasks = open(scene, count, "out=400 chunks=400 delay_ms=2000").await?;
    let took = began.elapsed();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let cpu = cpu_ms(scene.gateway_pid)?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let cores = as_float(cpu_ms(scene.gateway_pid)? - cpu) / 5_000.0;
    let bytes = resident_bytes(scene.gateway_pid)?.saturating_sub(before);
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    let left = Instant::now();
    let in_flight = scene.in_flight(Duration::from_secs(60)).await?;
    let per_stream = as_float(bytes) / as_float(u64::try_from(count)?) / 1000.0;
    report.raw("many", json!({"streams": count, "bytes": bytes, "cores": cores, "opened_in_ms": took.as_millis(), "in_flight_after": in_flight, "released_in_ms": left.elapsed().as_millis()}));
    report.value(&format!("{count} streams: memory of each"), per_stream, "kB", Bound::AtMost(40.0));
    report.line(&format!("{count} streams: cores used by the gateway"), format!("{cores:.2}"), None);
    let after = format!("{in_flight} after {:.1} s", left.elapsed().as_secs_f64());
    report.line("all clients gone: in flight", after, Some(in_flight == "0.00000000"));
    Ok(())
}

/// Clients that all leave at once: how long until the provider sees the last of its streams closed.
///
/// # Errors
/// A stream that could not be opened, or one that stays open.
pub async fn leaving(scene: &Scene, report: &mut Report) -> anyhow::Result<()> {
    const CLIENTS: usize = 500;
    let tasks = open(scene, CLIENTS, "out=2000 chunks=1000 delay_ms=500").await?;
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    let left = Instant::now();
    while scene.served_now().await? > 0 {
        ensure!(left.elapsed() < Duration::from_secs(30), "the provider still serves clients that have left");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let closed = as_float(u64::try_from(left.elapsed().as_millis())?);
    let in_flight = scene.in_flight(Duration::from_secs(60)).await?;
    report.raw("leaving", json!({"clients": CLIENTS, "closed_in_ms": closed, "in_flight_after": in_flight}));
    let name = format!("{CLIENTS} clients gone: the last upstream stream closed");
    report.milliseconds(&name, closed, Bound::AtMost(1_000.0));
    report.line(&format!("{CLIENTS} clients gone: in flight"), in_flight.clone(), Some(in_flight == "0.00000000"));
    Ok(())
}

type Reader = tokio::task::JoinHandle<anyhow::Result<Duration>>;

/// Opens streams through the gateway, a few at a time, and returns once each has shown its first chunk.
async fn open(scene: &Scene, count: usize, script: &str) -> anyhow::Result<Vec<Reader>> {
    let aim = Arc::new(scene.streamed(scene.gateway, script));
    let (begun, began) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let mut tasks = Vec::new();
    for number in 0..count {
        let (aim, begun) = (Arc::clone(&aim), Arc::clone(&begun));
        tasks.push(tokio::spawn(async move {
            let mut connection = Connection::open(aim.address).await?;
            let mut is_first = true;
            let streamed = connection.stream(&aim, |_| {
                if std::mem::take(&mut is_first) {
                    begun.fetch_add(1, Ordering::Relaxed);
                }
            });
            streamed.await
        }));
        if number % 25 == 24 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    while begun.load(Ordering::Relaxed) < count && began.elapsed() < Duration::from_secs(120) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let running = begun.load(Ordering::Relaxed);
    ensure!(running == count, "only {running} of {count} streams run");
    Ok(tasks)
}

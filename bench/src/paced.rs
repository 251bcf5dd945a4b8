//! Added latency at a fixed rate. A request is timed from when it was due, not from when it could be sent: a stall is not
//! hidden by the load generator's own waiting.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::{Mutex, mpsc};

use crate::connection::Connection;
use crate::latency::{Latency, Quantiles};
use crate::report::{Bound, Report};
use crate::scene::Scene;

const PER_SECOND: u32 = 500;
const CONNECTIONS: usize = 64;

/// The gateway beside the direct call, in turns.
///
/// # Errors
/// A request that was not answered 200.
pub async fn measure(scene: &Scene, seconds: u64, report: &mut Report) -> anyhow::Result<()> {
    run(scene, scene.gateway, 2).await?;
    let direct = run(scene, scene.provider.address, seconds).await?;
    let ours = run(scene, scene.gateway, seconds).await?;
    let plain = run(scene, scene.proxy.address, seconds).await?;
    report.raw("latency", json!({"direct": direct, "gateway": ours, "nginx": plain}));
    let added = |ours: u64, direct: u64| crate::closed::as_float(ours.saturating_sub(direct)) / 1000.0;
    report.milliseconds("added latency at 500 a second, p50", added(ours.p50_us, direct.p50_us), Bound::AtMost(0.6));
    report.milliseconds("added latency at 500 a second, p99", added(ours.p99_us, direct.p99_us), Bound::AtMost(2.0));
    let nginx = format!("{:.2} ms, {:.2} ms", added(plain.p50_us, direct.p50_us), added(plain.p99_us, direct.p99_us));
    report.line("added latency of nginx, p50 and p99", nginx, None);
    Ok(())
}

async fn run(scene: &Scene, address: SocketAddr, seconds: u64) -> anyhow::Result<Quantiles> {
    let aim = Arc::new(scene.short(address));
    let (due, waiting) = mpsc::channel::<Instant>(100_000);
    let waiting = Arc::new(Mutex::new(waiting));
    let mut workers = Vec::new();
    for _ in 0..CONNECTIONS {
        let (waiting, aim) = (Arc::clone(&waiting), Arc::clone(&aim));
        let mut connection = Connection::open(address).await?;
        workers.push(tokio::spawn(async move {
            let mut times = Vec::new();
            loop {
                let next = waiting.lock().await.recv().await;
                let Some(due) = next else { return anyhow::Ok(times) };
                connection.call(&aim).await?;
                times.push(due.elapsed());
            }
        }));
    }
    let (began, gap) = (Instant::now(), Duration::from_secs(1) / PER_SECOND);
    for number in 0..PER_SECOND.saturating_mul(u32::try_from(seconds)?) {
        let at = began + gap * number;
        tokio::time::sleep_until(at.into()).await;
        due.send(at).await?;
    }
    drop(due);
    let mut latency = Latency::new()?;
    for worker in workers {
        worker.await??.into_iter().for_each(|took| latency.add(took));
    }
    Ok(latency.quantiles())
}

//! Throughput: connections that send the next request when the last one is answered.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use serde::Serialize;
use serde_json::json;

use crate::connection::{Aim, Connection};
use crate::latency::{Latency, Quantiles};
use crate::machine::cpu_ms;
use crate::report::{Bound, Report};
use crate::scene::Scene;

const CONNECTIONS: usize = 64;
const WARM_UP: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Serialize)]
struct Run {
    requests_per_s: f64,
    cpu_us_per_request: f64,
    redis_cpu_us_per_request: f64,
    latency: Quantiles,
}

/// The gateway beside nginx, in turns, so that both see the same machine.
///
/// # Errors
/// A request that was not answered 200.
pub async fn measure(scene: &Scene, seconds: u64, report: &mut Report) -> anyhow::Result<()> {
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        plain.push(run(scene, scene.proxy.address, scene.proxy.pid()?, seconds).await?);
        ours.push(run(scene, scene.gateway, scene.gateway_pid, seconds).await?);
    }
    let mean = |runs: &[Run], of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / 2.0;
    let rate = |runs: &[Run]| mean(runs, |run| run.requests_per_s);
    let cpu = |runs: &[Run]| mean(runs, |run| run.cpu_us_per_request);
    report.raw("throughput", json!({"nginx": plain, "gateway": ours}));
    report.line("requests a second at 64 connections: gateway", format!("{:.0}", rate(&ours)), None);
    report.line("requests a second at 64 connections: nginx", format!("{:.0}", rate(&plain)), None);
    report.ratio("throughput, as a part of nginx's", rate(&ours) / rate(&plain), Bound::AtLeast(0.20));
    report.line("CPU per request: gateway, nginx", format!("{:.0} us, {:.0} us", cpu(&ours), cpu(&plain)), None);
    report.ratio("CPU per request, against nginx's", cpu(&ours) / cpu(&plain), Bound::AtMost(7.0));
    let redis = mean(&ours, |run| run.redis_cpu_us_per_request);
    report.line("CPU per request: Redis", format!("{redis:.0} us"), None);
    Ok(())
}

async fn run(scene: &Scene, address: SocketAddr, pid: u32, seconds: u64) -> anyhow::Result<Run> {
    let aim = scene.short(address);
    load(&aim, WARM_UP).await?;
    let (cpu, redis) = (cpu_ms(pid)?, cpu_ms(scene.redis_pid)?);
    let began = Instant::now();
    let latency = load(&aim, Duration::from_secs(seconds)).await?.quantiles();
    let took = began.elapsed().as_secs_f64();
    let calls = as_float(latency.calls);
    let per_call = |ms: u64| as_float(ms) * 1000.0 / calls;
    Ok(Run {
        requests_per_s: calls / took,
        cpu_us_per_request: per_call(cpu_ms(pid)? - cpu),
        redis_cpu_us_per_request: per_call(cpu_ms(scene.redis_pid)? - redis),
        latency,
    })
}

async fn load(aim: &Aim, time: Duration) -> anyhow::Result<Latency> {
    let end = Instant::now() + time;
    let workers = (0..CONNECTIONS).map(|_| async {
        let mut connection = Connection::open(aim.address).await?;
        let mut times = Vec::new();
        while Instant::now() < end {
            let began = Instant::now();
            connection.call(aim).await?;
            times.push(began.elapsed());
        }
        anyhow::Ok(times)
    });
    let mut latency = Latency::new()?;
    try_join_all(workers).await?.into_iter().flatten().for_each(|took| latency.add(took));
    Ok(latency)
}

/// Counts become ratios here; none of them is money.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^52")]
pub const fn as_float(count: u64) -> f64 {
    count as f64
}

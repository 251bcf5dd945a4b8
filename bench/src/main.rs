//! Measures a running Tollgate against nginx as a plain proxy, on the same machine and in the same run.
//!
//! `./dev bench` builds everything as in production, starts a private system and runs this. What is measured, how, and the
//! results are in `README.md`. Ratios are what counts: absolute times are not stable on small shared machines.

#![expect(clippy::float_arithmetic, reason = "measurements; nothing here is money")]

mod closed;
mod connection;
mod latency;
mod lists;
mod machine;
mod nginx;
mod paced;
mod report;
mod scene;
mod slow;
mod streams;

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;

use report::Report;
use scene::Scene;

/// Benchmarks of the gateway.
#[derive(Debug, Parser)]
struct Cli {
    /// `credentials.json` of the running system.
    #[arg(long)]
    credentials: PathBuf,
    /// Where the programs are.
    #[arg(long)]
    binaries: PathBuf,
    /// Where the raw results go, as JSON.
    #[arg(long, default_value = "bench/results.json")]
    out: PathBuf,
    /// Only these: `throughput`, `latency`, `streams`, `leaving`, `many`, `slow`; or `lists`, which fills the system with rows.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Tenants in `lists`.
    #[arg(long, default_value_t = 100_000)]
    tenants: u64,
    /// Requests in `lists`; a fifth of them are of one tenant.
    #[arg(long, default_value_t = 5_000_000)]
    requests: u64,
    /// Where `lists` writes its query plans, as Markdown.
    #[arg(long)]
    plans: Option<PathBuf>,
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Streams at once in `many`.
    #[arg(long, default_value_t = 5_000)]
    many: usize,
}

// One core for the load, so that the other is left to what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let mut report = Report::default();
    if cli.only == ["lists"] {
        let size = lists::Size { tenants: cli.tenants, requests: cli.requests, statement: cli.requests / 5 };
        lists::measure(&cli.credentials, size, cli.plans.as_deref(), &mut report).await?;
    } else {
        gateway(&cli, &mut report).await?;
    }
    report.write(&cli.out)?;
    report.print();
    Ok(())
}

async fn gateway(cli: &Cli, report: &mut Report) -> anyhow::Result<()> {
    let scene = Scene::set(&cli.credentials, &cli.binaries).await.context("the scene could not be set")?;
    let wants = |name: &str| cli.only.is_empty() || cli.only.iter().any(|only| only == name);
    if wants("throughput") {
        closed::measure(&scene, cli.seconds, report).await?;
    }
    if wants("latency") {
        paced::measure(&scene, cli.seconds, report).await?;
    }
    if wants("streams") {
        streams::measure(&scene, report).await?;
    }
    if wants("leaving") {
        streams::leaving(&scene, report).await?;
    }
    if wants("many") {
        streams::many(&scene, cli.many, report).await?;
    }
    if wants("slow") {
        slow::measure(&scene, report).await?;
    }
    Ok(())
}

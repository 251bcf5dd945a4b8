//! The ledger's scripts beside bare ones that make the same reads and writes and decide nothing: server time, throughput, memory.
//!
//! `./dev bench --only ledger` runs it; the first argument is where the figures go, as JSON.

#![expect(
    clippy::print_stdout,
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "measurements for people at a terminal; nothing here is money"
)]

mod bare;

use std::time::{Duration, Instant};

use domain::{
    Amount, FreezeEntry, FreezeState, KeyId, LimitSet, PeriodLabel, ProjectId, RequestId, Scope, Shard, Snapshot,
    Status, TenantId,
};
use testkit::redis::{Redis, Reply};
use tollgate_ledger::{Config, Delete, FreezeCall, FreezeOutcome, Ledger, Load, OpenOutcome};

/// Calls that a server time is the mean of.
const CALLS: i64 = 3_000;
/// Requests at once in the measurement of throughput.
const AT_ONCE: usize = 64;
const THROUGHPUT_FOR: Duration = Duration::from_secs(4);

type Failure = Box<dyn std::error::Error>;

/// One tenant with a project and a key, open in Redis.
#[derive(Clone)]
pub struct Chain {
    tenant: TenantId,
    scopes: [Scope; 3],
}

impl Chain {
    fn new() -> Self {
        let tenant = TenantId::generate();
        let key = Scope::Key(KeyId::generate(), PeriodLabel::none());
        let project = Scope::Project(ProjectId::generate(), PeriodLabel::none());
        Self { tenant, scopes: [key, project, Scope::Tenant(tenant)] }
    }

    fn snapshots(&self, limits: &str) -> Result<Vec<Snapshot>, Failure> {
        let limits = LimitSet::parse(limits)?;
        let total = Amount::new(1_000_000_000_000)?;
        let of = |scope: &Scope| Snapshot {
            scope: scope.clone(),
            incarnation: 1,
            version: 1,
            total: Some(total),
            credit_limit: Amount::ZERO,
            limit: Some(total),
            used: Amount::ZERO,
            status: Status::Active,
            valid_until_ms: None,
            lapse_version: 0,
            lapsed: Amount::ZERO,
            limits,
            share: None,
        };
        Ok(self.scopes.iter().map(of).collect())
    }

    fn call<'a>(&'a self, request_id: RequestId, load: Option<&'a Load>) -> FreezeCall<'a> {
        FreezeCall {
            request_id,
            tenant_id: self.tenant,
            scopes: &self.scopes,
            want: Amount::new(1_000).unwrap_or_default(),
            need: Amount::new(500).unwrap_or_default(),
            tokens_want: 100,
            tokens_need: 50,
            priced: true,
            gateway: "bench",
            model: "bench",
            waited: None,
            load,
        }
    }

    /// Opens the shard's window and loads the three accounts, as a first request does.
    async fn open(&self, ledger: &Ledger, limits: &str) -> Result<(), Failure> {
        let shard = Shard::of(self.tenant);
        let mut waited = None;
        let ticket = loop {
            match ledger.open(shard, waited.as_ref()).await? {
                OpenOutcome::Open(ticket) => break ticket,
                OpenOutcome::Recovering(window) => waited = Some(window),
            }
        };
        let load = Load { ticket, snapshots: self.snapshots(limits)? };
        let request = RequestId::generate();
        frozen(ledger.freeze(&self.call(request, Some(&load))).await?)?;
        self.end(ledger, request).await
    }

    async fn end(&self, ledger: &Ledger, request_id: RequestId) -> Result<(), Failure> {
        let shard = Shard::of(self.tenant);
        ledger.settle(shard, &[self.settled(request_id)]).await?;
        self.confirm(ledger, request_id).await
    }

    async fn confirm(&self, ledger: &Ledger, request_id: RequestId) -> Result<(), Failure> {
        let snapshots: Vec<_> =
            self.snapshots("")?.into_iter().map(|snapshot| (self.tenant.into(), snapshot)).collect();
        let delete = Delete { request_id, tenant_id: self.tenant, scopes: self.scopes.to_vec(), expected: None };
        ledger.confirm(Shard::of(self.tenant), &snapshots, &[delete]).await?;
        Ok(())
    }

    fn settled(&self, request_id: RequestId) -> FreezeEntry {
        let amount = |units| Amount::new(units).unwrap_or_default();
        FreezeEntry {
            request_id,
            tenant_id: self.tenant,
            state: FreezeState::Settled,
            want: amount(1_000),
            need: amount(500),
            amount: amount(700),
            progress: amount(700),
            tokens: 70,
            created_ms: 1_767_225_600_000,
            version: 1,
            gateway: "bench".to_owned(),
            model: "bench".to_owned(),
            scopes: self.scopes.to_vec(),
        }
    }
}

fn frozen(outcome: FreezeOutcome) -> Result<(), Failure> {
    match outcome {
        FreezeOutcome::Frozen { .. } => Ok(()),
        other => Err(format!("not frozen: {other:?}").into()),
    }
}

fn main() -> Result<(), Failure> {
    // `cargo test` builds and runs benches too: without a place for the figures there is nothing to do.
    let Some(out) = std::env::args().skip(1).find(|argument| argument.ends_with(".json")) else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let lines = runtime.block_on(measure())?;
    println!("\n| measured | value | target | |\n|---|---|---|---|");
    let mut json = Vec::new();
    for (name, value, unit, target) in lines {
        let (text, holds) = match target {
            Some(Target::AtMost(most)) => (format!("at most {most}"), if value <= most { "holds" } else { "MISSED" }),
            Some(Target::AtLeast(least)) => {
                (format!("at least {least}"), if value >= least { "holds" } else { "MISSED" })
            }
            None => (String::new(), ""),
        };
        println!("| {name} | {value:.2} {unit} | {text} | {holds} |");
        json.push(format!(
            "  {{\"name\": \"{name}\", \"value\": {value:.3}, \"unit\": \"{unit}\", \"target\": \"{text}\"}}"
        ));
    }
    std::fs::write(out, format!("[\n{}\n]\n", json.join(",\n")))?;
    Ok(())
}

enum Target {
    AtMost(f64),
    AtLeast(f64),
}

type Line = (String, f64, &'static str, Option<Target>);

async fn measure() -> Result<Vec<Line>, Failure> {
    let redis = Redis::start().await?;
    let ledger = Ledger::connect(&Config::new(redis.url())).await?;
    let mut lines = Vec::new();
    let bare = bare::reads(&redis, CALLS)?;
    let mut line = |name: &str, value: f64, unit, target| lines.push((name.to_owned(), value, unit, target));
    line("freeze: server time of a bare script with the same reads", bare, "us", None);
    for (name, limits, target) in [
        ("freeze: server time without limits", "", None),
        (
            "freeze: server time with all limits",
            "1000000,1000000,100000000,100000000,100000,100000",
            Some(Target::AtMost(3.0)),
        ),
    ] {
        let own = freezes(&redis, &ledger, limits).await?;
        line(name, own, "us", None);
        line(&format!("{name}, as a multiple of the bare one's"), own / bare, "", target);
    }
    let (idle, live) = memory(&redis, &ledger).await?;
    line("memory of an idle tenant (three accounts)", idle, "B", Some(Target::AtMost(1_000.0)));
    line("memory of a live freeze", live, "B", Some(Target::AtMost(400.0)));
    let (own, plain) = (throughput(&ledger).await?, bare::throughput(&redis, AT_ONCE, THROUGHPUT_FOR).await?);
    line("freeze, settle, confirm: requests a second", own, "", None);
    line("the same keys and writes by bare EVALSHA: requests a second", plain, "", None);
    line("freeze, settle, confirm, as a part of bare EVALSHA", own / plain, "", Some(Target::AtLeast(0.7)));
    Ok(lines)
}

/// Mean server time of a freeze. Each request is ended at once, so that all find the tenant as idle as the first did.
async fn freezes(redis: &Redis, ledger: &Ledger, limits: &str) -> Result<f64, Failure> {
    let chain = Chain::new();
    chain.open(ledger, limits).await?;
    let (mut calls, mut micros) = (0, 0);
    for _ in 0..CALLS {
        let request = RequestId::generate();
        let before = script_time(redis)?;
        frozen(ledger.freeze(&chain.call(request, None)).await?)?;
        let after = script_time(redis)?;
        (calls, micros) = (calls + after.0 - before.0, micros + after.1 - before.1);
        ledger.settle(Shard::of(chain.tenant), &[chain.settled(request)]).await?;
        let delete =
            Delete { request_id: request, tenant_id: chain.tenant, scopes: chain.scopes.to_vec(), expected: None };
        ledger.confirm(Shard::of(chain.tenant), &[], &[delete]).await?;
    }
    Ok(micros as f64 / calls as f64)
}

/// Calls of EVALSHA, and their server time in microseconds.
pub fn script_time(redis: &Redis) -> Result<(i64, i64), Failure> {
    let Reply::Text(text) = redis.command(&["INFO", "commandstats"])? else { return Err("no commandstats".into()) };
    let line = text.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:")).unwrap_or("calls=0,usec=0");
    let number = |name: &str| -> i64 {
        line.split(',').find_map(|part| part.strip_prefix(name)).and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    Ok((number("calls="), number("usec=")))
}

fn used_memory(redis: &Redis) -> Result<i64, Failure> {
    let Reply::Text(text) = redis.command(&["INFO", "memory"])? else { return Err("no memory".into()) };
    let line = text.lines().find_map(|line| line.strip_prefix("used_memory:")).ok_or("no used_memory")?;
    Ok(line.trim().parse()?)
}

/// Bytes of an idle tenant, and of a live freeze.
async fn memory(redis: &Redis, ledger: &Ledger) -> Result<(f64, f64), Failure> {
    let mut chains = Vec::new();
    // The shards' markers come with the first tenants, and are not theirs.
    for _ in 0..4_000 {
        Chain::new().open(ledger, "").await?;
    }
    let before = used_memory(redis)?;
    for _ in 0..4_000 {
        let chain = Chain::new();
        chain.open(ledger, "").await?;
        chains.push(chain);
    }
    let idle = (used_memory(redis)? - before) as f64 / chains.len() as f64;
    let before = used_memory(redis)?;
    let mut live = 0;
    for chain in chains.iter().take(20) {
        for _ in 0..500 {
            frozen(ledger.freeze(&chain.call(RequestId::generate(), None)).await?)?;
            live += 1;
        }
    }
    Ok((idle, (used_memory(redis)? - before) as f64 / f64::from(live)))
}

/// Requests a second through freeze, settle and confirm, each a call of its own.
async fn throughput(ledger: &Ledger) -> Result<f64, Failure> {
    let mut tasks = Vec::new();
    for _ in 0..AT_ONCE {
        let (ledger, chain) = (ledger.clone(), Chain::new());
        chain.open(&ledger, "").await?;
        tasks.push(tokio::spawn(async move {
            let (began, mut done) = (Instant::now(), 0_u32);
            while began.elapsed() < THROUGHPUT_FOR {
                let request = RequestId::generate();
                let frozen_now = ledger.freeze(&chain.call(request, None)).await;
                let outcome = frozen_now.map_err(|error| error.to_string())?;
                frozen(outcome).map_err(|error| error.to_string())?;
                chain.end(&ledger, request).await.map_err(|error| error.to_string())?;
                done += 1;
            }
            Ok::<u32, String>(done)
        }));
    }
    let mut done = 0;
    for task in tasks {
        done += task.await??;
    }
    Ok(f64::from(done) / THROUGHPUT_FOR.as_secs_f64())
}

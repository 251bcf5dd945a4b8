//! Lists as large installations have them: 100 000 tenants, 5 000 000 requests, a statement of a million. Filled in beside the
//! running system, asked of the admin API as the console and billing systems ask.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::report::{Bound, Report, progress};

/// Calls of each kind; the slowest counts.
const CALLS: usize = 15;
/// What a page may take, in ms.
const PAGE_MS: f64 = 300.0;
/// Requests written by one statement.
const BATCH: u64 = 250_000;

/// How much there is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Tenants.
    pub tenants: u64,
    /// Requests of all tenants.
    pub requests: u64,
    /// Of these, those of one tenant in one month.
    pub statement: u64,
}

/// Fills the system and measures each list. `plans`: where the query plans are written, as Markdown.
///
/// # Errors
/// What could not be written or read.
pub async fn measure(credentials: &Path, size: Size, plans: Option<&Path>, report: &mut Report) -> anyhow::Result<()> {
    let log = credentials.with_file_name("logs").join("postgres.log");
    let credentials: Value = serde_json::from_slice(&std::fs::read(credentials)?)?;
    let text = |name: &str| credentials[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
    let database = Database { url: text("database_owner_url")?, superuser_url: text("database_superuser_url")?, log };
    let (base, token) = (format!("{}/api/v1", text("admin_url")?), text("service_token")?);
    let api = Api { base, token, http: reqwest::Client::new() };
    if database.read("SELECT to_regclass('bench_tenants') IS NULL").await? == "t" {
        database.fill(size).await?;
    }
    let tenant = api.tenant().await?;
    report.line("lists of", format!("{} tenants, {} requests", size.tenants, size.requests), None);
    // In the middle of them.
    let day = database.read(r#"SELECT to_char(now() - interval '30 days', 'YYYY-MM-DD"T"00:00:00"Z"')"#).await?;
    let asked = asked(&tenant, &day);
    for (name, path) in &asked {
        let slowest = api.slowest(path).await.with_context(|| path.clone())?;
        report.milliseconds(&format!("{name}, slowest of {CALLS}"), slowest, Bound::AtMost(PAGE_MS));
    }
    statement(&database, &api, &tenant, report).await?;
    if let Some(plans) = plans {
        let written = explain(&database, &api, &asked, size).await?.replace(&tenant, "{t}");
        std::fs::write(plans, written).with_context(|| plans.display().to_string())?;
    }
    Ok(())
}

/// What is asked, each with its name in the table.
fn asked(tenant: &str, day: &str) -> Vec<(&'static str, String)> {
    let all = [
        ("tenants, newest", "/tenants"),
        ("tenants, nearest to dry", "/tenants?sort=remaining_percent"),
        ("tenants, most used", "/tenants?sort=-used"),
        ("tenants by part of a name", "/tenants?q=tenant%2077"),
        ("tenants by external id", "/tenants?external_id=ext-4711"),
        ("tenants suspended", "/tenants?status=suspended"),
        ("requests, newest", "/requests"),
        ("requests of a tenant", "/requests?tenant_id={t}"),
        ("requests of a tenant and a model", "/requests?tenant_id={t}&model=model-3"),
        ("requests of a rare model", "/requests?model=model-rare"),
        ("requests expired", "/requests?outcome=expired"),
        ("requests from a charge on", "/requests?min_charge=9.99"),
        ("requests up to a day", "/requests?to={day}"),
        ("usage of a tenant by day", "/usage?bucket=day&tenant_id={t}"),
    ];
    all.into_iter().map(|(name, path)| (name, path.replace("{t}", tenant).replace("{day}", day))).collect()
}

/// A statement adds up to the unit, however many settlements it is of.
async fn statement(database: &Database, api: &Api, tenant: &str, report: &mut Report) -> anyhow::Result<()> {
    let began = Instant::now();
    let list = api.get(&format!("/tenants/{tenant}/statements?limit=3")).await?;
    let (mut settlements, mut charged) = (0, 0_i128);
    for item in list["items"].as_array().context("no statements")? {
        let period = item["period"].as_str().context("no period")?;
        let whole = api.get(&format!("/tenants/{tenant}/statements/{period}")).await?;
        settlements += whole["settlements"].as_i64().context("no settlements")?;
        let lines = whole["lines"].as_array().context("no lines")?;
        let sum: i128 = lines.iter().map(|line| units(&line["charge"])).sum::<anyhow::Result<_>>()?;
        ensure!(sum == units(&whole["charged"])?, "the lines of {period} do not sum up to what was charged");
        charged += sum;
    }
    let took = began.elapsed();
    let truth = database
        .read("SELECT count(*) || ' ' || sum(amount) FROM settlements s JOIN bench_tenants b ON b.id = s.tenant_id WHERE b.i = 7")
        .await?;
    ensure!(
        truth == format!("{settlements} {charged}"),
        "the statements say {settlements} {charged}, the settlements {truth}"
    );
    let name = format!("statements of {settlements} settlements, exact to the unit");
    report.line(&name, format!("{:.0} ms", ms(took)), Some(true));
    Ok(())
}

fn units(decimal: &Value) -> anyhow::Result<i128> {
    let text = decimal.as_str().context("no amount")?;
    Ok(text.replace('.', "").parse()?)
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

struct Api {
    base: String,
    token: String,
    http: reqwest::Client,
}

impl Api {
    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let response = self.http.get(format!("{}{path}", self.base)).bearer_auth(&self.token).send().await?;
        let status = response.status();
        let reply = response.json().await?;
        ensure!(status.is_success(), "GET {path}: {status} {reply}");
        Ok(reply)
    }

    /// After one call that does not count: the caches of a server that runs are warm.
    async fn slowest(&self, path: &str) -> anyhow::Result<f64> {
        self.get(path).await?;
        let mut slowest = Duration::ZERO;
        for _ in 0..CALLS {
            let began = Instant::now();
            self.get(path).await?;
            slowest = slowest.max(began.elapsed());
        }
        Ok(ms(slowest))
    }

    /// The tenant with the long statement.
    async fn tenant(&self) -> anyhow::Result<String> {
        let found = self.get("/tenants?external_id=ext-7").await?;
        found["items"][0]["id"].as_str().map(str::to_owned).context("the tenant is not found")
    }
}

/// The plans by which Postgres answered, as it logs them itself: of each list the statement that took longest.
async fn explain(
    database: &Database,
    api: &Api,
    asked: &[(&'static str, String)],
    size: Size,
) -> anyhow::Result<String> {
    database.log_plans().await?;
    let mut text = format!(
        "# Query plans of the large lists\n\nWritten by `./dev bench --only lists`, with {} tenants and {} requests. Of each call of the \
         admin API the statement that took longest, as `auto_explain` logs it; times on a small shared machine.\n",
        size.tenants, size.requests
    );
    for (name, path) in asked {
        // The first calls find connections that were ended.
        for _ in 0..40 {
            if api.get(path).await.is_ok() {
                break;
            }
        }
        let before = std::fs::read_to_string(&database.log)?.len();
        api.get(path).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let log = std::fs::read_to_string(&database.log)?;
        // Others write into the log too.
        let is_its_own = |plan: &str| !plan.starts_with("Update") && plan.contains(table(path));
        let plans = plans_in(log.get(before..).unwrap_or_default()).into_iter().filter(|(_, plan)| is_its_own(plan));
        let longest = plans.max_by(|a, b| a.0.total_cmp(&b.0));
        let (ms, plan) = longest.with_context(|| format!("Postgres logged no plan of {path}"))?;
        write!(text, "\n## {name}\n\n`GET {path}`: {ms:.1} ms\n\n```text\n{plan}\n```\n")?;
    }
    Ok(text)
}

/// What the plan of a list reads.
fn table(path: &str) -> &'static str {
    match path.split(['/', '?']).nth(1) {
        Some("tenants") => " on tenants t",
        Some("requests") => " on usage_records_",
        _ => "usage_quarters",
    }
}

/// Duration and plan of each statement in a part of the log.
fn plans_in(log: &str) -> Vec<(f64, String)> {
    let mut plans = Vec::new();
    for entry in log.split(" LOG:  duration: ").skip(1) {
        let Some((ms, rest)) = entry.split_once(" ms  plan:") else { continue };
        let lines = rest.lines().skip_while(|line| !line.contains("(cost=")).take_while(|line| line.starts_with('\t'));
        let plan: Vec<&str> = lines.map(|line| line.trim_start_matches('\t')).collect();
        if let (Ok(ms), false) = (ms.parse(), plan.is_empty()) {
            plans.push((ms, plan.join("\n")));
        }
    }
    plans
}

struct Database {
    url: String,
    superuser_url: String,
    /// What its server writes.
    log: PathBuf,
}

async fn psql(url: &str, arguments: &[&str], sql: &str) -> anyhow::Result<String> {
    let mut command = Command::new("psql");
    command.args([url, "-X", "-q", "-v", "ON_ERROR_STOP=1"]).args(arguments).args(["-c", sql]);
    let out = command.stdin(Stdio::null()).output().await.context("psql")?;
    ensure!(out.status.success(), "{sql}: {}", String::from_utf8_lossy(&out.stderr));
    Ok(String::from_utf8(out.stdout)?.trim_end().to_owned())
}

impl Database {
    async fn run(&self, arguments: &[&str], sql: &str) -> anyhow::Result<String> {
        psql(&self.url, arguments, sql).await
    }

    async fn read(&self, sql: &str) -> anyhow::Result<String> {
        self.run(&["-A", "-t"], sql).await
    }

    /// From now on every statement's plan is logged, of every connection: those that are open are ended.
    async fn log_plans(&self) -> anyhow::Result<()> {
        let name = self.url.rsplit_once('/').map_or("tollgate", |(_, name)| name);
        for (setting, value) in [
            ("session_preload_libraries", "auto_explain"),
            ("auto_explain.log_min_duration", "0"),
            ("auto_explain.log_analyze", "on"),
            ("auto_explain.log_timing", "off"),
        ] {
            let sql = format!("LOAD 'auto_explain'; ALTER DATABASE {name} SET {setting} = '{value}'");
            psql(&self.superuser_url, &[], &sql).await?;
        }
        let others = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'");
        psql(&self.superuser_url, &[], &others).await?;
        Ok(())
    }

    /// Tenants with their accounts, then requests with their settlements over 60 days: one tenant has `statement` of them, the
    /// others fewer the higher their number; one in 50 000 expired, one in 100 000 asked for a rare model, one in 20 000 was dear.
    async fn fill(&self, size: Size) -> anyhow::Result<()> {
        let Size { tenants, requests, statement } = size;
        let sql = format!(
            "CREATE TABLE bench_tenants AS SELECT i, gen_random_uuid() AS id, gen_random_uuid() AS project, gen_random_uuid() AS key
                 FROM generate_series(1, {tenants}) i;
             ALTER TABLE bench_tenants ADD PRIMARY KEY (i);
             INSERT INTO tenants (id, name, external_id, unit, time_zone, period_kind, status, created_at)
                 SELECT id, 'Tenant ' || i, 'ext-' || i, 'credit', 'UTC', 'month', CASE WHEN i % 5000 = 0 THEN 'suspended' ELSE 'active' END,
                        now() - interval '90 days' - make_interval(mins => i::integer) FROM bench_tenants;
             INSERT INTO accounts (scope, tenant_id, level, total, used)
                 SELECT 't_' || (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM n * 5 + 1 FOR 5)::integer + 1, 1), ''
                                                   ORDER BY n) FROM generate_series(0, 25) n),
                        id, 'tenant', 1000000 + i, (i::bigint * 7919) % 1000000
                 FROM bench_tenants, LATERAL (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) b"
        );
        self.run(&[], &sql).await?;
        self.run(&[], "SELECT ensure_partitions(now() - interval '70 days', 4)").await?;
        let mut done = 0;
        while done < requests {
            let last = (done + BATCH).min(requests);
            // Every so many requests are of the tenant with the long statement.
            let every = requests / statement.max(1);
            let sql = format!(
                "SET synchronous_commit = off;
                 CREATE TEMP TABLE made AS
                     SELECT overlay(uuid_v7_floor(at)::text placing lpad(to_hex(n), 12, '0') from 25)::uuid AS request_id, n, at,
                            CASE WHEN n % {every} = 0 THEN 7 ELSE 1 + floor(power(random(), 2) * {tenants})::bigint END AS i
                     FROM generate_series({first}, {last}) n, LATERAL (SELECT now() - interval '60 days' * (1 - n::float8 / {requests}) AS at) t;
                 INSERT INTO usage_records (request_id, tenant_id, project_id, key_id, model, outcome, estimate, frozen, actual, usage,
                                            upstream_status, started_at, ended_at, recorded_at)
                     SELECT request_id, b.id, b.project, b.key, CASE WHEN n % 100000 = 0 THEN 'model-rare' ELSE 'model-' || (n / 7) % 5 END,
                            CASE WHEN n % 50000 = 0 THEN 'expired' ELSE 'final' END, 2000, 2000,
                            CASE WHEN n % 20000 = 0 THEN 1000000000 ELSE (n::bigint * 7919) % 1000003 END,
                            '{{\"input\": 100, \"output\": 50}}', 200, at, at + interval '1 second', at + interval '1 second'
                     FROM made JOIN bench_tenants b USING (i);
                 INSERT INTO settlements (request_id, kind, tenant_id, project_id, key_id, scopes, amount, outcome, model, recorded_at)
                     SELECT u.request_id, 0, u.tenant_id, u.project_id, u.key_id, '{{}}', u.actual, u.outcome, u.model, u.recorded_at
                     FROM made JOIN usage_records u USING (request_id)",
                first = done + 1,
            );
            self.run(&[], &sql).await?;
            done = last;
            progress(&format!("{done} of {requests} requests written"));
        }
        self.run(&[], "VACUUM (ANALYZE) tenants, accounts, usage_records, settlements, usage_quarters").await?;
        Ok(())
    }
}

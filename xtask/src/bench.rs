//! `./dev bench`: programs as in production, a private system, and the measurements of `bench/`.

use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::test::browser;
use crate::test::system::System;
use crate::{cargo, say, ui};

/// Flags of `./dev bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Only these: `console`, `ledger`, `throughput`, `latency`, `streams`, `leaving`, `many`, `slow`, `lists`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Streams at once in `many`.
    #[arg(long, default_value_t = 5_000)]
    many: usize,
    /// Tenants in `lists`.
    #[arg(long, default_value_t = 100_000)]
    tenants: u64,
    /// Requests in `lists`.
    #[arg(long, default_value_t = 5_000_000)]
    requests: u64,
}

impl Bench {
    /// Builds, measures and prints; the raw results go to `bench/results/`.
    ///
    /// # Errors
    /// When something can't be built or started, or a request fails.
    pub fn run(self, root: &Path) -> anyhow::Result<()> {
        let folder = root.join("bench/results");
        std::fs::create_dir_all(&folder)?;
        let is_wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        if is_wanted("ledger") {
            say::step("the ledger's scripts, beside bare ones");
            let mut command =
                cargo::command(root, &["bench", "--quiet", "--profile", "fast", "--package", "tollgate-ledger"]);
            cargo::succeed(command.args(["--bench", "ledger", "--"]).arg(folder.join("ledger.json")))?;
        }
        if is_wanted("console") {
            console(root)?;
        }
        let apart = ["console", "ledger", "lists"];
        let of_gateway: Vec<&str> = self.only.iter().map(String::as_str).filter(|name| !apart.contains(name)).collect();
        if self.only.is_empty() || !of_gateway.is_empty() {
            self.gateway(root, &of_gateway.join(","), &folder.join("gateway.json"))?;
        }
        if is_wanted("lists") {
            self.lists(root, &folder.join("lists.json"))?;
        }
        Ok(())
    }

    /// In a system of its own, which is full of rows afterwards.
    fn lists(&self, root: &Path, out: &Path) -> anyhow::Result<()> {
        say::step("building everything as in production (the first time takes many minutes)");
        cargo::run(root, &["build", "--quiet", "--profile", "fast", "--bins"])?;
        let binaries = cargo::binaries("fast")?;
        let system = System::start_with(&["--optimised"])?;
        say::step("writing tenants and requests, then reading their lists");
        let mut command = Command::new(binaries.join("tollgate-bench"));
        command.arg("--credentials").arg(system.credentials()).arg("--binaries").arg(&binaries).arg("--out").arg(out);
        command.args(["--only", "lists", "--tenants", &self.tenants.to_string()]);
        command.args(["--requests", &self.requests.to_string()]).arg("--plans").arg(root.join("docs/query-plans.md"));
        cargo::succeed(&mut command)
    }

    fn gateway(&self, root: &Path, only: &str, out: &Path) -> anyhow::Result<()> {
        say::step("building everything as in production (the first time takes many minutes)");
        cargo::run(root, &["build", "--quiet", "--profile", "fast", "--bins"])?;
        let binaries = cargo::binaries("fast")?;
        let system = System::start_with(&["--optimised"])?;
        say::step("measuring the gateway, beside nginx");
        let mut command = Command::new(binaries.join("tollgate-bench"));
        command.arg("--credentials").arg(system.credentials()).arg("--binaries").arg(&binaries).arg("--out").arg(out);
        command.args(["--seconds", &self.seconds.to_string(), "--many", &self.many.to_string()]);
        if !only.is_empty() {
            command.args(["--only", only]);
        }
        cargo::succeed(&mut command)
    }
}

/// What the console weighs, and how soon one can use it.
fn console(root: &Path) -> anyhow::Result<()> {
    say::step("the console");
    ui::build(root)?;
    let loads = ui::Loads::of(&root.join("crates/admin-ui/dist"))?;
    cargo::run(root, &["build", "--quiet", "--bins"])?;
    let system = System::start()?;
    say::note(&format!("first load {} kB compressed, at most 400", loads.first.div_ceil(1000)));
    for (part, bytes) in &loads.parts {
        say::note(&format!("part {part}: {} kB, what it shares with others included", bytes.div_ceil(1000)));
    }
    browser::node(root, &system, &["measure.mjs"], &root.join("target/browser"))
}

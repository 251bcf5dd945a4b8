//! `./dev test`: everything that has to pass before a change lands, on servers of its own.
//!
//! A step that fails does not stop the ones after it, except where they could not say anything without it. The last
//! line sums up: tests by the runners' own counts, every other step as one.

mod alerts;
pub mod browser;
mod lifecycle;
mod sdk;
pub mod system;
mod tally;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use testkit::postgres::{Options, Server};

use crate::prepare::{self, Schema};
use crate::{cargo, say, tidy, ui};
use system::System;
use tally::Tally;

/// Flags of `./dev test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Only the tests in Rust whose name contains one of these.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

impl Test {
    /// Runs all steps.
    ///
    /// # Errors
    /// When a step failed.
    pub fn run(self, root: &Path) -> anyhow::Result<()> {
        let server = Server::start_blocking(Options {
            // Test processes run side by side, each with pools of its own.
            settings: vec![("max_connections".into(), "500".into()), ("shared_buffers".into(), "256MB".into())],
            ..Options::default()
        })?;
        let mut run = Run { root, server: &server, tally: Tally::default(), is_linted: false };
        if self.names.is_empty() {
            run.everything();
        } else {
            run.step("tests in Rust", |run| run.rust(&self.names));
        }
        let tally = run.tally;
        drop(server);
        say::result(&tally.last_line());
        if tally.is_green() { Ok(()) } else { bail!("not everything passed") }
    }
}

/// `./dev lint`
///
/// # Errors
/// When there is something to change.
pub fn lint(root: &Path) -> anyhow::Result<()> {
    cargo::run(root, &CLIPPY)?;
    tidy::run(root)
}

/// Warnings are errors here and nowhere else: work in progress compiles.
const CLIPPY: [&str; 6] = ["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"];

/// What stands between arguments in `CLIPPY_ARGS`: the name is clippy's own, its driver splits by it.
const CLIPPY_SEPARATOR: &str = "__CLIPPY_HACKERY__";

/// Has the workspace compiled by clippy's driver, which is the compiler with lints, as `cargo clippy` does; but that would
/// compile everything a second time, for nothing but the lints.
fn lint_while_building(command: &mut Command) {
    let deny_warnings = ["-D", "warnings", ""].join(CLIPPY_SEPARATOR);
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", deny_warnings);
}

struct Run<'a> {
    root: &'a Path,
    server: &'a Server,
    tally: Tally,
    /// The lints hold, and what was built with them is there.
    is_linted: bool,
}

impl Run<'_> {
    fn everything(&mut self) {
        let root = self.root;
        // The console has a target folder of its own, and its last minutes keep one core busy: the lints use the other.
        let console = std::thread::scope(|scope| {
            let console = scope.spawn(|| ui::build(root));
            self.check("format", |run| cargo::run(run.root, &["fmt", "--all", "--check"]).context("run `./dev fmt`"));
            self.check("house rules (tidy)", |run| tidy::run(run.root));
            self.check("alert rules", |run| alerts::check(run.root));
            self.is_linted = self.check("build, lints and checked queries", Self::build_against_the_schema);
            console.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the build of the console panicked")))
        });
        if !self.check("console", |_| console) {
            return;
        }
        // Of what the console is built into, and of everything where a lint did not hold.
        if !self.check("build", |run| cargo::succeed(&mut run.cargo(&["build", "--quiet", "--bins"]))) {
            return;
        }
        self.step("tests in Rust", |run| run.rust(&[]));
        self.check("./dev up and down", |_| lifecycle::check());
        self.step("a system to test from outside", |run| {
            let system = System::start()?;
            run.step("Python SDKs", |run| sdk::run(run.root, sdk::SDKS, &system, &mut run.tally));
            run.step("the console in a browser", |run| browser::run(run.root, &system, &mut run.tally));
            run.step("the document, and secrets left behind", |run| {
                sdk::run(run.root, sdk::LAST, &system, &mut run.tally)
            });
            Ok(())
        });
    }

    /// A step that counts as one.
    fn check(&mut self, name: &str, check: impl FnOnce(&mut Self) -> anyhow::Result<()>) -> bool {
        let failed_before = self.tally.failed;
        self.step(name, |run| {
            check(run)?;
            run.tally.passed += 1;
            Ok(())
        });
        self.tally.failed == failed_before
    }

    /// A step that counts by itself, and as one failure when it ends with an error.
    fn step(&mut self, name: &str, step: impl FnOnce(&mut Self) -> anyhow::Result<()>) {
        say::step(name);
        let start = Instant::now();
        match step(self) {
            Ok(()) => say::note(&format!("{name}: done in {:.0} s", start.elapsed().as_secs_f32())),
            Err(error) => {
                self.tally.failed += 1;
                say::note(&format!("{name}: FAILED after {:.0} s: {error:#}", start.elapsed().as_secs_f32()));
            }
        }
    }

    /// Cargo; where the lints hold, with the compiler that says so: what was built with it is built.
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo::command(self.root, arguments);
        if self.is_linted {
            lint_while_building(&mut command);
        }
        command
    }

    /// One compile for three things: the programs and tests, do the lints hold, and is `.sqlx` what the schema says?
    fn build_against_the_schema(&mut self) -> anyhow::Result<()> {
        let schema = Schema::on(self.root, self.server.url(), None)?;
        let fresh = tempfile::tempdir()?;
        let mut command = cargo::command(self.root, &["build", "--quiet", "--all-targets"]);
        lint_while_building(&mut command);
        schema.check_queries(self.root, &mut command, fresh.path())?;
        cargo::succeed(&mut command)?;
        prepare::compare(self.root, fresh.path())
    }

    /// With nextest where it is installed: it runs the tests of all crates side by side.
    fn rust(&mut self, names: &[String]) -> anyhow::Result<()> {
        let has_nextest =
            cargo::command(self.root, &["nextest", "--version"]).output().is_ok_and(|output| output.status.success());
        let arguments: &[&str] =
            if has_nextest { &["nextest", "run", "--no-fail-fast"] } else { &["test", "--no-fail-fast"] };
        let mut command = self.cargo(arguments);
        command.args(names).env("TOLLGATE_TEST_POSTGRES_URL", self.server.url());
        self.tally.count(&mut command)?;
        if has_nextest && names.is_empty() {
            let mut command = self.cargo(&["test", "--quiet", "--doc"]);
            self.tally.count(command.env("TOLLGATE_TEST_POSTGRES_URL", self.server.url()))?;
        }
        Ok(())
    }
}

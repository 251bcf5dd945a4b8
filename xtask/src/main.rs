//! The workspace's tasks, behind `./dev`: run the development system, test everything, keep the house in order.
//!
//! `./dev` installs what is missing and calls this program; everything that has to think is here. One task per module.
//! To add one: a module with `pub fn run`, a variant of [`Task`], a line in `./dev`'s help.

mod bench;
mod cargo;
mod prepare;
mod say;
mod system;
mod test;
mod tidy;
mod ui;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "./dev", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build and start the whole system with demo data.
    Up(system::Up),
    /// Wait until a service of the running system ends.
    #[command(hide = true)]
    Watch(system::Watch),
    /// Stop the system; its data stays.
    Down(system::Down),
    /// Everything that has to pass: format, lints, tidy, query data, tests, SDKs.
    Test(test::Test),
    /// Measure: the ledger's scripts beside bare ones, the gateway beside nginx.
    Bench(bench::Bench),
    /// Bring the running system's database up to date.
    Migrate(system::Migrate),
    /// Write the checked queries' data to `.sqlx` after a change of a query or the schema.
    Prepare,
    /// Build the web console into `crates/admin-ui/dist`, which the admin API embeds.
    Ui,
    /// Pictures of every page of the console in both languages and themes, in `target/screenshots`.
    Screenshots,
    /// Format all code.
    Fmt,
    /// Lints and `tidy`.
    Lint,
    /// Check the house's rules: direction of dependencies, names, sizes, licences.
    Tidy,
}

fn main() -> ExitCode {
    match run(&root(), Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::step(&format!("failed: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, task: Task) -> anyhow::Result<()> {
    match task {
        Task::Up(task) => task.run(root),
        Task::Watch(task) => task.run(root),
        Task::Down(task) => task.run(root),
        Task::Test(task) => task.run(root),
        Task::Bench(task) => task.run(root),
        Task::Migrate(task) => task.run(root),
        Task::Screenshots => test::browser::screenshots(root),
        Task::Prepare => prepare::run(root),
        Task::Ui => ui::build(root),
        Task::Fmt => cargo::run(root, &["fmt", "--all"]),
        Task::Lint => test::lint(root),
        Task::Tidy => tidy::run(root),
    }
}

/// The checkout that this program was built from.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

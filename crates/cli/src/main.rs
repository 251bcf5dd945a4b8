//! The program `tollgate`, for operators: brings the schema up to date, makes the first way in, and looks after both copies
//! of the books.
//!
//! One command per file, each a struct of flags with `run`. It talks to Postgres as the schema's owner or as a service,
//! and to Redis, never to a running service, so that it works when nothing else does. To add a command: a file here and a variant.

mod create_admin;
mod create_service_token;
mod ledger;
mod migrate;
mod verify;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use store::Store;

/// Operates a Tollgate deployment from the command line.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bring the database's schema up to this program's version. Safe to repeat and to run from several places at once.
    Migrate(migrate::Migrate),
    /// Create a person who may do everything: the first administrator, or one more when nobody can sign in.
    CreateAdmin(create_admin::CreateAdmin),
    /// Make a token for a system such as a billing system, and print it.
    CreateServiceToken(create_service_token::CreateServiceToken),
    /// Load the ledger's scripts into Redis and check its settings.
    LoadScripts(ledger::LoadScripts),
    /// Show a tenant's numbers in PostgreSQL and Redis, and its running freezes.
    Show(ledger::Show),
    /// Compare Redis with PostgreSQL, of one tenant or all; fails where a copy is wrong.
    Compare(ledger::Compare),
    /// Check that every sum in PostgreSQL adds up from its rows; fails where one does not.
    Verify(verify::Verify),
    /// Have a tenant's copy in Redis loaded anew from PostgreSQL. Deletes nothing; calls go on.
    Rebuild(ledger::Rebuild),
    /// End one running freeze without a charge.
    RollBack(ledger::RollBack),
}

/// Where the database is.
#[derive(Debug, Args)]
struct Database {
    /// PostgreSQL, `postgres://user:password@host:port/database`.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,
}

impl Database {
    /// Connects; statements may take as long as they need.
    async fn connect(&self) -> anyhow::Result<Store> {
        let mut config = store::Config::new(self.database_url.clone(), "tollgate");
        config.max_connections = 2;
        config.statement_timeout = Duration::ZERO;
        Store::connect(&config).await.context(
            "can't connect to PostgreSQL: check --database-url (DATABASE_URL), and that the server runs and lets this user in",
        )
    }
}

/// The likeliest cause of a statement that fails.
const OLD_SCHEMA: &str = "the database refused: is its schema up to date (`tollgate migrate`)?";

/// Writes one line to standard output.
fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("can't write to standard output")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Migrate(command) => command.run().await,
        Command::CreateAdmin(command) => command.run().await,
        Command::CreateServiceToken(command) => command.run().await,
        Command::LoadScripts(command) => command.run().await,
        Command::Show(command) => command.run().await,
        Command::Compare(command) => command.run().await,
        Command::Verify(command) => command.run().await,
        Command::Rebuild(command) => command.run().await,
        Command::RollBack(command) => command.run().await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A terminal that is gone can't be told.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn flags_are_consistent_and_have_environment_variables() {
        let mut cli = Cli::command();
        cli.build();
        for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
            for argument in command.get_arguments().filter(|a| !matches!(a.get_id().as_str(), "help" | "version")) {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
        }
        cli.debug_assert();
    }
}

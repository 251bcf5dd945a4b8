//! The twin of `open.lua`.

use domain::Shard;

use crate::freeze::{Ticket, new_window};
use crate::{Ledger, LedgerError, WindowId, keys, scripts};

/// Where the shard's window stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenOutcome {
    /// No window runs.
    Open(Ticket),
    /// Wait out this window, then call again.
    Recovering(WindowId),
}

impl Ledger {
    /// Opens the window `waited`, or tells which one runs.
    ///
    /// # Errors
    /// `Unknown` or `NotApplied`: call again.
    pub async fn open(&self, shard: Shard, waited: Option<&WindowId>) -> Result<OpenOutcome, LedgerError> {
        let args = [new_window(), waited.cloned().unwrap_or_default()];
        let (mut reply, _) = self.call(&scripts::OPEN, &[keys::marker(shard)], &args).await?;
        match reply.word()?.as_str() {
            "OPEN" => Ok(OpenOutcome::Open(Ticket { window: reply.word()?, evictions: reply.word()? })),
            "RECOVERING" => Ok(OpenOutcome::Recovering(reply.word()?)),
            _ => Err(reply.unexpected()),
        }
    }
}

impl Ledger {
    /// Starts a new recovery window of `shard` at the next contact: no account of it is believed until it is loaded again.
    /// Deletes nothing but the marker: live freezes stay, and count again when their accounts are loaded.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn renew_window(&self, shard: Shard) -> Result<(), LedgerError> {
        Ok(redis::cmd("DEL").arg(keys::marker(shard)).query_async(&mut self.connection()).await?)
    }

    /// Those of `shards` that are not open in the present generation, in one pipeline. Changes nothing.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn closed(&self, shards: &[Shard]) -> Result<Vec<Shard>, LedgerError> {
        let mut connection = self.connection();
        let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await?;
        let run = info.lines().find_map(|line| line.strip_prefix("run_id:")).map(str::trim).unwrap_or_default();
        let mut pipeline = redis::pipe();
        for shard in shards {
            pipeline.cmd("HMGET").arg(keys::marker(*shard)).arg("run").arg("state");
        }
        let markers: Vec<(Option<String>, Option<String>)> = pipeline.query_async(&mut connection).await?;
        let open = |(held, state): &(Option<String>, Option<String>)| {
            held.as_deref() == Some(run) && state.as_deref() == Some("open")
        };
        Ok(shards.iter().zip(&markers).filter(|(_, marker)| !open(marker)).map(|(shard, _)| *shard).collect())
    }
}

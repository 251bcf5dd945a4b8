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

//! Opens the recovery windows of idle shards, so that only requests of the first seconds of a generation wait.

use std::collections::HashMap;
use std::time::Duration;

use domain::Shard;
use ledger::{Ledger, OpenOutcome, WindowId};
use tokio::time::Instant;

/// Windows seen, and since when, on this process' own monotonic clock.
#[derive(Debug, Default)]
pub struct Windows {
    seen: HashMap<Shard, (WindowId, Instant)>,
}

impl Windows {
    /// One pass: begins the window of each shard of a new generation, ends those that were waited out. Returns how many are closed.
    ///
    /// # Errors
    /// Redis gave no answer.
    pub async fn pass(&mut self, ledger: &Ledger, recovery_wait: Duration) -> Result<usize, ledger::LedgerError> {
        let shards: Vec<Shard> = Shard::all().collect();
        let closed = ledger.closed(&shards).await?;
        let mut still = HashMap::new();
        for shard in closed {
            let seen = self.seen.get(&shard);
            let waited = seen.filter(|(_, since)| since.elapsed() >= recovery_wait).map(|(window, _)| window.clone());
            if seen.is_some() && waited.is_none() {
                still.extend(self.seen.remove_entry(&shard));
                continue;
            }
            // Counted from the reply: the window began no later.
            if let OpenOutcome::Recovering(window) = ledger.open(shard, waited.as_ref()).await? {
                still.insert(shard, (window, Instant::now()));
            }
        }
        self.seen = still;
        Ok(self.seen.len())
    }
}

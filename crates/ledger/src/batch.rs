//! The twins of `beat.lua` and `settle.lua`: many freezes of one shard in one call.

use domain::{FreezeEntry, Shard};

use crate::args::{Keys, push_item};
use crate::scripts::Script;
use crate::{Ledger, LedgerError, freeze::new_window, keys, scripts};

/// Freezes in one call at most, so that no script runs long.
pub const BATCH: usize = 100;

impl Ledger {
    /// Renews the leases of `entries`, all of `shard`, in flight too, and re-creates those that Redis lost.
    ///
    /// # Errors
    /// `Unknown` or `NotApplied`: beat again. `Protocol` where an entry is not valid.
    pub async fn beat(&self, shard: Shard, entries: &[FreezeEntry]) -> Result<(), LedgerError> {
        self.put(&scripts::BEAT, shard, entries).await
    }

    /// Shrinks (or grows) the freezes of `entries`, all settled and of `shard`, to their actual charge, and what they
    /// reserved of token rates to the tokens that they took. They are no longer in flight.
    ///
    /// # Errors
    /// `Unknown` or `NotApplied`: settle again, it changes nothing twice. `Protocol` where an entry is not valid.
    pub async fn settle(&self, shard: Shard, entries: &[FreezeEntry]) -> Result<(), LedgerError> {
        self.put(&scripts::SETTLE, shard, entries).await
    }

    async fn put(&self, script: &'static Script, shard: Shard, entries: &[FreezeEntry]) -> Result<(), LedgerError> {
        for chunk in entries.chunks(BATCH) {
            let mut keys = Keys::default();
            keys.number(keys::marker(shard));
            keys.number(keys::index(shard));
            let mut args = vec![new_window(), self.lease_ms.to_string()];
            for entry in chunk {
                push_item(&mut args, &mut keys, entry);
            }
            let (mut reply, _) = self.call(script, &keys.into_list(), &args).await?;
            if reply.word()? != "OK" {
                return Err(reply.unexpected());
            }
        }
        Ok(())
    }
}

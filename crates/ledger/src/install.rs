//! The twin of `install.lua`.

use domain::{Home, Numbers, Shard, Snapshot};

use crate::args::push_snapshot;
use crate::{Ledger, LedgerError, freeze::new_window, keys, scripts};

/// What Redis holds of an account after an install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// True where the account admits requests by these totals now; false: the next request loads them.
    pub open: bool,
    /// Its numbers.
    pub numbers: Numbers,
}

impl Ledger {
    /// Pushes newer totals of accounts of one home.
    ///
    /// # Errors
    /// `Unknown` or `NotApplied`: push again. `Protocol` where a snapshot is not valid.
    pub async fn install(&self, home: impl Into<Home>, snapshots: &[Snapshot]) -> Result<Vec<Installed>, LedgerError> {
        let home = home.into();
        let shard = Shard::of(home);
        let mut list = vec![keys::marker(shard), keys::freezes(home)];
        let mut args = vec![new_window(), snapshots.len().to_string()];
        for snapshot in snapshots {
            list.push(keys::account(shard, &snapshot.scope));
            push_snapshot(&mut args, snapshot);
        }
        list.extend(snapshots.iter().filter_map(|snapshot| keys::pool_account(shard, &snapshot.scope)));
        let (mut reply, _) = self.call(&scripts::INSTALL, &list, &args).await?;
        if reply.word()? != "OK" {
            return Err(reply.unexpected());
        }
        let (_window, _state) = (reply.word()?, reply.word()?);
        let mut held = Vec::with_capacity(snapshots.len());
        for snapshot in snapshots {
            let open = reply.word()? == "1";
            held.push(Installed { open, numbers: reply.numbers(&snapshot.scope)? });
        }
        Ok(held)
    }
}

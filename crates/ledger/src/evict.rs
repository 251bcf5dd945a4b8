//! The twin of `evict.lua`.

use domain::{Home, Scope, Shard, TenantId};

use crate::{Ledger, LedgerError, WindowId, freeze::new_window, keys, scripts};

/// Accounts in one call at most, so that no script runs long.
const BATCH: usize = 500;

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evicted {
    /// Redis holds the accounts no more.
    Done,
    /// So many requests of the tenant are frozen there: nothing was forgotten.
    Busy(i64),
    /// Wait out the window, then call again with it as `waited`.
    Recovering(WindowId),
}

impl Ledger {
    /// Forgets accounts of `tenant` among the keys of `home`, where nothing of it is frozen there. A member's account of a pool
    /// must not be among them: its pool's counts on it.
    ///
    /// # Errors
    /// `Unknown` or `NotApplied`: call again.
    pub async fn evict(
        &self,
        home: Home,
        tenant: TenantId,
        scopes: &[Scope],
        waited: Option<&WindowId>,
    ) -> Result<Evicted, LedgerError> {
        let shard = Shard::of(home);
        let mut rest = scopes;
        loop {
            let (now, later) = rest.split_at(rest.len().min(BATCH));
            let mut list = vec![keys::marker(shard), keys::freezes(home)];
            list.extend(now.iter().map(|scope| keys::account(shard, scope)));
            let args = [new_window(), waited.cloned().unwrap_or_default(), tenant.to_string()];
            let (mut reply, _) = self.call(&scripts::EVICT, &list, &args).await?;
            match reply.word()?.as_str() {
                "EVICTED" if later.is_empty() => return Ok(Evicted::Done),
                "EVICTED" => rest = later,
                "BUSY" => return Ok(Evicted::Busy(reply.integer()?)),
                "RECOVERING" => return Ok(Evicted::Recovering(reply.word()?)),
                _ => return Err(reply.unexpected()),
            }
        }
    }
}

//! The twin of `confirm.lua`.

use domain::{Home, RequestId, Scope, Shard, Snapshot, TenantId};

use crate::args::{Keys, push_snapshot};
use crate::{Ledger, LedgerError, freeze::new_window, keys, scripts};

/// A freeze whose outcome Postgres holds.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The request.
    pub request_id: RequestId,
    /// Whose.
    pub tenant_id: TenantId,
    /// Key, project, tenant; of a pool's member that and the pool after them.
    pub scopes: Vec<Scope>,
    /// What the reconciler read: the freeze goes only if it is still that. None: the gateway's own, unconditionally.
    pub expected: Option<String>,
}

impl Delete {
    /// Whose keys the freeze lives among.
    #[must_use]
    pub fn home(&self) -> Home {
        Home::of(self.tenant_id, &self.scopes)
    }
}

impl Ledger {
    /// Installs the snapshots (each with the home whose freezes it sums), then deletes the freezes; all of `shard`.
    /// Returns how many freezes went.
    ///
    /// # Errors
    /// `Unknown` or `NotApplied`: confirm again. `Protocol` where an argument is not valid.
    pub async fn confirm(
        &self,
        shard: Shard,
        snapshots: &[(Home, Snapshot)],
        deletes: &[Delete],
    ) -> Result<i64, LedgerError> {
        let mut keys = Keys::default();
        keys.number(keys::marker(shard));
        keys.number(keys::index(shard));
        let mut args = vec![new_window(), snapshots.len().to_string()];
        for (home, snapshot) in snapshots {
            args.push(keys.number(keys::account(shard, &snapshot.scope)));
            args.push(keys.number(keys::freezes(*home)));
            if let Some(pool) = keys::pool_account(shard, &snapshot.scope) {
                keys.number(pool);
            }
            push_snapshot(&mut args, snapshot);
        }
        for delete in deletes {
            args.push(keys.number(keys::freezes(delete.home())));
            args.push(keys::member(delete.home(), delete.request_id));
            args.push(delete.request_id.to_string());
            args.push(delete.expected.clone().unwrap_or_default());
            args.push(delete.scopes.len().to_string());
            for name in [keys::account, keys::running] {
                args.extend(delete.scopes.iter().map(|scope| keys.number(name(shard, scope))));
            }
        }
        let (mut reply, _) = self.call(&scripts::CONFIRM, &keys.into_list(), &args).await?;
        if reply.word()? != "OK" {
            return Err(reply.unexpected());
        }
        reply.word()?;
        reply.integer()
    }
}

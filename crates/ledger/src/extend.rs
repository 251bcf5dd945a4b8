//! The twin of `extend.lua`.

use domain::{Amount, Home, Numbers, RequestId, Scope, TenantId};

use crate::freeze::{Load, Refused, Ticket, chain_keys, push_load, push_window, refused};
use crate::{Ledger, LedgerError, WindowId, scripts};

/// To what an active freeze shall grow.
#[derive(Debug, Clone)]
pub struct ExtendCall<'a> {
    /// The freeze.
    pub request_id: RequestId,
    /// Whose.
    pub tenant_id: TenantId,
    /// Key, project, tenant, as it was frozen.
    pub scopes: &'a [Scope],
    /// The new total, at most.
    pub want: Amount,
    /// The new total, at least.
    pub need: Amount,
    /// The window that the caller waited out.
    pub waited: Option<&'a WindowId>,
    /// Snapshots after a NEED_LOAD.
    pub load: Option<&'a Load>,
}

/// What became of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtendOutcome {
    /// The freeze is now this large.
    Extended {
        /// The new total.
        amount: Amount,
        /// The accounts after it, where Redis holds them.
        numbers: Vec<Numbers>,
    },
    /// A limit forbids; nothing was written.
    Refused(Refused),
    /// Read Postgres, then call again with the snapshots.
    NeedLoad(Ticket),
    /// Wait out the window, then call again with it as `waited`.
    Recovering(WindowId),
    /// The account's status forbids.
    Inactive {
        /// Whose status.
        scope: Scope,
        /// The status.
        status: String,
    },
    /// Redis holds no active freeze of this id: beat it, then call again.
    Gone,
    /// Not valid; nothing was written.
    Invalid,
}

impl Ledger {
    /// One attempt to extend; the caller follows `NeedLoad`, `Recovering` and `Gone`.
    ///
    /// # Errors
    /// `Unknown`: send the same call again. `NotApplied`: nothing was written.
    pub async fn extend(&self, call: &ExtendCall<'_>) -> Result<ExtendOutcome, LedgerError> {
        let keys = chain_keys(Home::of(call.tenant_id, call.scopes), call.scopes);
        let mut args = vec![call.request_id.to_string(), call.want.to_string(), call.need.to_string()];
        push_window(&mut args, call.waited, call.load);
        push_load(&mut args, call.scopes, call.load);
        let (mut reply, _) = self.call(&scripts::EXTEND, &keys, &args).await?;
        match reply.word()?.as_str() {
            "EXTENDED" => {
                let amount = reply.amount()?;
                let numbers = call.scopes.iter().map_while(|scope| reply.numbers(scope).ok()).collect();
                Ok(ExtendOutcome::Extended { amount, numbers })
            }
            "REFUSED" => refused(&mut reply, call.scopes).map(ExtendOutcome::Refused),
            "NEED_LOAD" => Ok(ExtendOutcome::NeedLoad(Ticket { window: reply.word()?, evictions: reply.word()? })),
            "RECOVERING" => Ok(ExtendOutcome::Recovering(reply.word()?)),
            "INACTIVE" => Ok(ExtendOutcome::Inactive { scope: reply.which(call.scopes)?, status: reply.word()? }),
            "GONE" => Ok(ExtendOutcome::Gone),
            "INVALID" => Ok(ExtendOutcome::Invalid),
            _ => Err(reply.unexpected()),
        }
    }
}

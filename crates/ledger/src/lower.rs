//! The twin of `lower.lua`.

use domain::{Amount, Home, Numbers, Scope};

use crate::freeze::{Load, Ticket, chain_keys, push_load, push_window};
use crate::{Ledger, LedgerError, WindowId, scripts};

/// A decrease that Postgres holds as pending.
#[derive(Debug, Clone)]
pub struct LowerCall<'a> {
    /// Whose keys the account lives among.
    pub home: Home,
    /// The account.
    pub scope: &'a Scope,
    /// By how much; above zero.
    pub by: Amount,
    /// The window that the caller waited out.
    pub waited: Option<&'a WindowId>,
    /// A snapshot of the version that made the decrease pending, or a later one.
    pub load: &'a Load,
}

/// What became of the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LowerOutcome {
    /// What is used and set aside fits below the lowered total.
    Fits(Numbers),
    /// It does not: cancel the decrease.
    Below(Numbers),
    /// Read Postgres, then call again with the snapshot.
    NeedLoad(Ticket),
    /// Wait out the window, then call again with it as `waited`.
    Recovering(WindowId),
    /// Not valid, or the account has no total.
    Invalid,
}

impl Ledger {
    /// One attempt to test a decrease; the caller follows `NeedLoad` and `Recovering`.
    ///
    /// # Errors
    /// `Unknown`, `NotApplied`: test again, or cancel the decrease.
    pub async fn lower(&self, call: &LowerCall<'_>) -> Result<LowerOutcome, LedgerError> {
        let scopes = std::slice::from_ref(call.scope);
        let keys = chain_keys(call.home, scopes);
        let mut args = vec![call.by.to_string()];
        push_window(&mut args, call.waited, Some(call.load));
        push_load(&mut args, scopes, Some(call.load));
        let (mut reply, _) = self.call(&scripts::LOWER, &keys, &args).await?;
        match reply.word()?.as_str() {
            "FITS" => Ok(LowerOutcome::Fits(reply.numbers(call.scope)?)),
            "BELOW" => Ok(LowerOutcome::Below(reply.numbers(call.scope)?)),
            "NEED_LOAD" => Ok(LowerOutcome::NeedLoad(Ticket { window: reply.word()?, evictions: reply.word()? })),
            "RECOVERING" => Ok(LowerOutcome::Recovering(reply.word()?)),
            "INVALID" => Ok(LowerOutcome::Invalid),
            _ => Err(reply.unexpected()),
        }
    }
}

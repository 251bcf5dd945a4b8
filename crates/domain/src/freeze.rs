//! A freeze: quota set aside for one request, from its admission until Postgres holds its outcome.

use crate::amount::Amount;
use crate::ids::{RequestId, TenantId};
use crate::scope::{Home, Scope};

/// Where a freeze stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FreezeState {
    /// Its request runs.
    Active,
    /// Its request ended; amount and progress are the actual charge, the outcome is not confirmed yet.
    Settled,
}

impl FreezeState {
    /// The letter in Redis.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Active => "A",
            Self::Settled => "S",
        }
    }
}

/// Everything that a beat carries, so that a freeze which Redis lost can be written again as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreezeEntry {
    /// The request.
    pub request_id: RequestId,
    /// Whose.
    pub tenant_id: TenantId,
    /// Where it stands.
    pub state: FreezeState,
    /// What was asked for at most.
    pub want: Amount,
    /// What was asked for at least.
    pub need: Amount,
    /// What is set aside.
    pub amount: Amount,
    /// Charge of what was relayed so far, by the local count.
    pub progress: Amount,
    /// Tokens that the request really took; counts only once it is settled, and corrects what the freeze reserved of the
    /// token rates.
    pub tokens: i64,
    /// When it was frozen, ms of Redis' clock.
    pub created_ms: i64,
    /// Version of the tenant's account at the freeze: decides whether a grant that ended since may be used.
    pub version: i64,
    /// The gateway that holds it.
    pub gateway: String,
    /// The model's name or id, without `|`.
    pub model: String,
    /// Key, project, tenant; of a pool's member that and the pool after them.
    pub scopes: Vec<Scope>,
}

impl FreezeEntry {
    /// Whose keys it lives among.
    #[must_use]
    pub fn home(&self) -> Home {
        Home::of(self.tenant_id, &self.scopes)
    }
}

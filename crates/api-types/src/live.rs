//! What a tenant's copies of its books look like now, and its running freezes.

use domain::{KeyId, RequestId};

use crate::{Decimal, Numbers, Timestamp};

words! {
    /// How Redis' copy of an account compares with Postgres.
    pub enum Difference {
        /// The same.
        Equal = "equal",
        /// Redis holds none: the next request loads it.
        Absent = "absent",
        /// Redis is older: mends itself within seconds.
        Behind = "behind",
        /// Redis is newer than Postgres: commits were lost.
        Ahead = "ahead",
        /// The same version with other totals: rebuild the copy.
        Different = "different",
        /// What is frozen is not the sum of the freezes: rebuild the copy.
        FrozenDiffers = "frozen_differs",
    }

    /// Where a freeze stands.
    pub enum FreezeState {
        /// Its request runs.
        Active = "active",
        /// Its charge is known and waits to be confirmed.
        Settled = "settled",
    }
}

reply! {
    /// One scope in both copies.
    pub struct LiveScope {
        /// `tenant`, `project:period` or `key:period`.
        pub scope: String,
        /// Redis' numbers; null where it holds none.
        pub redis: Option<Numbers>,
        /// Postgres' totals, with what Redis has frozen.
        pub postgres: Numbers,
        /// How they compare.
        pub difference: Difference,
        /// True where the scope is halted until somebody looks.
        pub halted: bool,
    }

    /// Both copies of a tenant's accounts.
    pub struct Live {
        /// The tenant's own first, then keys and projects by last change; at most 200.
        pub scopes: Vec<LiveScope>,
        /// How many freezes are live.
        pub freezes: u64,
        /// False where freezes came and went during the reading, so that `frozen_differs` was not judged.
        pub settled: bool,
    }

    /// A running freeze.
    pub struct LiveFreeze {
        /// The request.
        pub request_id: RequestId,
        /// The key that called.
        pub key_id: Option<KeyId>,
        /// The model.
        pub model: String,
        /// What is set aside.
        pub amount: Decimal,
        /// The charge of what was relayed up to the last beat.
        pub progress: Decimal,
        /// Where it stands.
        pub state: FreezeState,
        /// When it was frozen.
        pub created_at: Timestamp,
        /// Since its last beat, in ms. Over 30 000: its gateway is gone and the reconciler ends it.
        pub beat_age_ms: i64,
        /// The gateway that holds it.
        pub gateway: String,
    }

    /// A tenant's running freezes.
    pub struct LiveFreezes {
        /// The oldest first.
        pub items: Vec<LiveFreeze>,
    }

    /// What a rebuild of Redis' copy did, or would do.
    pub struct Rebuilt {
        /// True: nothing was done.
        pub dry_run: bool,
        /// Both copies before.
        pub before: Live,
        /// Both copies after; null for a dry run. Accounts are absent until the next request loads them.
        pub after: Option<Live>,
    }

    /// A freeze that was ended by hand.
    pub struct FreezeRolledBack {
        /// The request.
        pub request_id: RequestId,
        /// `rolled_back`, or how the request had ended already.
        pub outcome: String,
        /// What was given back.
        pub given_back: Decimal,
    }
}

request! {
    /// Rebuilds Redis' copy.
    pub struct Rebuild {
        /// True: only say what differs.
        #[serde(default)]
        pub dry_run: bool,
    }
}

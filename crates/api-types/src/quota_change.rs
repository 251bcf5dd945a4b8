//! Changes of a quota: always by a delta, never to a total.

use domain::ids::QuotaChangeId;

use crate::{Decimal, Numbers, Timestamp};

request! {
    /// Changes the quota of a tenant, or the budget of a project or key in its present period.
    pub struct CreateQuotaChange {
        /// By how much, such as `"-3.00"`; not zero.
        pub delta: Decimal,
        /// For people and the audit log.
        pub reason: String,
        /// Change the plan (tenant) or the budget (project, key) of later periods too.
        #[serde(default)]
        pub recurring: bool,
        /// Only say what would be; changes nothing.
        #[serde(default)]
        pub dry_run: bool,
    }
}

reply! {
    /// A change of a quota.
    pub struct QuotaChange {
        /// Id; null for a dry run.
        pub id: Option<QuotaChangeId>,
        /// By how much.
        pub delta: Decimal,
        /// Whether later periods change too.
        pub recurring: bool,
        /// For people.
        pub reason: String,
        /// The numbers before.
        pub before: Numbers,
        /// The numbers after.
        pub after: Numbers,
        /// Who made it.
        pub by: String,
        /// When.
        pub at: Timestamp,
        /// After a change: whether every gateway decides by it already; false while Redis is away.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }
}

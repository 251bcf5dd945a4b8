//! The four numbers of a scope.

use domain::Unit;

use crate::{Decimal, Timestamp};

reply! {
    /// What a scope may spend, has spent, has set aside and has left. total = used + frozen + remaining.
    pub struct Numbers {
        /// `credit` or `token`.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// Sum of the grants in force, or the budget; null: no limit.
        pub total: Option<Decimal>,
        /// Spent against it.
        pub used: Decimal,
        /// Set aside for requests that are running (people read "in flight").
        pub frozen: Decimal,
        /// total - used - frozen; null where there is no limit; negative while a credit line or overdraft is in use.
        pub remaining: Option<Decimal>,
        /// Sum of what was set aside and given back without a charge, for audit.
        pub refunded: Decimal,
        /// Owed beyond credit line and overdraft; blocks.
        pub debt: Decimal,
        /// Elasticity above the total.
        pub overdraft: Overdraft,
        /// The period's label; null where the scope has none.
        pub period: Option<String>,
        /// When the numbers next change by themselves.
        pub resets_at: Option<Timestamp>,
        /// The account's version: + 1 per change.
        pub version: i64,
        /// When the numbers were read.
        pub as_of: Timestamp,
    }

    /// A scope's overdraft.
    pub struct Overdraft {
        /// Whether it was opted in.
        pub enabled: bool,
        /// How far it goes.
        pub limit: Decimal,
        /// How much of it is in use.
        pub used: Decimal,
        /// What is left of it.
        pub remaining: Decimal,
    }
}

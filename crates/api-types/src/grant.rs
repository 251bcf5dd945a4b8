//! Grants of quota.

use domain::{GrantId, TenantId};

use crate::{Decimal, Numbers, Timestamp};

words! {
    /// Where a grant comes from.
    pub enum GrantKind {
        /// Renews each period.
        Plan = "plan",
        /// Bought for a while.
        Temporary = "temporary",
        /// Given.
        Gift = "gift",
    }

    /// Whether a grant may be spent.
    pub enum GrantStatus {
        /// Not yet begun.
        Pending = "pending",
        /// May be spent.
        InForce = "in_force",
        /// Ended early.
        Ended = "ended",
        /// Its validity is over.
        Lapsed = "lapsed",
    }
}

request! {
    /// Adds a grant.
    pub struct CreateGrant {
        /// Plan, temporary or gift.
        pub kind: GrantKind,
        /// How much; above zero.
        pub amount: Decimal,
        /// Lower is spent first; gift 10, temporary 20, plan 30 unless said otherwise.
        pub priority: Option<i32>,
        /// When it begins; null: now.
        pub starts_at: Option<Timestamp>,
        /// When it ends; null: never.
        pub ends_at: Option<Timestamp>,
        /// For a plan: when it renews first, on that day and at that time of day ever after; each grant ends where the next
        /// begins. Null: it comes once.
        pub renews_at: Option<Timestamp>,
        /// For people.
        #[serde(default)]
        pub note: String,
    }
}

reply! {
    /// A grant.
    pub struct Grant {
        /// Id.
        pub id: GrantId,
        /// Its tenant.
        pub tenant_id: TenantId,
        /// Plan, temporary or gift.
        pub kind: GrantKind,
        /// How much.
        pub amount: Decimal,
        /// Spent of it.
        pub used: Decimal,
        /// Left of it.
        pub remaining: Decimal,
        /// Lower is spent first.
        pub priority: i32,
        /// When it begins.
        pub starts_at: Timestamp,
        /// When it ends; null: never.
        pub ends_at: Option<Timestamp>,
        /// Whether it may be spent.
        pub status: GrantStatus,
        /// For people.
        pub note: String,
        /// When it was added.
        pub created_at: Timestamp,
        /// The tenant's numbers with it; in the reply to its creation.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quota: Option<Numbers>,
        /// After a change: whether every gateway decides by it already; false while Redis is away.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }

    /// The tenant's numbers and what they are made of.
    pub struct TenantQuota {
        /// The numbers.
        #[serde(flatten)]
        pub numbers: Numbers,
        /// The grants in force, in the order in which they are spent.
        pub grants: Vec<GrantShare>,
        /// Held by gateways for hot scopes, part of frozen.
        pub in_tranches: Decimal,
    }

    /// A grant's part of the tenant's numbers.
    pub struct GrantShare {
        /// Id.
        pub id: GrantId,
        /// Plan, temporary or gift.
        pub kind: GrantKind,
        /// Left of it.
        pub remaining: Decimal,
        /// When it ends; null: never.
        pub ends_at: Option<Timestamp>,
    }
}

//! Shared pools of quota.

use domain::{PoolId, TenantId, Unit};

use crate::tenant::PeriodKind;
use crate::{Decimal, Numbers, Timestamp};

request! {
    /// Creates a pool. What a member spends counts in the pool and in its own quota; both must have room.
    pub struct CreatePool {
        /// Name.
        pub name: String,
        /// What it is metered in, as all of its members are: `credit` or `token`.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// What part of the budget is guaranteed to the members by weight, 0 to 100; the rest is first come. 50 unless said
        /// otherwise.
        pub guaranteed_percent: Option<u32>,
        /// What the members may spend together.
        pub budget: PoolBudget,
        /// In which the budget's periods begin, an IANA name; UTC unless said otherwise.
        pub time_zone: Option<String>,
    }

    /// An amount per period.
    pub struct PoolBudget {
        /// How much.
        pub amount: Decimal,
        /// Per what; null: once, it never renews.
        pub period: Option<PeriodKind>,
    }

    /// Changes a pool. Absent fields stay.
    pub struct ChangePool {
        /// Name.
        pub name: Option<String>,
        /// What part of the budget is guaranteed to the members by weight, 0 to 100.
        pub guaranteed_percent: Option<u32>,
        /// What the members may spend together. More is in force at once, less from the next period on.
        pub budget: Option<Decimal>,
    }

    /// A member's weight.
    pub struct SetMember {
        /// Its part of what is guaranteed, beside the other members' weights: 1 to 1 000 000.
        pub weight: u32,
    }

    /// The pool that a tenant is in.
    pub struct PoolSetting {
        /// The pool.
        #[cfg_attr(feature = "openapi", schema(value_type = PoolId))]
        pub id: PoolId,
        /// The tenant's part of what is guaranteed, beside the other members' weights: 1 to 1 000 000.
        pub weight: u32,
    }
}

reply! {
    /// A pool.
    pub struct Pool {
        /// Id.
        pub id: PoolId,
        /// Name.
        pub name: String,
        /// What it is metered in.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// What part of the budget is guaranteed to the members by weight.
        pub guaranteed_percent: u32,
        /// What the members may spend together.
        pub budget: PoolBudget,
        /// In which the budget's periods begin.
        pub time_zone: String,
        /// The numbers of the present period.
        pub quota: Numbers,
        /// Its members in the order of their ids; only where one pool is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub members: Option<Vec<PoolMember>>,
        /// When it was created.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
        /// After a change: whether every gateway decides by it already; false while Redis is away.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }

    /// A member of a pool, with what it uses in the present period.
    pub struct PoolMember {
        /// The tenant.
        pub tenant_id: TenantId,
        /// Its name.
        pub name: String,
        /// Its part of what is guaranteed, beside the other members' weights.
        pub weight: u32,
        /// What is kept for it.
        pub guaranteed: Decimal,
        /// What it has spent.
        pub used: Decimal,
        /// What is set aside for its running requests.
        pub frozen: Decimal,
        /// What of both is beyond its guarantee.
        pub borrowed: Decimal,
        /// Since when.
        pub joined_at: Timestamp,
    }
}

//! The nouns and the arithmetic of Tollgate, without I/O, clocks or randomness.
//!
//! Everything here is plain data and plain functions, so that the console (WebAssembly), the servers and the tests
//! decide alike. It deliberately does not know Redis, Postgres, HTTP or the current time: callers pass those facts in.
//!
//! To add a noun: one module, one type that refuses invalid values when it is made, tests beside it.

pub mod alerts;
pub mod amount;
pub mod amount_text;
pub mod api_key;
pub mod books;
pub mod destination;
pub mod estimate;
pub mod field;
pub mod freeze;
pub mod grant;
pub mod ids;
pub mod limits;
pub mod period;
pub mod pool;
pub mod price;
pub mod record;
pub mod scope;
pub mod settings;
pub mod snapshot;
pub mod soft_budget;
pub mod usage;

pub use amount::{Amount, Unit};
pub use freeze::{FreezeEntry, FreezeState};
pub use ids::{
    AlertId, DeliveryId, EventId, GrantId, KeyId, ModelId, PoolId, ProjectId, ReconciliationId, RequestId, TargetId,
    TenantId, UpstreamId, WebhookId,
};
pub use limits::{LimitName, LimitSet, LimitUse, Limits};
pub use price::{Multiplier, Price, Prices, Tariff};
pub use record::{Attempt, Outcome, UsageRecord};
pub use scope::{Home, Level, PeriodLabel, Scope, Shard};
pub use snapshot::{Numbers, Snapshot, Status};
pub use soft_budget::{SoftAction, SoftBudget};
pub use usage::Usage;

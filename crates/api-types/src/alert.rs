//! Alerts, and the comparisons that open and close them.

use domain::{AlertId, ReconciliationId, TenantId};

use crate::live::Difference;
use crate::{Decimal, Numbers, Timestamp};

words! {
    /// How soon somebody should look.
    pub enum Grade {
        /// Now: money is at stake.
        Urgent = "urgent",
        /// Today.
        Warning = "warning",
        /// Some day.
        Hint = "hint",
    }

    /// Whether an alert holds.
    pub enum AlertState {
        /// It does.
        Open = "open",
        /// It did.
        Past = "past",
    }

    /// How far a comparison is.
    pub enum ReconciliationState {
        /// At work.
        Running = "running",
        /// Every account was looked at.
        Done = "done",
        /// Redis or PostgreSQL gave no answer, or something stored could not be read: the log has the cause.
        Failed = "failed",
    }
}

reply! {
    /// Something that people should know of an account.
    pub struct Alert {
        /// Id.
        pub id: AlertId,
        /// How soon somebody should look.
        pub grade: Grade,
        /// What: `beyond_limit`, `sums_differ`, `copy_ahead`, `copy_differs`, `near_threshold`, `unusual_consumption` or `plan_too_large`.
        pub kind: String,
        /// Whose.
        pub tenant_id: TenantId,
        /// The account: `t_...`, `p_...:m20261101`, `k_...:-`.
        pub scope: String,
        /// The account when it was seen last.
        pub numbers: Numbers,
        /// What the tenant was charged lately; null for projects and keys.
        pub trend: Option<Trend>,
        /// What to do.
        pub remedy: String,
        /// When it was found first.
        pub opened_at: Timestamp,
        /// When it was found last.
        pub seen_at: Timestamp,
        /// When it was found no more; null: it holds.
        pub closed_at: Option<Timestamp>,
        /// When somebody took note of it.
        pub acknowledged_at: Option<Timestamp>,
        /// Who.
        pub acknowledged_by: Option<String>,
        /// What they noted.
        pub note: Option<String>,
    }

    /// Charges of a tenant.
    pub struct Trend {
        /// In the last hour, up to the last full quarter.
        pub last_hour: Decimal,
        /// In the 24 hours before it.
        pub day_before: Decimal,
        /// In the same hour of the day before.
        pub same_hour_before: Decimal,
        /// In the last 7 days; null for a younger tenant.
        pub week: Option<Decimal>,
    }

    /// A comparison of Redis and PostgreSQL.
    pub struct Reconciliation {
        /// Id.
        pub id: ReconciliationId,
        /// Of this tenant; null: of every one that is not closed.
        pub tenant_id: Option<TenantId>,
        /// Whether it only looked.
        pub dry_run: bool,
        /// Who wanted it: an id, or `reconciler`.
        pub by: String,
        /// How far it is; the counts are those of its end.
        pub state: ReconciliationState,
        /// Accounts that were looked at.
        pub accounts: i64,
        /// Of them, wrong in Redis or not adding up.
        pub differences: i64,
        /// Of them, loaded anew from PostgreSQL.
        pub repaired: i64,
        /// Alerts that hold, or would.
        pub alerts: i64,
        /// When it began.
        pub started_at: Timestamp,
        /// When it ended.
        pub ended_at: Option<Timestamp>,
    }

    /// An account as a comparison saw it.
    pub struct Snapshot {
        /// The account.
        pub scope: String,
        /// Whose.
        pub tenant_id: TenantId,
        /// When.
        pub at: Timestamp,
        /// The account's version.
        pub version: i64,
        /// Sum of the grants in force, or the budget; null: no limit.
        pub total: Option<Decimal>,
        /// Spent against it, by PostgreSQL.
        pub used: Decimal,
        /// In flight, by Redis; what is just being recorded is in `used` too.
        pub frozen: Decimal,
        /// total - used - frozen.
        pub remaining: Option<Decimal>,
        /// Spent in all.
        pub spent: Decimal,
        /// How Redis' copy compared.
        pub difference: Difference,
    }
}

request! {
    /// Takes note of an alert.
    pub struct Acknowledge {
        /// What to remember, at most 1000 characters.
        #[serde(default)]
        pub note: String,
    }

    /// Compares now.
    pub struct Reconcile {
        /// This tenant; null: every one.
        pub tenant_id: Option<TenantId>,
        /// Only looks: repairs, keeps, tells and opens nothing.
        #[serde(default)]
        pub dry_run: bool,
    }
}

//! Tenants.

use domain::settings::OutageStep;
use domain::{TenantId, Unit};

use crate::numbers::Numbers;
use crate::pool::PoolSetting;
use crate::{Decimal, Factor, Timestamp};

words! {
    /// How long a period is.
    pub enum PeriodKind {
        /// A day.
        Day = "day",
        /// A week.
        Week = "week",
        /// A month.
        Month = "month",
        /// A year.
        Year = "year",
    }

    /// Whether a tenant may call.
    pub enum TenantStatus {
        /// It may.
        Active = "active",
        /// It may not, until it is resumed.
        Suspended = "suspended",
        /// Never again.
        Closed = "closed",
    }
}

request! {
    /// Creates a tenant, with its plan in the same call where wanted.
    pub struct CreateTenant {
        /// Name.
        pub name: String,
        /// The billing system's id of it; unique.
        pub external_id: Option<String>,
        /// `credit` (the default) or `token`; fixed for good.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// IANA name of its time zone, such as `Asia/Shanghai`; periods follow its calendar. Null: the platform's default.
        pub time_zone: Option<String>,
        /// The period of plans and statements.
        #[serde(default)]
        pub period: Period,
        /// A first plan.
        pub plan: Option<FirstPlan>,
        /// Settings; absent ones take their defaults.
        pub settings: Option<SettingsChange>,
    }

    /// A period: a month from its first day unless an anchor says otherwise.
    pub struct Period {
        /// How long.
        pub kind: PeriodKind,
        /// Where it begins: ISO weekday (week), day of the month (month), or month x 100 + day (year); null: the natural start.
        pub anchor: Option<i16>,
    }

    /// A plan granted with the tenant's creation.
    pub struct FirstPlan {
        /// Quota per period.
        pub amount: Decimal,
        /// When it renews first, on that day and at that time of day ever after; null: where the tenant's next period begins.
        pub renews_at: Option<Timestamp>,
    }

    /// Changes a tenant. Absent fields stay; null clears where a field may be empty.
    pub struct ChangeTenant {
        /// Name.
        pub name: Option<String>,
        /// The billing system's id of it; unique.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        pub external_id: Option<Option<String>>,
        /// IANA name of its time zone. A plan keeps its day and time of day: its next renewal moves with the zone.
        pub time_zone: Option<String>,
        /// Settings; absent ones stay.
        pub settings: Option<SettingsChange>,
    }

    /// Settings to set; absent ones stay as they are.
    pub struct SettingsChange {
        /// Elasticity above the total.
        pub overdraft: Option<OverdraftSetting>,
        /// A standing line for customers who pay afterwards.
        pub credit_limit: Option<Decimal>,
        /// Neither credit line nor overdraft is used.
        pub hard_stop: Option<bool>,
        /// Percent used at which the tenant is warned, for each of its scopes; at most 10 of 1 to 100.
        pub thresholds: Option<Vec<u32>>,
        /// The part of a freeze by which its settle may leave debt without an alert: `"0.05"` is 5 %.
        pub settle_tolerance: Option<Factor>,
        /// Every charge of the tenant is multiplied by it; at most 4 places.
        pub multiplier: Option<Factor>,
        /// What happens to calls while the ledger is away, step by step: 1 to 5 of `{"mode": "deny" | "allowance" | "bypass",
        /// "for_s": seconds}`; only the last may leave `for_s` out.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<Object>>))]
        pub outage: Option<Vec<OutageStep>>,
        /// Limits over all of its projects. Absent ones stay; null lifts one.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::limits::Limits>))]
        pub limits: Option<serde_json::Value>,
        /// A stream whose caller has left is read on for the provider's own figure, in place of the local count.
        pub drain_on_abort: Option<bool>,
        /// The pool that the tenant is in; null takes it out of its pool.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<PoolSetting>))]
        pub pool: Option<Option<PoolSetting>>,
    }

    /// Elasticity above the total.
    pub struct OverdraftSetting {
        /// Whether it is in use.
        pub enabled: bool,
        /// How far it goes, as an amount. Null with a null `percent`: 20 percent of the total.
        pub limit: Option<Decimal>,
        /// How far it goes, in percent of the total; 0 to 1000.
        pub percent: Option<u32>,
    }

    /// Why.
    pub struct Reason {
        /// For the audit log.
        pub reason: String,
    }
}

impl Default for Period {
    fn default() -> Self {
        Self { kind: PeriodKind::Month, anchor: None }
    }
}

reply! {
    /// A tenant.
    pub struct Tenant {
        /// Id.
        pub id: TenantId,
        /// Name.
        pub name: String,
        /// The billing system's id of it.
        pub external_id: Option<String>,
        /// Whether it may call.
        pub status: TenantStatus,
        /// `credit` or `token`.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// IANA name.
        pub time_zone: String,
        /// The period of plans and statements.
        pub period: Period,
        /// The four numbers.
        pub quota: Numbers,
        /// Settings in force.
        pub settings: Settings,
        /// How far each of its limits is used up; only where one tenant is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub windows: Option<Vec<crate::limits::LimitWindow>>,
        /// When it was created.
        pub created_at: Timestamp,
        /// When it last called.
        pub last_used_at: Option<Timestamp>,
        /// + 1 per change; the ETag.
        pub version: i64,
        /// After a change: whether every gateway decides by it already; false while Redis is away.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }

    /// A tenant's settings in force.
    pub struct Settings {
        /// Elasticity above the total.
        pub overdraft: OverdraftSetting,
        /// A standing line for customers who pay afterwards.
        pub credit_limit: Decimal,
        /// Neither credit line nor overdraft is used.
        pub hard_stop: bool,
        /// Percent used at which the tenant is warned, for each of its scopes.
        pub thresholds: Vec<u32>,
        /// The part of a freeze by which its settle may leave debt without an alert.
        pub settle_tolerance: Factor,
        /// Every charge of the tenant is multiplied by it.
        pub multiplier: Factor,
        /// What happens to calls while the ledger is away, step by step.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        pub outage: Vec<OutageStep>,
        /// Limits over all of its projects.
        #[serde(default)]
        pub limits: crate::limits::Limits,
        /// A stream whose caller has left is read on for the provider's own figure, in place of the local count.
        #[serde(default)]
        pub drain_on_abort: bool,
        /// The pool that the tenant is in.
        #[serde(default)]
        pub pool: Option<PoolSetting>,
    }
}

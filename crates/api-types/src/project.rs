//! Projects of a tenant.

use domain::{ProjectId, TenantId};

use crate::tenant::PeriodKind;
use crate::{Decimal, Numbers, Timestamp};

words! {
    /// Whether a project may call.
    pub enum ProjectStatus {
        /// It may.
        Active = "active",
        /// Never again.
        Archived = "archived",
    }
}

words! {
    /// What happens at a soft budget.
    pub enum SoftAction {
        /// Replies carry `X-Quota-Warning`.
        Warn = "warn",
        /// Calls are moved to a cheaper model, and replies warn.
        Downgrade = "downgrade",
    }
}

request! {
    /// Creates a project.
    pub struct CreateProject {
        /// Name.
        pub name: String,
        /// How much it may spend per period; null: as much as the tenant.
        pub budget: Option<Budget>,
        /// What happens from a percentage of the budget on; null: nothing until it ends.
        pub soft_budget: Option<SoftBudget>,
        /// Rates, in-flight and the most for one request. Absent ones are none.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::limits::Limits>))]
        pub limits: Option<serde_json::Value>,
    }

    /// Changes a project. Absent fields stay.
    pub struct ChangeProject {
        /// Name.
        pub name: Option<String>,
        /// What happens from a percentage of the budget on; null: nothing until it ends.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<SoftBudget>))]
        pub soft_budget: Option<Option<SoftBudget>>,
        /// Rates, in-flight and the most for one request. Absent ones stay; null lifts one, null in place of the object all.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::limits::Limits>))]
        pub limits: Option<Option<serde_json::Value>>,
    }

    /// What happens before a budget is used up. At 100 percent calls are refused whatever it says.
    pub struct SoftBudget {
        /// Percent of the budget from which on it happens, 1 to 99.
        pub percent: u32,
        /// What happens.
        pub action: SoftAction,
        /// Name of the cheaper model, with `downgrade` only.
        pub model: Option<String>,
    }

    /// An amount per period, in the tenant's unit and time zone.
    pub struct Budget {
        /// How much.
        pub amount: Decimal,
        /// Per what.
        pub period: PeriodKind,
    }
}

reply! {
    /// A project.
    pub struct Project {
        /// Id.
        pub id: ProjectId,
        /// Its tenant.
        pub tenant_id: TenantId,
        /// Name.
        pub name: String,
        /// Whether it may call.
        pub status: ProjectStatus,
        /// How much it may spend per period.
        pub budget: Option<Budget>,
        /// What happens from a percentage of the budget on.
        #[serde(default)]
        pub soft_budget: Option<SoftBudget>,
        /// Rates, in-flight and the most for one request, over all of its keys.
        #[serde(default)]
        pub limits: crate::limits::Limits,
        /// How far each of its limits is used up; only where one project is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub windows: Option<Vec<crate::limits::LimitWindow>>,
        /// The numbers of the present period.
        pub quota: Numbers,
        /// When it was created.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
        /// After a change: whether every gateway decides by it already; false while Redis is away.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }
}

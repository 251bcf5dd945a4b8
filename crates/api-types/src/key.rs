//! API keys of a project.

use domain::{KeyId, ProjectId, TenantId};

use crate::project::Budget;
use crate::{Factor, Numbers, Timestamp};

words! {
    /// Whether a key may call.
    pub enum KeyStatus {
        /// It may.
        Active = "active",
        /// It may not, until it is enabled.
        Disabled = "disabled",
    }
}

request! {
    /// Creates a key.
    pub struct CreateKey {
        /// What it is for.
        pub name: String,
        /// How much it may spend per period; null: as much as its project.
        pub budget: Option<Budget>,
        /// Names of the models that it may call; null: every model.
        pub models: Option<Vec<String>>,
        /// Address ranges that it may be used from, such as `192.0.2.0/24`; null: everywhere.
        pub ip_ranges: Option<Vec<String>>,
        /// When it ends by itself.
        pub expires_at: Option<Timestamp>,
        /// Its estimates are multiplied by it, at least 1; null: the model's.
        pub safety_factor: Option<Factor>,
        /// Rates, in-flight and the most for one request. Absent ones are none.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::limits::Limits>))]
        pub limits: Option<serde_json::Value>,
    }

    /// Gives a key or a service token another secret.
    pub struct RotateSecret {
        /// Seconds for which the present secret goes on working beside the new one, 0 to 2592000 (30 days); a day unless said
        /// otherwise. With 0 it ends at once.
        pub grace_s: Option<u32>,
    }

    /// Changes a key. Absent fields stay; null clears where a field may be empty.
    pub struct ChangeKey {
        /// What it is for.
        pub name: Option<String>,
        /// Names of the models that it may call; null: every model.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>))]
        pub models: Option<Option<Vec<String>>>,
        /// Address ranges that it may be used from, such as `192.0.2.0/24`; null: everywhere.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>))]
        pub ip_ranges: Option<Option<Vec<String>>>,
        /// When it ends by itself; null: never.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Timestamp>))]
        pub expires_at: Option<Option<Timestamp>>,
        /// Its estimates are multiplied by it, at least 1; null: the model's.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Factor>))]
        pub safety_factor: Option<Option<Factor>>,
        /// Rates, in-flight and the most for one request. Absent ones stay; null lifts one, null in place of the object all.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::limits::Limits>))]
        pub limits: Option<Option<serde_json::Value>>,
    }
}

reply! {
    /// A key.
    pub struct Key {
        /// Id.
        pub id: KeyId,
        /// The key itself, in the reply to its creation only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
        /// How the secret begins, to recognise it.
        pub prefix: String,
        /// Its tenant.
        pub tenant_id: TenantId,
        /// Its project.
        pub project_id: ProjectId,
        /// What it is for.
        pub name: String,
        /// Whether it may call.
        pub status: KeyStatus,
        /// How much it may spend per period.
        pub budget: Option<Budget>,
        /// Names of the models that it may call; null: every model.
        pub models: Option<Vec<String>>,
        /// Address ranges that it may be used from, such as `192.0.2.0/24`; null: everywhere.
        pub ip_ranges: Option<Vec<String>>,
        /// When it ends by itself.
        pub expires_at: Option<Timestamp>,
        /// Its estimates are multiplied by it; null: the model's.
        pub safety_factor: Option<Factor>,
        /// Rates, in-flight and the most for one request.
        #[serde(default)]
        pub limits: crate::limits::Limits,
        /// How far each of its limits is used up; only where one key is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub windows: Option<Vec<crate::limits::LimitWindow>>,
        /// The numbers of the present period.
        pub quota: Numbers,
        /// When it last called.
        pub last_used_at: Option<Timestamp>,
        /// When it was created.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
        /// After a change: whether every gateway decides by it already; false while Redis is away.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }
}

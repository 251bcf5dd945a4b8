//! The whole platform: figures, services, settings.

use domain::{TenantId, Unit};

use crate::usage::UsageSum;
use crate::{Decimal, Timestamp};

reply! {
    /// What the console's first page shows.
    pub struct Overview {
        /// When it was read.
        pub as_of: Timestamp,
        /// Tenants that may call.
        pub tenants: i64,
        /// Projects that may be used.
        pub projects: i64,
        /// Keys that may be used.
        pub keys: i64,
        /// Requests that run now; null while Redis can't be read.
        pub freezes: Option<u64>,
        /// The last 24 hours, by hour of UTC; one entry per hour and unit.
        pub hours: Vec<UsageSum>,
        /// Requests of the last 24 hours that were not admitted, by reason, most first.
        pub refusals: Vec<Refusals>,
        /// The active tenants that have the least left, in percent.
        pub driest: Vec<Driest>,
    }

    /// Requests that were refused for one reason.
    pub struct Refusals {
        /// The limit, such as `quota` or `rpm`; `inactive`.
        pub reason: String,
        /// How many.
        pub requests: i64,
    }

    /// A tenant near its end, by what is recorded: without what is in flight.
    pub struct Driest {
        /// Which.
        pub tenant_id: TenantId,
        /// Its name.
        pub name: String,
        /// What the amounts count.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// Sum of its grants in force.
        pub total: Decimal,
        /// Spent against it.
        pub used: Decimal,
        /// What is left.
        pub remaining: Decimal,
        /// What is left, in percent of the total, rounded down.
        pub remaining_percent: i64,
    }

    /// Who serves.
    pub struct System {
        /// Every process that reported within the last hour.
        pub services: Vec<Service>,
        /// Redis.
        pub redis: Server,
        /// PostgreSQL.
        pub postgres: Server,
        /// Seconds since the oldest event that was not handed on yet.
        pub outbox_lag_s: u64,
        /// How long the slowest outcome of the last 5 minutes waited for its record, in seconds.
        pub record_lag_s: u64,
    }

    /// A process.
    pub struct Service {
        /// `gateway`, `reconciler` or `admin_api`.
        pub name: String,
        /// Its id; another one after each start.
        pub id: String,
        /// Its version.
        pub version: String,
        /// `up`, or `silent` where it has not reported for a minute.
        pub state: String,
        /// When it reported last.
        pub seen_at: Timestamp,
    }

    /// A server that Tollgate needs.
    pub struct Server {
        /// `up` or `away`.
        pub state: String,
        /// Its version; null where it is away.
        pub version: Option<String>,
        /// How long one question took.
        pub latency_ms: u64,
    }

    /// Settings of the whole platform.
    pub struct PlatformSettings {
        /// The sender of mails, such as `Tollgate <quota@example.com>`; null: `TOLLGATE_MAIL_FROM` of the reconciler.
        pub mail_from: Option<String>,
        /// Of tenants that are created without their own.
        pub defaults: TenantDefaults,
        /// How long what is neither money nor audit is kept.
        pub retention: Retention,
        /// + 1 per change; the ETag.
        pub version: i64,
    }

    /// What a tenant gets that is created without its own.
    pub struct TenantDefaults {
        /// IANA name of its time zone.
        pub time_zone: String,
        /// Percent used at which it is warned.
        pub thresholds: Vec<u32>,
    }

    /// Days that things are kept; null: for ever. Settlements, statements, sums of usage and the audit log are always kept.
    pub struct Retention {
        /// Records of single requests.
        pub usage_records_days: Option<i32>,
        /// Events and their deliveries.
        pub events_days: Option<i32>,
        /// Accounts as the hourly comparisons saw them.
        #[serde(default)]
        pub snapshots_days: Option<i32>,
    }

    /// What a try at an upstream came to.
    pub struct UpstreamTest {
        /// Whether it answered and took the key.
        pub ok: bool,
        /// The HTTP status; null where no answer came.
        pub status: Option<u16>,
        /// Until the answer's head.
        pub latency_ms: u64,
        /// What is wrong.
        pub error: Option<String>,
    }

    /// How many secrets are sealed under the newest key.
    pub struct Rewrapped {
        /// Sealed anew in this call.
        pub rewrapped: u64,
        /// Still sealed under an older key.
        pub left: u64,
    }
}

request! {
    /// Changes the settings. Absent fields stay.
    pub struct ChangePlatformSettings {
        /// The sender of mails; null: the reconciler's configuration.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        pub mail_from: Option<Option<String>>,
        /// Of tenants that are created without their own.
        pub defaults: Option<ChangeDefaults>,
        /// How long things are kept.
        pub retention: Option<ChangeRetention>,
    }

    /// Absent fields stay.
    pub struct ChangeDefaults {
        /// IANA name of a time zone.
        pub time_zone: Option<String>,
        /// Percent used at which a tenant is warned; at most 10 of 1 to 100.
        pub thresholds: Option<Vec<u32>>,
    }

    /// Absent fields stay; null: for ever.
    pub struct ChangeRetention {
        /// Records of single requests, 1 to 36500 days.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<i32>))]
        pub usage_records_days: Option<Option<i32>>,
        /// Events and their deliveries, 7 to 36500 days.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<i32>))]
        pub events_days: Option<Option<i32>>,
        /// Accounts as the hourly comparisons saw them, 1 to 36500 days.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<i32>))]
        pub snapshots_days: Option<Option<i32>>,
    }
}

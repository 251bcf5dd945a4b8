//! Targets: which upstream serves a model, and how.

use domain::{ModelId, TargetId, UpstreamId};

use crate::upstream::Health;
use crate::{Factor, Timestamp};

words! {
    /// What a target speaks.
    pub enum Dialect {
        /// OpenAI's.
        Openai = "openai",
        /// Anthropic's.
        Anthropic = "anthropic",
    }
}

request! {
    /// Adds a target to a model.
    pub struct CreateTarget {
        /// The upstream.
        pub upstream_id: UpstreamId,
        /// The model's name at the upstream.
        pub upstream_model: String,
        /// What it speaks; null: what its upstream's kind speaks.
        pub dialects: Option<Vec<Dialect>>,
        /// Lower is tried first.
        #[serde(default)]
        pub priority: i32,
        /// Share among targets of one priority, 1 to 1000.
        #[serde(default = "one")]
        pub weight: i32,
        /// Charges through it are multiplied by it; at most 4 places.
        pub multiplier: Option<Factor>,
        /// Whether it is used.
        #[serde(default = "yes")]
        pub enabled: bool,
    }

    /// Changes a target. Absent fields stay.
    pub struct ChangeTarget {
        /// The model's name at the upstream.
        pub upstream_model: Option<String>,
        /// What it speaks.
        pub dialects: Option<Vec<Dialect>>,
        /// Lower is tried first.
        pub priority: Option<i32>,
        /// Share among targets of one priority, 1 to 1000.
        pub weight: Option<i32>,
        /// Charges through it are multiplied by it.
        pub multiplier: Option<Factor>,
        /// Whether it is used.
        pub enabled: Option<bool>,
    }
}

fn one() -> i32 {
    1
}

fn yes() -> bool {
    true
}

reply! {
    /// A target.
    pub struct Target {
        /// Id.
        pub id: TargetId,
        /// The model that it serves.
        pub model_id: ModelId,
        /// The upstream.
        pub upstream_id: UpstreamId,
        /// The model's name at the upstream.
        pub upstream_model: String,
        /// What it speaks.
        pub dialects: Vec<Dialect>,
        /// Lower is tried first.
        pub priority: i32,
        /// Share among targets of one priority.
        pub weight: i32,
        /// Charges through it are multiplied by it.
        pub multiplier: Factor,
        /// Whether it is used.
        pub enabled: bool,
        /// How it fares, as the gateways see it.
        pub health: Health,
        /// When it was created.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
    }
}

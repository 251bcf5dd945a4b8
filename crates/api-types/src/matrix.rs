//! The whole catalog of models with prices and targets, as a file.

use crate::Factor;
use crate::model::ModelMode;
use crate::price::CreatePrice;
use crate::target::Dialect;

request! {
    /// Every model. What is read can be sent back, here or to another deployment: upstreams go by their names.
    pub struct PriceMatrix {
        /// The models, each name once.
        pub models: Vec<MatrixModel>,
    }

    /// A model with its price in force and its targets.
    pub struct MatrixModel {
        /// The name that callers use.
        pub name: String,
        /// What it does; stays as it is once the model exists.
        pub mode: ModelMode,
        /// Name of its tokenizer's vocabulary.
        pub tokenizer: String,
        /// Tokens of prompt and answer together.
        pub context_window: i64,
        /// The longest answer.
        pub max_output_tokens: i64,
        /// Set aside for an answer whose caller gives no maximum.
        pub freeze_output_tokens: i64,
        /// Whether it thinks in tokens that are charged but not shown.
        pub hidden_reasoning: bool,
        /// Estimates of the prompt are multiplied by it; at least 1.
        pub safety_factor: Factor,
        /// The price in force. Another one begins at once, or at its `valid_from`; null leaves it as it is.
        pub prices: Option<CreatePrice>,
        /// Its targets, each upstream's model once.
        pub targets: Vec<MatrixTarget>,
    }

    /// A target of the matrix.
    pub struct MatrixTarget {
        /// The upstream's name.
        pub upstream: String,
        /// The model's name at the upstream.
        pub upstream_model: String,
        /// What it speaks.
        pub dialects: Vec<Dialect>,
        /// Lower is tried first.
        pub priority: i32,
        /// Share among targets of one priority, 1 to 1000.
        pub weight: i32,
        /// Charges through it are multiplied by it.
        pub multiplier: Factor,
        /// Whether it is used.
        pub enabled: bool,
    }
}

reply! {
    /// What another matrix changes.
    pub struct MatrixChanges {
        /// Whether it was only looked at.
        pub dry_run: bool,
        /// Names of models that are new.
        pub added: Vec<String>,
        /// Models that change.
        pub changed: Vec<ChangedModel>,
        /// Names of models that go, with their targets and prices. What was charged for them stays in the books.
        pub removed: Vec<String>,
        /// How many stay as they are.
        pub unchanged: i64,
    }

    /// A model that changes.
    pub struct ChangedModel {
        /// Its name.
        pub name: String,
        /// What changes of it.
        pub differences: Vec<MatrixDifference>,
    }

    /// One difference.
    pub struct MatrixDifference {
        /// The field, such as `prices.output` or `targets.openai/gpt-4o`.
        pub field: String,
        /// As it is; null: not there.
        pub before: serde_json::Value,
        /// As it is to be; null: gone.
        pub after: serde_json::Value,
    }
}

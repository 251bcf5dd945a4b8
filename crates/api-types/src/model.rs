//! Models offered to tenants.

use domain::ModelId;

use crate::price::Price;
use crate::{Factor, Timestamp};

words! {
    /// What a model does.
    pub enum ModelMode {
        /// Chat.
        Chat = "chat",
        /// Text completion.
        Completion = "completion",
        /// Embeddings.
        Embedding = "embedding",
        /// Reranking.
        Rerank = "rerank",
        /// Images.
        Image = "image",
        /// Text to speech.
        Speech = "speech",
        /// Speech to text.
        Transcription = "transcription",
    }
}

request! {
    /// Offers a model.
    pub struct CreateModel {
        /// The name that callers use.
        pub name: String,
        /// What it does; chat unless said otherwise.
        #[serde(default = "chat")]
        pub mode: ModelMode,
        /// Name of its tokenizer's vocabulary, such as `o200k_base`.
        #[serde(default = "o200k")]
        pub tokenizer: String,
        /// Tokens of prompt and answer together.
        pub context_window: i64,
        /// The longest answer.
        pub max_output_tokens: i64,
        /// Set aside for an answer whose caller gives no maximum.
        pub freeze_output_tokens: Option<i64>,
        /// Whether it thinks in tokens that are charged but not shown.
        #[serde(default)]
        pub hidden_reasoning: bool,
        /// Estimates of the prompt are multiplied by it; at least 1.
        pub safety_factor: Option<Factor>,
    }

    /// Changes a model. Absent fields stay.
    pub struct ChangeModel {
        /// Name of its tokenizer's vocabulary.
        pub tokenizer: Option<String>,
        /// Tokens of prompt and answer together.
        pub context_window: Option<i64>,
        /// The longest answer.
        pub max_output_tokens: Option<i64>,
        /// Set aside for an answer whose caller gives no maximum.
        pub freeze_output_tokens: Option<i64>,
        /// Whether it thinks in tokens that are charged but not shown.
        pub hidden_reasoning: Option<bool>,
        /// Estimates of the prompt are multiplied by it; at least 1.
        pub safety_factor: Option<Factor>,
    }
}

fn chat() -> ModelMode {
    ModelMode::Chat
}

fn o200k() -> String {
    "o200k_base".to_owned()
}

reply! {
    /// A model.
    pub struct Model {
        /// Id.
        pub id: ModelId,
        /// The name that callers use.
        pub name: String,
        /// What it does.
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
        /// Estimates of the prompt are multiplied by it.
        pub safety_factor: Factor,
        /// The length in tokens that 90 % of its latest answers stay below; null: too few answers yet.
        #[serde(default)]
        pub p90_output_tokens: Option<i64>,
        /// The price in force; null: none yet, and calls are refused.
        pub price_in_force: Option<Price>,
        /// When it was created.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
    }
}

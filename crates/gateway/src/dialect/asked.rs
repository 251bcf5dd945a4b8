//! What every dialect's request comes down to, and the few changes made to it on its way.

/// What the gateway needs to know of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The model's name, as the caller knows it.
    pub model: String,
    /// Streamed answer?
    pub stream: bool,
    /// Does the caller want to see the usage chunk of a stream?
    pub include_usage: bool,
    /// The caller's maximum of output tokens for each choice.
    pub max_tokens: Option<u64>,
    /// The field that carried it.
    pub max_field: Option<&'static str>,
    /// Answers generated, shown or not.
    pub n: u64,
}

/// The changes made before a request goes to a target.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// The target's name of the model.
    pub upstream_model: &'a str,
    /// A maximum lower than the caller's, for each choice.
    pub lowered_max: Option<u64>,
    /// The model thinks where nobody sees it: only `max_completion_tokens` bounds it.
    pub hidden_reasoning: bool,
}

//! OpenAI embeddings: input only, its cost known beforehand, nothing streamed.

use crate::dialect::asked::Asked;
use crate::dialect::completions;
use crate::dialect::count::Counter;
use crate::dialect::field::{self, BadField};
use crate::wire::edit::Object;

/// Reads the fields that matter.
///
/// # Errors
/// The model is missing.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    Ok(Asked { model, stream: false, include_usage: false, max_tokens: None, max_field: None, n: 1 })
}

/// Counts the input.
///
/// # Errors
/// `input` is missing or of another shape.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    completions::texts(object, "input", counter)
}

//! Models offered to tenants.

pub mod change;
pub mod create;
pub mod delete;
pub mod list;
pub mod read;

use api_types::Factor;
use api_types::model::Model;

use crate::error::{Error, Result};
use crate::prices;
use crate::validate::Fields;

/// A model as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(model: store::models::Model, price: Option<store::prices::Price>) -> Result<Model> {
    Ok(Model {
        id: model.id,
        mode: model.mode.parse().map_err(|_| Error::internal("a model's mode that this version does not know"))?,
        name: model.name,
        tokenizer: model.tokenizer,
        context_window: model.context_window,
        max_output_tokens: model.max_output_tokens,
        freeze_output_tokens: model.freeze_output_tokens,
        hidden_reasoning: model.hidden_reasoning,
        safety_factor: Factor::from_text(model.safety_factor),
        p90_output_tokens: model.p90_output_tokens,
        price_in_force: price.map(prices::view).transpose()?,
        created_at: model.created_at.into(),
        version: model.version,
    })
}

/// More tokens than any model takes.
const MAX_TOKENS: i64 = 100_000_000;

/// Refuses what a model can't be.
pub fn check(fields: &mut Fields, model: &store::models::Model) {
    fields.range("context_window", model.context_window, 1, MAX_TOKENS);
    fields.range("max_output_tokens", model.max_output_tokens, 0, MAX_TOKENS);
    fields.range("freeze_output_tokens", model.freeze_output_tokens, 0, MAX_TOKENS);
    let ok = !model.tokenizer.is_empty() && model.tokenizer.len() <= 100;
    let plain = model.tokenizer.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    fields.check(ok && plain, "tokenizer", "invalid", "must be the name of a vocabulary such as o200k_base");
}

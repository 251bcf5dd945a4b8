//! Prices of a model: append-only.

pub mod create;
pub mod list;

use api_types::Decimal;
use api_types::price::Price;

use crate::error::{Error, Result};

/// A price as the API shows it.
///
/// # Errors
/// 500 for stored weights that this version does not understand.
pub fn view(price: store::prices::Price) -> Result<Price> {
    let decimal = |text: Option<String>| text.map(Decimal::from_text);
    Ok(Price {
        valid_from: price.valid_from.into(),
        input: decimal(price.input),
        cached_input: decimal(price.cached_input),
        cache_write_5m: decimal(price.cache_write_5m),
        cache_write_1h: decimal(price.cache_write_1h),
        output: decimal(price.output),
        reasoning: decimal(price.reasoning),
        audio_input: decimal(price.audio_input),
        audio_output: decimal(price.audio_output),
        image: decimal(price.image),
        per_request: decimal(price.per_request),
        token_weights: price.token_weights.map(serde_json::from_value).transpose().map_err(Error::internal)?,
        created_at: price.created_at.into(),
    })
}

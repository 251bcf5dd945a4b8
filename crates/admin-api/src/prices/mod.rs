//! Prices of a model: append-only.

pub mod create;
pub mod list;

use api_types::Decimal;
use api_types::price::Price;
use domain::price::{Prices, TokenWeights};

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

/// The price as numbers.
///
/// # Errors
/// 500 for stored decimals or weights that this version does not understand.
pub fn parsed(price: &store::prices::Price) -> Result<(Prices, TokenWeights)> {
    let number =
        |text: &Option<String>| text.as_deref().map(domain::price::Price::parse).transpose().map_err(Error::internal);
    let prices = Prices {
        input: number(&price.input)?,
        cached_input: number(&price.cached_input)?,
        cache_write_5m: number(&price.cache_write_5m)?,
        cache_write_1h: number(&price.cache_write_1h)?,
        output: number(&price.output)?,
        reasoning: number(&price.reasoning)?,
        audio_input: number(&price.audio_input)?,
        audio_output: number(&price.audio_output)?,
        image: number(&price.image)?,
        per_request: number(&price.per_request)?,
    };
    let weights = price.token_weights.clone().map(serde_json::from_value).transpose().map_err(Error::internal)?;
    Ok((prices, weights.unwrap_or_default()))
}

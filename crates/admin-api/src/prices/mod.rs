//! Prices of a model: append-only.

pub mod create;
pub mod list;

use api_types::Decimal;
use api_types::price::{CreatePrice, Price};
use domain::price::{Prices, TokenWeights};

use crate::error::{Error, Result};
use crate::validate::Fields;

/// The prices of a body as numbers; those that were refused are left out: [`Fields::done`] ends the call then. `path` stands
/// before the fields' names.
pub fn read(fields: &mut Fields, path: &str, body: &CreatePrice) -> Prices {
    let mut price = |field: &str, text: &Option<Decimal>| {
        let parsed = domain::price::Price::parse(text.as_ref()?.as_str());
        parsed.map_err(|why| fields.refuse(&format!("{path}{field}"), "invalid", why.to_string())).ok()
    };
    let prices = Prices {
        input: price("input", &body.input),
        cached_input: price("cached_input", &body.cached_input),
        cache_write_5m: price("cache_write_5m", &body.cache_write_5m),
        cache_write_1h: price("cache_write_1h", &body.cache_write_1h),
        output: price("output", &body.output),
        reasoning: price("reasoning", &body.reasoning),
        audio_input: price("audio_input", &body.audio_input),
        audio_output: price("audio_output", &body.audio_output),
        image: price("image", &body.image),
        per_request: price("per_request", &body.per_request),
    };
    let given = [&body.input, &body.output, &body.image, &body.per_request];
    fields.check(
        given.iter().any(|price| price.is_some()),
        &format!("{path}input"),
        "required",
        "name a price for input, output, image or per_request; \"0\" is free of charge",
    );
    prices
}

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

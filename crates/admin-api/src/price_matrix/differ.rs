//! What another matrix changes of one.

use api_types::matrix::{MatrixDifference, MatrixModel};
use serde_json::{Map, Value};

use super::stored::key;
use crate::error::{Error, Result};

/// The differences of a model, field by field; prices and targets one by one.
pub fn differences(before: &MatrixModel, after: &MatrixModel) -> Result<Vec<MatrixDifference>> {
    let mut after = after.clone();
    if after.prices.is_none() {
        after.prices.clone_from(&before.prices);
    }
    let (old, new) = (flat(before)?, flat(&after)?);
    let mut fields: Vec<&String> = old.keys().chain(new.keys().filter(|field| !old.contains_key(*field))).collect();
    fields.sort();
    let at = |map: &Map<String, Value>, field: &str| map.get(field).cloned().unwrap_or_default();
    Ok(fields
        .into_iter()
        .filter(|field| !is_same(&at(&old, field), &at(&new, field)))
        .map(|field| MatrixDifference { field: field.clone(), before: at(&old, field), after: at(&new, field) })
        .collect())
}

/// When a price is to begin is no difference by itself.
fn flat(model: &MatrixModel) -> Result<Map<String, Value>> {
    let Value::Object(mut fields) = serde_json::to_value(model).map_err(Error::internal)? else {
        return Err(Error::internal("a model that is no object"));
    };
    fields.remove("targets");
    if let Some(Value::Object(prices)) = fields.remove("prices") {
        let named = prices
            .into_iter()
            .filter(|(kind, price)| kind != "valid_from" && !price.is_null())
            .map(|(kind, price)| (format!("prices.{kind}"), price));
        fields.extend(named);
    }
    for target in &model.targets {
        let (upstream, name) = key(target);
        let value = serde_json::to_value(target).map_err(Error::internal)?;
        fields.insert(format!("targets.{upstream}/{name}"), value);
    }
    Ok(fields)
}

/// Numbers that are written in another way are the same: "1.50" is "1.5".
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| is_same(value, other)))
        }
        (Value::String(a), Value::String(b)) => a == b || is_number(a) && is_number(b) && plain(a) == plain(b),
        _ => a == b,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn plain(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value_and_words_by_letters() {
        for (a, b, same) in
            [("1.50", "1.5", true), ("1", "1.00000000", true), ("100", "1", false), ("v1.0", "v1", false)]
        {
            assert_eq!(is_same(&a.into(), &b.into()), same, "{a} {b}");
        }
    }
}

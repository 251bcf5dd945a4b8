//! Reading one count out of a provider's JSON.

use serde_json::Value;

use super::MAX_COUNT;

/// What stands in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Field {
    /// Absent or null.
    #[default]
    Missing,
    /// There, but no count: negative, fractional, a text, beyond [`MAX_COUNT`].
    Bad,
    /// A count.
    Count(u64),
}

/// A report that can't be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unusable;

impl Field {
    /// Reads `object[name]`. A whole number written as `12.0` counts: some servers write every number so.
    pub(super) fn read(object: &Value, name: &str) -> Self {
        match object.get(name) {
            None | Some(Value::Null) => Self::Missing,
            Some(Value::Number(number)) => {
                let text = number.to_string();
                match text.strip_suffix(".0").unwrap_or(&text).parse::<u64>() {
                    Ok(count) if count <= MAX_COUNT => Self::Count(count),
                    _ => Self::Bad,
                }
            }
            Some(_) => Self::Bad,
        }
    }

    /// Takes the newer value where there is one: the last value of each field wins.
    pub(super) fn update(&mut self, newer: Self) {
        if newer != Self::Missing {
            *self = newer;
        }
    }

    /// The count, `None` where missing.
    pub(super) const fn get(self) -> Result<Option<u64>, Unusable> {
        match self {
            Self::Missing => Ok(None),
            Self::Bad => Err(Unusable),
            Self::Count(count) => Ok(Some(count)),
        }
    }
}

/// The first of several names of the same count that is there.
pub(super) fn first(object: &Value, names: &[&str]) -> Result<Option<u64>, Unusable> {
    for name in names {
        if let Some(count) = Field::read(object, name).get()? {
            return Ok(Some(count));
        }
    }
    Ok(None)
}

/// A nested object under the first of several names; null where there is none, which has no fields.
pub(super) fn nested<'a>(object: &'a Value, names: &[&str]) -> &'a Value {
    names.iter().find_map(|name| object.get(name).filter(|value| value.is_object())).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_counts_are_counts() {
        for (value, expected) in [
            (json!(null), Field::Missing),
            (json!(0), Field::Count(0)),
            (json!(12), Field::Count(12)),
            (json!(12.0), Field::Count(12)),
            (json!(12.5), Field::Bad),
            (json!(-1), Field::Bad),
            (json!(-0.0), Field::Bad),
            (json!("12"), Field::Bad),
            (json!(1e300), Field::Bad),
            (json!(u64::MAX), Field::Bad),
            (json!(MAX_COUNT), Field::Count(MAX_COUNT)),
            (json!([1]), Field::Bad),
            (json!({}), Field::Bad),
            (json!(true), Field::Bad),
        ] {
            assert_eq!(Field::read(&json!({ "n": value }), "n"), expected, "{value}");
        }
        assert_eq!(Field::read(&json!("text"), "n"), Field::Missing);
    }
}

//! JSON as wire types, by way of a value: the derived readers are then compiled for values only, which are a good deal
//! smaller than those for text.

use api_types::Page;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value as a wire type; `None` where it is of another form.
#[must_use]
pub fn reread<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// A page of a list, entry by entry.
#[must_use]
pub fn page<T: DeserializeOwned>(value: &Value) -> Option<Page<T>> {
    let next_cursor = value.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
    let mut items = Vec::new();
    for item in value.get("items")?.as_array()? {
        items.push(reread(item)?);
    }
    Some(Page { items, next_cursor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_whole_or_not_at_all() {
        let value = serde_json::json!({ "items": ["a", "b"], "next_cursor": "c" });
        let read = page::<String>(&value).unwrap();
        assert_eq!((read.items, read.next_cursor.as_deref()), (vec!["a".to_owned(), "b".to_owned()], Some("c")));
        assert!(page::<String>(&serde_json::json!({ "items": ["a", 1] })).is_none());
        assert!(page::<String>(&serde_json::json!({})).is_none());
    }
}

//! Changes single fields at the top level of a JSON object and keeps everything else as it was written: unknown
//! fields, their order, the spelling of numbers and strings.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object whose values are still the text the caller sent.
#[derive(Debug, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Object<'a> {
    /// Reads the object's fields without looking into them.
    ///
    /// # Errors
    /// The text is no JSON object, or names a field twice (which of the two counts would be anybody's guess).
    pub fn parse(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        let fields: Fields<'a> = serde_json::from_slice(text)?;
        Ok(Self { fields: fields.0 })
    }

    /// The text of a field's value; `null` counts as absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_ref())
            .filter(|value| *value != "null")
    }

    /// Every field's name and text, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    /// Replaces a field's value where it stands, or adds the field at the end. `value` is JSON text.
    pub fn set(&mut self, name: &str, value: String) {
        match self.fields.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = Cow::Owned(value),
            None => self.fields.push((Cow::Owned(name.to_owned()), Cow::Owned(value))),
        }
    }

    /// Takes a field away.
    pub fn remove(&mut self, name: &str) {
        self.fields.retain(|(key, _)| key != name);
    }

    /// The object's text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let size = self.fields.iter().map(|(key, value)| key.len() + value.len() + 6).sum::<usize>() + 2;
        let mut text = String::with_capacity(size);
        text.push('{');
        for (index, (key, value)) in self.fields.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(&quote(key));
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        text
    }
}

/// A string as JSON text.
#[must_use]
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Fields<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

/// A key that borrows where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field's name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields: Vec<(Cow<'de, str>, Cow<'de, str>)> = Vec::with_capacity(map.size_hint().unwrap_or(8));
                let mut seen = std::collections::HashSet::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    if !seen.insert(key.clone()) {
                        return Err(serde::de::Error::custom(format_args!("field `{key}` stands twice")));
                    }
                    fields.push((key, Cow::Borrowed(value.get())));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_set_changes() {
        let text = r#"{"model":"a", "x" : 1.0e400 ,"y":{"b":1,"a":[ 2 ]},"e":"\ud83d\ude00","max_tokens":null}"#;
        let mut object = Object::parse(text.as_bytes()).unwrap();
        assert_eq!(object.get("max_tokens"), None);
        object.set("model", quote("up/\"b\""));
        object.set("z", "true".to_owned());
        object.remove("y");
        assert_eq!(
            object.to_text(),
            r#"{"model":"up/\"b\"","x":1.0e400,"e":"\ud83d\ude00","max_tokens":null,"z":true}"#
        );
    }

    #[test]
    fn what_is_no_plain_object_is_refused() {
        for text in [
            "",
            "[]",
            "1",
            "\"a\"",
            "{\"a\":1",
            "{\"a\":1}x",
            "{\"a\":1,\"a\":2}",
            "{\"a\":1,\"\\u0061\":2}",
            "\u{feff}{}",
        ] {
            assert!(Object::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}

//! A request's fields, taken one by one: what nobody took is refused by its name, never dropped.

use std::cell::RefCell;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::dialect::field::BadField;
use crate::wire::edit::Object;

/// One object of a request on its way into another dialect.
#[derive(Debug)]
pub struct Fields<'a> {
    path: String,
    object: Object<'a>,
    taken: RefCell<Vec<&'static str>>,
    provider: &'static str,
}

impl<'a> Fields<'a> {
    /// The request itself. `provider` is whose dialect it is translated to.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn body(text: &'a [u8], provider: &'static str) -> Result<Self, BadField> {
        let object = crate::dialect::field::object(text)?;
        Ok(Self { path: String::new(), object, taken: RefCell::default(), provider })
    }

    /// An object inside the request; `path` is its own, from the request down.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn child<'b>(&self, path: String, text: &'b str) -> Result<Fields<'b>, BadField> {
        let object = Object::parse(text.as_bytes())
            .map_err(|_| BadField::new(path.clone(), format!("`{path}` must be an object")))?;
        Ok(Fields { path, object, taken: RefCell::default(), provider: self.provider })
    }

    /// The objects of a list, each with its path; none where the field is absent.
    ///
    /// # Errors
    /// The field is no list of objects.
    pub fn children(&self, name: &'static str) -> Result<Vec<Fields<'_>>, BadField> {
        let Some(text) = self.take(name) else { return Ok(Vec::new()) };
        let items: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|_| self.wrong(name, "must be an array of objects"))?;
        let param = self.param(name);
        items.into_iter().enumerate().map(|(index, item)| self.child(format!("{param}[{index}]"), item.get())).collect()
    }

    /// A field's path from the request down.
    #[must_use]
    pub fn param(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A field's text, which counts as translated from here on; `null` is absent.
    pub fn take(&self, name: &'static str) -> Option<&str> {
        self.taken.borrow_mut().push(name);
        self.object.get(name)
    }

    /// Fields that mean nothing in the other dialect and change no answer.
    pub fn pass_over(&self, names: &[&'static str]) {
        self.taken.borrow_mut().extend(names);
    }

    /// A field read as a type; none where absent. `must` says what it must be.
    ///
    /// # Errors
    /// It is of another type.
    pub fn read<T: DeserializeOwned>(&self, name: &'static str, must: &str) -> Result<Option<T>, BadField> {
        self.take(name).map(serde_json::from_str).transpose().map_err(|_| self.wrong(name, must))
    }

    /// A text.
    ///
    /// # Errors
    /// It is something else.
    pub fn text(&self, name: &'static str) -> Result<Option<String>, BadField> {
        self.read(name, "must be a string")
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// It is missing, or something else.
    pub fn needed(&self, name: &'static str) -> Result<String, BadField> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// Takes a field if it has one of the values that ask for nothing, given as JSON text.
    ///
    /// # Errors
    /// It has another value.
    pub fn only(&self, name: &'static str, values: &[&str]) -> Result<(), BadField> {
        match self.take(name) {
            Some(value) if !values.contains(&value) => Err(self.untranslatable(name)),
            _ => Ok(()),
        }
    }

    /// The error of a field that has no counterpart.
    #[must_use]
    pub fn untranslatable(&self, name: &str) -> BadField {
        let param = self.param(name);
        let message = format!(
            "`{param}` can't be translated: this model is served in {}'s dialect only; leave it out or choose another model",
            self.provider
        );
        BadField::new(param, message)
    }

    /// The error of a field of another shape than it must be.
    #[must_use]
    pub fn wrong(&self, name: &str, must: &str) -> BadField {
        let param = self.param(name);
        let message = format!("`{param}` {must}");
        BadField::new(param, message)
    }

    /// The error of a field that is needed.
    #[must_use]
    pub fn missing(&self, name: &str) -> BadField {
        let param = self.param(name);
        let message = format!("you must provide `{param}`");
        BadField::new(param, message)
    }

    /// Says that all is translated.
    ///
    /// # Errors
    /// Something is left; the first of it. `null`, `[]` and `{}` are nothing.
    pub fn finish(&self) -> Result<(), BadField> {
        let taken = self.taken.borrow();
        let mut left = self.object.iter().filter(|(name, value)| !taken.contains(name) && !is_nothing(value));
        left.next().map_or(Ok(()), |(name, _)| Err(self.untranslatable(name)))
    }
}

fn is_nothing(value: &str) -> bool {
    if value.len() > 16 {
        return false;
    }
    let bare: String = value.split_ascii_whitespace().collect();
    matches!(bare.as_str(), "null" | "[]" | "{}")
}

/// JSON texts as an array.
#[must_use]
pub fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// A text block or part, which both dialects write alike. `text` is a JSON string; none where it is empty.
#[must_use]
pub fn text_part(text: &str) -> Option<String> {
    (text != "\"\"").then(|| format!(r#"{{"type":"text","text":{text}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_took_is_refused_by_its_path() {
        let body = br#"{"a":1,"none":null,"empty":[ ],"list":[{"b":2,"c":{"d":3}}],"n":1}"#;
        let fields = Fields::body(body, "Nobody").unwrap();
        assert_eq!(fields.take("a"), Some("1"));
        let children = fields.children("list").unwrap();
        assert_eq!(children[0].take("b"), Some("2"));
        assert_eq!(children[0].finish().unwrap_err().param, "list[0].c");
        assert_eq!(fields.finish().unwrap_err().param, "n");
        fields.only("n", &["1"]).unwrap();
        fields.finish().unwrap();
        assert!(fields.only("a", &["2"]).is_err());
        assert_eq!(fields.text("a").unwrap_err().message, "`a` must be a string");
        assert_eq!(fields.needed("zz").unwrap_err().message, "you must provide `zz`");
    }
}

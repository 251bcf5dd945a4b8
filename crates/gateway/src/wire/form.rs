//! `multipart/form-data`: finds its fields, replaces the value of one and keeps every other byte.
//!
//! What this reads and what a provider's parser reads must be the same, else a model could be paid for and another be used.
//! So a form is refused wherever two parsers may differ: another boundary in the head, a boundary inside a value, a field
//! that stands twice, a field without a name.

use std::ops::Range;

use memchr::memmem;

/// Fields of one form at most.
const FIELDS_MAX: usize = 256;
/// Bytes of a boundary at most, by the standard.
const BOUNDARY_MAX: usize = 70;

/// A field of a form.
#[derive(Debug)]
struct Field {
    name: String,
    is_file: bool,
    value: Range<usize>,
}

/// A form whose values are still where the caller put them.
#[derive(Debug)]
pub struct Form<'a> {
    body: &'a [u8],
    fields: Vec<Field>,
}

/// Why a form can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body is not a form that can be read: {0}")]
pub struct BadForm(&'static str);

/// The boundary that a `Content-Type` names; none where it is no form's.
#[must_use]
pub fn boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    parameter(parameters, "boundary").filter(|boundary| !boundary.is_empty())
}

impl<'a> Form<'a> {
    /// Reads a whole form; it begins with its boundary.
    ///
    /// # Errors
    /// [`BadForm`].
    pub fn parse(body: &'a [u8]) -> Result<Self, BadForm> {
        let line = memmem::find(body, b"\r\n").ok_or(BadForm("it has no line end"))?;
        let mark = body[..line].strip_prefix(b"--").ok_or(BadForm("it does not begin with its boundary"))?;
        if mark.is_empty() || mark.len() > BOUNDARY_MAX || mark.ends_with(b"--") {
            return Err(BadForm("its boundary is empty or too long"));
        }
        let finder = memmem::Finder::new(&body[..line]);
        let marks: Vec<usize> = finder.find_iter(body).collect();
        let mut fields: Vec<Field> = Vec::new();
        for pair in marks.windows(2) {
            let [from, to] = *pair else { continue };
            let field = Field::read(body, from + line, to)?;
            if fields.len() == FIELDS_MAX
                || fields.iter().any(|other| other.name == field.name && is_single(&field.name))
            {
                return Err(BadForm("a field stands twice, or there are too many"));
            }
            fields.push(field);
        }
        let end = marks.last().and_then(|at| body.get(at + line..)).unwrap_or_default();
        if marks.len() < 2 || !end.starts_with(b"--") || !end[2..].trim_ascii().is_empty() {
            return Err(BadForm("it does not end with its boundary"));
        }
        Ok(Self { body, fields })
    }

    /// The boundary that the body begins with.
    #[must_use]
    pub fn boundary(&self) -> &[u8] {
        let line = memmem::find(self.body, b"\r\n").unwrap_or(2);
        &self.body[2..line]
    }

    /// The body with each boundary taken out.
    #[must_use]
    pub fn without_boundary(&self) -> Vec<u8> {
        let boundary = self.boundary();
        let mut rest = self.body;
        let mut kept = Vec::with_capacity(rest.len());
        while let Some(at) = memmem::find(rest, boundary) {
            kept.extend_from_slice(&rest[..at]);
            rest = &rest[at + boundary.len()..];
        }
        kept.extend_from_slice(rest);
        kept
    }

    /// The value of a field that is no file.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let field = self.fields.iter().find(|field| field.name == name && !field.is_file)?;
        std::str::from_utf8(&self.body[field.value.clone()]).ok()
    }

    /// A file's bytes.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&'a [u8]> {
        let field = self.fields.iter().find(|field| field.name == name && field.is_file)?;
        Some(&self.body[field.value.clone()])
    }

    /// The form with another value of a field; as it is where it has none of the name.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Vec<u8> {
        let Some(field) = self.fields.iter().find(|field| field.name == name) else { return self.body.to_vec() };
        [&self.body[..field.value.start], value.as_bytes(), &self.body[field.value.end..]].concat()
    }
}

/// Only lists, such as `timestamp_granularities[]`, stand several times.
fn is_single(name: &str) -> bool {
    !name.ends_with("[]")
}

impl Field {
    /// The part between two boundaries: `from` is behind the first one, `to` in front of the next.
    fn read(body: &[u8], from: usize, to: usize) -> Result<Self, BadForm> {
        let part = body[from..to]
            .strip_prefix(b"\r\n")
            .and_then(|part| part.strip_suffix(b"\r\n"))
            .ok_or(BadForm("a boundary is not on a line of its own"))?;
        let head = memmem::find(part, b"\r\n\r\n").ok_or(BadForm("a part has no head"))?;
        let text = std::str::from_utf8(&part[..head]).map_err(|_| BadForm("a part's head is not UTF-8"))?;
        let mut dispositions = text.split("\r\n").filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
        });
        let (Some(disposition), None) = (dispositions.next(), dispositions.next()) else {
            return Err(BadForm("a part needs one content-disposition"));
        };
        let parameters = disposition.split_once(';').map(|(_, parameters)| parameters).unwrap_or_default();
        let name = parameter(parameters, "name").ok_or(BadForm("a part has no name"))?;
        let is_file = ["filename", "filename*"].iter().any(|of| parameter(parameters, of).is_some());
        let start = from + 2 + head + 4;
        Ok(Self { name, is_file, value: start..(to - 2).max(start) })
    }
}

/// A parameter of a head's field, such as `name="model"`.
fn parameter(parameters: &str, name: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (value, next) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), next)
            }
        };
        if key.trim_matches([' ', '\t', ';']).eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = next;
    }
}

/// A quoted text without its quotes, and what comes behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()? {
                (_, escaped @ ('"' | '\\')) => value.push(escaped),
                (_, other) => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(head: &str, value: &str) -> String {
        format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n")
    }

    fn form(parts: &[(&str, &str)]) -> String {
        let parts: String = parts.iter().map(|(head, value)| part(head, value)).collect();
        format!("{parts}--x--\r\n")
    }

    #[test]
    fn a_field_is_replaced_and_every_other_byte_stays() {
        let file = r#"name="file"; filename="a;b=\"c\".wav""#;
        let body = form(&[
            (r#"name="model""#, "whisper"),
            (file, "a\r\n\r\nb--y"),
            (r#"name="t[]""#, "1"),
            (r#"name="t[]""#, "2"),
        ]);
        let form = Form::parse(body.as_bytes()).unwrap();
        assert_eq!((form.text("model"), form.boundary()), (Some("whisper"), &b"x"[..]));
        assert_eq!(form.file("file"), Some(&b"a\r\n\r\nb--y"[..]));
        assert_eq!((form.text("file"), form.file("model"), form.text("prompt")), (None, None, None));
        assert_eq!(form.with("model", "up"), body.replace("whisper", "up").as_bytes());
        assert_eq!(form.with("other", "up"), body.as_bytes());
        let again = body.replace("--x", "--another");
        assert_eq!(form.without_boundary(), Form::parse(again.as_bytes()).unwrap().without_boundary());
        let other = body.replace("whisper", "whisper-2");
        assert_ne!(form.without_boundary(), Form::parse(other.as_bytes()).unwrap().without_boundary());
    }

    #[test]
    fn what_two_parsers_may_read_differently_is_refused() {
        let model = (r#"name="model""#, "m");
        for body in [
            form(&[model, model]),
            form(&[(r#"filename="model""#, "m")]),
            form(&[("", "m")]),
            form(&[("name=\"a\"\r\nContent-Disposition: form-data; name=\"model\"", "m")]),
            form(&[(r#"name="a""#, "b--xc")]),
            form(&[(r#"name="a""#, "b\n--x\nContent-Disposition: form-data; name=\"model\"\n\ndear")]),
            format!("preamble\r\n{}", form(&[model])),
            format!("{}--x\r\n", form(&[model])),
            form(&[model]).replace("--x--\r\n", ""),
            form(&[model]).replace("--x--", "--x--\r\nmore"),
            "--\r\n--".to_owned(),
            "--x--\r\n".to_owned(),
            "--x\r\n--x--".to_owned(),
            String::new(),
        ] {
            assert!(Form::parse(body.as_bytes()).is_err(), "{body}");
        }
        assert!(Form::parse(form(&[model]).trim_end().as_bytes()).is_ok());
    }

    #[test]
    fn the_boundary_of_a_head_is_found() {
        for head in [
            "multipart/form-data; boundary=x",
            "Multipart/Form-Data;charset=utf-8; Boundary=\"x\"",
            "multipart/form-data; boundary=x; a=b",
        ] {
            assert_eq!(boundary(head).as_deref(), Some("x"), "{head}");
        }
        for head in [
            "application/json",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/mixed; boundary=x",
            "multipart/form-data; boundary=\"x",
        ] {
            assert_eq!(boundary(head), None, "{head}");
        }
    }
}

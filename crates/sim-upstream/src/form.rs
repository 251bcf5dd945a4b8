//! `multipart/form-data` of small whole bodies, as the SDKs send it.

use bytes::Bytes;
use memchr::memmem;

/// A field of a form.
struct Field {
    name: String,
    is_file: bool,
    value: Bytes,
}

/// A form's fields.
pub(crate) struct Form {
    fields: Vec<Field>,
}

impl Form {
    /// Reads a whole body.
    pub(crate) fn read(content_type: &str, body: &Bytes) -> Result<Self, &'static str> {
        let boundary = content_type
            .split(';')
            .filter_map(|part| part.trim().strip_prefix("boundary="))
            .map(|value| value.trim_matches('"'))
            .next()
            .filter(|boundary| content_type.starts_with("multipart/form-data") && !boundary.is_empty())
            .ok_or("the body must be multipart/form-data with a boundary")?;
        let mark = format!("--{boundary}");
        let finder = memmem::Finder::new(mark.as_bytes());
        let marks: Vec<usize> = finder.find_iter(body).collect();
        let mut fields = Vec::new();
        for pair in marks.windows(2) {
            let [from, to] = *pair else { continue };
            // Each part begins after the mark's line end and ends before the next mark's.
            let part = body.slice(from + mark.len()..to);
            let part =
                part.strip_prefix(b"\r\n").and_then(|part| part.strip_suffix(b"\r\n")).map(|part| body.slice_ref(part));
            fields.push(Field::read(&part.ok_or("a part of the form has no line end")?)?);
        }
        let end = marks.last().and_then(|at| body.get(at + mark.len()..)).unwrap_or_default();
        if end.starts_with(b"--") { Ok(Self { fields }) } else { Err("the form has no end") }
    }

    /// A text field; empty where it is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|field| field.name == name && !field.is_file);
        field.and_then(|field| std::str::from_utf8(&field.value).ok()).unwrap_or_default()
    }

    /// A file's bytes.
    pub(crate) fn file(&self, name: &str) -> Option<&Bytes> {
        self.fields.iter().find(|field| field.name == name && field.is_file).map(|field| &field.value)
    }
}

impl Field {
    fn read(part: &Bytes) -> Result<Self, &'static str> {
        let at = memmem::find(part, b"\r\n\r\n").ok_or("a part of the form has no head")?;
        let head = std::str::from_utf8(&part[..at]).map_err(|_| "a part's head is not UTF-8")?;
        let disposition = head
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))
            .ok_or("a part of the form has no content-disposition")?;
        let parameter = |name: &str| {
            disposition
                .split(';')
                .filter_map(|part| part.trim().split_once('='))
                .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"').to_owned()))
        };
        Ok(Self {
            name: parameter("name").ok_or("a part of the form has no name")?,
            is_file: parameter("filename").is_some(),
            value: part.slice(at + 4..),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_with_a_file_that_holds_line_ends() {
        let body = Bytes::from_static(
            b"--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--x\r\n\
              Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\na\r\n\r\nb\r\n--x--\r\n",
        );
        let form = Form::read("multipart/form-data; boundary=x", &body).unwrap();
        assert_eq!(form.text("model"), "whisper-1");
        assert_eq!(form.file("file").unwrap().as_ref(), b"a\r\n\r\nb");
        assert_eq!(form.text("prompt"), "");
    }

    #[test]
    fn broken_forms_are_refused() {
        let whole = Bytes::from_static(b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x");
        assert!(Form::read("multipart/form-data; boundary=x", &whole).is_err());
        assert!(Form::read("application/json", &whole).is_err());
        assert!(Form::read("multipart/form-data", &whole).is_err());
    }
}

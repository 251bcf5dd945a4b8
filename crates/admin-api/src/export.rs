//! Exports: lists without an end, streamed page by page, so that their length costs no memory. Between two pages no
//! transaction is open: a client may read as slowly as it likes.

use api_types::usage::ExportFormat;
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream::{self, Stream, StreamExt as _};
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// Rows of one page.
pub const PAGE: u16 = 1_000;

/// What is exported: its name as a file, and the columns of its CSV form, each a field of the rows.
#[derive(Debug, Clone, Copy)]
pub struct Export {
    /// Without an ending.
    pub name: &'static str,
    /// Fields in their order.
    pub columns: &'static [&'static str],
    /// The form asked for.
    pub format: ExportFormat,
}

/// One page, and where the next one begins; none at the end.
pub struct Rows<T, S> {
    /// The page.
    pub rows: Vec<T>,
    /// The next one.
    pub next: Option<S>,
}

impl Export {
    /// The reply that reads pages from `first` on. The first page is read before the reply begins, so that its failures
    /// are proper ones; a later failure breaks the connection off, so that nobody takes a part for the whole.
    ///
    /// # Errors
    /// Those of the first page.
    pub async fn respond<T, S, F, R>(self, first: S, read: F) -> Result<Response>
    where
        T: Serialize + Send + 'static,
        S: Send + 'static,
        F: Fn(S) -> R + Send + Clone + 'static,
        R: Future<Output = Result<Rows<T, S>>> + Send + 'static,
    {
        let Rows { rows, next } = read(first).await?;
        let mut head = self.head();
        head.extend(self.page(&rows)?);
        let rest = self.rest(next, read);
        let chunks = stream::once(async { Ok(Bytes::from(head)) }).chain(rest);
        let (media, ending) = match self.format {
            ExportFormat::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
            ExportFormat::Jsonl => ("application/jsonl", "jsonl"),
        };
        let name = format!("attachment; filename=\"{}.{ending}\"", self.name);
        let mut response = Response::new(Body::from_stream(chunks));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        let name = HeaderValue::from_str(&name).map_err(Error::internal)?;
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
        Ok(response)
    }

    fn rest<T, S, F, R>(self, next: Option<S>, read: F) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send
    where
        T: Serialize + Send + 'static,
        S: Send + 'static,
        F: Fn(S) -> R + Send + Clone + 'static,
        R: Future<Output = Result<Rows<T, S>>> + Send + 'static,
    {
        stream::try_unfold(next, move |next| {
            let read = read.clone();
            async move {
                let Some(at) = next else { return Ok(None) };
                let failed = |error: Error| {
                    tracing::warn!(?error, "an export ended early");
                    std::io::Error::other("the export could not be read to its end")
                };
                let Rows { rows, next } = read(at).await.map_err(failed)?;
                let page = self.page(&rows).map_err(failed)?;
                Ok(Some((Bytes::from(page), next)))
            }
        })
    }

    fn head(self) -> Vec<u8> {
        match self.format {
            ExportFormat::Csv => format!("{}\r\n", self.columns.join(",")).into_bytes(),
            ExportFormat::Jsonl => Vec::new(),
        }
    }

    fn page(self, rows: &[impl Serialize]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for row in rows {
            match self.format {
                ExportFormat::Jsonl => {
                    serde_json::to_writer(&mut text, row).map_err(Error::internal)?;
                    text.push(b'\n');
                }
                ExportFormat::Csv => {
                    let row = serde_json::to_value(row).map_err(Error::internal)?;
                    let cells = self.columns.iter().map(|column| cell(row.get(*column)));
                    text.extend(cells.collect::<Vec<_>>().join(",").into_bytes());
                    text.extend(b"\r\n");
                }
            }
        }
        Ok(text)
    }
}

/// A field as a cell of RFC 4180. A text that a spreadsheet would take for a formula is put behind an apostrophe.
fn cell(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) if is_formula(text) => format!("'{text}"),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn is_formula(text: &str) -> bool {
    let is_number = text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        for (value, expected) in [
            (json!(null), ""),
            (json!("a"), "a"),
            (json!("a,b"), "\"a,b\""),
            (json!("say \"x\""), "\"say \"\"x\"\"\""),
            (json!("=1+1"), "'=1+1"),
            (json!("-0.50000000"), "-0.50000000"),
            (json!("-cmd"), "'-cmd"),
            (json!(true), "true"),
            (json!(12), "12"),
            (json!({"input": 1, "output": 2}), "\"{\"\"input\"\":1,\"\"output\"\":2}\""),
        ] {
            assert_eq!(cell(Some(&value)), expected, "{value}");
        }
    }
}

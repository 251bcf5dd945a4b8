//! Exports: CSV or JSON Lines, streamed page by page, so that neither memory nor a connection is held for as long as a
//! slow client reads.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, TryStreamExt as _};
use http::header;
use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// Rows read at once.
pub const ROWS: i64 = 1000;

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Comma-separated values (RFC 4180) with a head line.
    Csv,
    /// A JSON object per line.
    Jsonl,
}

/// A row of an export: its JSON is the API's, its cells are for CSV.
pub trait Line: Serialize + Send + 'static {
    /// The head line of CSV.
    const COLUMNS: &'static [&'static str];
    /// The cells in the order of the columns.
    fn cells(&self) -> Vec<String>;
}

/// Where the next page begins, if this one was full.
pub fn next<R, C>(rows: &[R], of: impl Fn(&R) -> C) -> Option<C> {
    let full = i64::try_from(rows.len()).is_ok_and(|count| count >= ROWS);
    rows.last().filter(|_| full).map(of)
}

/// Streams the pages that `fetch` reads; it is given where the page begins and says where the next one does. The first page
/// is read before the reply begins, so its failure is a problem document; a later one breaks the transfer off.
///
/// # Errors
/// Those of the first page.
pub async fn stream<T, C, F, Fut>(format: Format, name: &str, mut fetch: F) -> Result<Response>
where
    T: Line,
    C: Send + 'static,
    F: FnMut(Option<C>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<(Vec<T>, Option<C>)>> + Send,
{
    let (rows, next) = fetch(None).await?;
    let mut first = match format {
        Format::Csv => csv_line(T::COLUMNS),
        Format::Jsonl => String::new(),
    };
    write(format, &rows, &mut first)?;
    let later = stream::try_unfold((next, fetch), move |(next, mut fetch)| async move {
        let Some(begin) = next else { return Ok(None) };
        let (rows, next) = fetch(Some(begin)).await?;
        let mut text = String::new();
        write(format, &rows, &mut text)?;
        Ok::<_, Error>(Some((Bytes::from(text), (next, fetch))))
    });
    let later = later.map_err(|error| {
        tracing::error!(code = error.parts().code, "an export was broken off");
        std::io::Error::other(error.parts().detail.clone())
    });
    let pages = futures_util::StreamExt::chain(stream::iter([Ok(Bytes::from(first))]), later);
    let (media, extension) = match format {
        Format::Csv => ("text/csv; charset=utf-8", "csv"),
        Format::Jsonl => ("application/jsonl", "jsonl"),
    };
    let disposition = format!("attachment; filename=\"{name}.{extension}\"");
    let headers = [(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(pages)).into_response())
}

fn write<T: Line>(format: Format, rows: &[T], text: &mut String) -> Result<()> {
    for row in rows {
        match format {
            Format::Csv => text.push_str(&csv_line(&row.cells())),
            Format::Jsonl => {
                text.push_str(&serde_json::to_string(row).map_err(Error::internal)?);
                text.push('\n');
            }
        }
    }
    Ok(())
}

fn csv_line(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell.as_ref())).collect();
    cells.join(",") + "\r\n"
}

/// The fields of a row's JSON as cells.
pub fn cells(row: &impl Serialize, columns: &[&str]) -> Vec<String> {
    let row = serde_json::to_value(row).unwrap_or_default();
    let cell = |column: &&str| match row.get(*column) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    columns.iter().map(cell).collect()
}

/// A text that a spreadsheet would take for a formula is put behind an apostrophe.
fn is_formula(text: &str) -> bool {
    let is_number = text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number
}

fn csv_cell(text: &str) -> String {
    let guarded = if is_formula(text) { format!("'{text}") } else { text.to_owned() };
    let text = guarded.as_str();
    if text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(csv_line(&["a", "b,c", "d\"e", "f\ng", ""]), "a,\"b,c\",\"d\"\"e\",\"f\ng\",\r\n");
    }

    #[test]
    fn no_cell_is_a_formula() {
        let row = serde_json::json!({"a": "=1+1", "b": "-0.50", "c": "-cmd", "d": {"x": 1}, "e": null, "f": true});
        let line = csv_line(&cells(&row, &["a", "b", "c", "d", "e", "f", "none"]));
        assert_eq!(line, "'=1+1,-0.50,'-cmd,\"{\"\"x\"\":1}\",,true,\r\n");
    }

    #[test]
    fn a_full_page_has_a_next_one() {
        let rows: Vec<i64> = (0..ROWS).collect();
        assert_eq!(next(&rows, |row| *row), Some(ROWS - 1));
        assert_eq!(next(&rows[1..], |row| *row), None);
    }
}

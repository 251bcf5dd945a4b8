//! Lists: query parameters, cursors, pages.

use api_types::Page;
use axum::extract::FromRequestParts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use serde::de::DeserializeOwned;
use store::Window;
use uuid::Uuid;

use crate::error::{Error, Result};

const DEFAULT_LIMIT: u16 = 50;
const MAX_LIMIT: u16 = 200;

/// Query parameters of type `T`; unknown and wrong ones are 422 by name.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        // Postgres takes no text with a NUL in it.
        let mut pairs =
            parts.uri.query().unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        if let Some((name, _)) = pairs.find(|(_, value)| value.contains("%00")) {
            return Err(Error::field(name, "invalid", "must not contain control characters"));
        }
        let rejection = match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(query) => return Ok(Self(query.0)),
            Err(rejection) => rejection,
        };
        let text = rejection.body_text();
        let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
        Err(match text.split_once(": ") {
            Some((field, message)) if message.starts_with("unknown field") => {
                Error::field(field, "unknown_field", message)
            }
            Some((field, message)) => Error::field(field, "invalid", message),
            None => Error::field("query", "invalid", text),
        })
    }
}

/// The limit asked for, within bounds.
///
/// # Errors
/// 422.
pub fn limit(limit: Option<u16>) -> Result<u16> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if (1..=MAX_LIMIT).contains(&limit) {
        return Ok(limit);
    }
    Err(Error::field("limit", "out_of_range", format!("limit must be between 1 and {MAX_LIMIT}")))
}

/// Query parameters of a list in the order of creation.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ByCreation {
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// `-created_at` (newest first) or `created_at`.
    #[param(pattern = "^-?created_at$")]
    pub sort: Option<String>,
}

impl ByCreation {
    /// The window to read: one row more than the page, to know whether another follows.
    ///
    /// # Errors
    /// 422 for a wrong limit, cursor or sort.
    pub fn window(&self) -> Result<Window> {
        let ascending = match self.sort.as_deref() {
            None | Some("-created_at") => false,
            Some("created_at") => true,
            Some(_) => return Err(Error::field("sort", "invalid", "sort must be created_at or -created_at")),
        };
        let after = self.cursor.as_deref().map(read_id).transpose()?;
        Ok(Window { after, ascending, limit: i64::from(limit(self.limit)?) + 1 })
    }

    /// Cuts the rows of that window into a page.
    ///
    /// # Errors
    /// 422 for a wrong limit.
    pub fn page<R, T>(
        &self,
        mut rows: Vec<R>,
        id: impl Fn(&R) -> Uuid,
        make: impl Fn(R) -> Result<T>,
    ) -> Result<Page<T>> {
        let next_cursor = cut(&mut rows, limit(self.limit)?).map(|last| write(&[&id(last).to_string()]));
        Ok(Page { items: rows.into_iter().map(make).collect::<Result<_>>()?, next_cursor })
    }
}

/// Removes the row beyond the page and returns the page's last one, if another page follows.
pub fn cut<R>(rows: &mut Vec<R>, limit: u16) -> Option<&R> {
    let more = rows.len() > usize::from(limit);
    rows.truncate(usize::from(limit));
    rows.last().filter(|_| more)
}

/// Writes a cursor: opaque to callers.
#[must_use]
pub fn write(parts: &[&str]) -> String {
    URL_SAFE_NO_PAD.encode(parts.join("\n"))
}

/// Reads a cursor of `N` parts.
///
/// # Errors
/// 422.
pub fn read<const N: usize>(cursor: &str) -> Result<[String; N]> {
    let wrong = || Error::field("cursor", "invalid", "give next_cursor of the page before, with the same sort");
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let parts: Vec<String> = text.split('\n').map(str::to_owned).collect();
    parts.try_into().map_err(|_| wrong())
}

/// Reads a cursor that is an id.
///
/// # Errors
/// 422.
pub fn read_id(cursor: &str) -> Result<Uuid> {
    let [id] = read::<1>(cursor)?;
    id.parse().map_err(|_| Error::field("cursor", "invalid", "give next_cursor of the page before"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_back() {
        let cursor = write(&["2026-11-30 12:00:00+00", "x"]);
        assert_eq!(read::<2>(&cursor).unwrap(), ["2026-11-30 12:00:00+00", "x"]);
        for wrong in ["", "!", "eA", &cursor] {
            assert_eq!(read_id(wrong).unwrap_err().status(), 422, "{wrong}");
        }
    }

    #[test]
    fn the_row_beyond_the_page_says_that_more_follow() {
        let mut rows = vec![1, 2, 3];
        assert_eq!(cut(&mut rows, 2), Some(&2));
        assert_eq!(rows, [1, 2]);
        assert_eq!(cut(&mut rows, 2), None);
    }
}

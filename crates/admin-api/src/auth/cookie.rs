//! The two cookies of a session. `__Host-`: this host alone, the whole path, secure; scripts can't read them.

use http::{HeaderMap, HeaderValue, header};

use crate::error::{Error, Result};

/// The access token.
pub const ACCESS: &str = "__Host-tollgate_access";
/// The refresh token.
pub const REFRESH: &str = "__Host-tollgate_refresh";

/// The value of a cookie.
#[must_use]
pub fn read<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value).filter(|value| !value.is_empty())
}

/// `Set-Cookie` of a value that lives for some seconds; 0 removes it.
///
/// # Errors
/// 500 where the value is no header text.
pub fn set(name: &str, value: &str, max_age_s: i64) -> Result<HeaderValue> {
    let text = format!("{name}={value}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age={max_age_s}");
    HeaderValue::from_str(&text).map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; x__Host-tollgate_access=2"));
        headers.append(header::COOKIE, HeaderValue::from_static("b=3;__Host-tollgate_access=t.o=k"));
        assert_eq!(read(&headers, ACCESS), Some("t.o=k"));
        assert_eq!(read(&headers, REFRESH), None);
    }
}

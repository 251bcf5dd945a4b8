//! A small blocking HTTP/1.1 client for loopback services: one request per connection, no TLS, no redirects.
//!
//! Enough to ask a service whether it is ready and to fill a development system through the admin API, without a
//! client library in `xtask`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

/// No answer that this client is made for is larger.
const MAX_BODY: u64 = 16 * 1024 * 1024;

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Header names in lower case, in order of arrival.
    pub headers: Vec<(String, String)>,
    /// Decoded from `chunked` where the server used it.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The first header of that (lower-case) name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }
}

/// `GET` without headers.
///
/// # Errors
/// As [`request`].
pub fn get(url: &str, limit: Duration) -> anyhow::Result<Response> {
    request("GET", url, &[], None, limit)
}

/// One request; `limit` bounds the connect and each read and write.
///
/// # Errors
/// When the URL is not plain `http`, the server can't be reached, or its answer is not HTTP.
pub fn request(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
    limit: Duration,
) -> anyhow::Result<Response> {
    let rest = url.strip_prefix("http://").with_context(|| format!("`{url}` is not an http:// URL"))?;
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, "/"),
    };
    let address = authority
        .to_socket_addrs()
        .with_context(|| format!("`{authority}` is not host:port"))?
        .next()
        .with_context(|| format!("`{authority}` has no address"))?;
    let mut stream =
        TcpStream::connect_timeout(&address, limit).with_context(|| format!("can't connect to {authority}"))?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;

    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let body = body.unwrap_or_default();
    if !body.is_empty() || method != "GET" {
        head.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    read(&mut BufReader::new(stream)).with_context(|| format!("{method} {url}"))
}

fn read(reader: &mut impl BufRead) -> anyhow::Result<Response> {
    let status_line = line(reader)?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .with_context(|| format!("not a status line: `{status_line}`"))?;
    let mut headers = Vec::new();
    loop {
        let text = line(reader)?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').with_context(|| format!("not a header: `{text}`"))?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut response = Response { status, headers, body: Vec::new() };
    response.body = match (response.header("transfer-encoding"), response.header("content-length")) {
        (Some("chunked"), _) => chunks(reader)?,
        (_, Some(length)) => exactly(reader, length.parse().context("content-length is not a number")?)?,
        _ => {
            let mut body = Vec::new();
            reader.take(MAX_BODY).read_to_end(&mut body)?;
            body
        }
    };
    Ok(response)
}

fn chunks(reader: &mut impl BufRead) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let text = line(reader)?;
        let size = u64::from_str_radix(text.split(';').next().unwrap_or_default().trim(), 16)
            .with_context(|| format!("not a chunk's size: `{text}`"))?;
        if size == 0 {
            while !line(reader)?.is_empty() {}
            return Ok(body);
        }
        body.extend(exactly(reader, size)?);
        ensure!(body.len() as u64 <= MAX_BODY, "the answer is larger than {MAX_BODY} bytes");
        line(reader)?;
    }
}

fn exactly(reader: &mut impl Read, length: u64) -> anyhow::Result<Vec<u8>> {
    ensure!(length <= MAX_BODY, "the answer is larger than {MAX_BODY} bytes");
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    ensure!(body.len() as u64 == length, "the answer ended after {} of {length} bytes", body.len());
    Ok(body)
}

fn line(reader: &mut impl BufRead) -> anyhow::Result<String> {
    let mut text = String::new();
    if reader.take(64 * 1024).read_line(&mut text)? == 0 {
        bail!("the server closed the connection");
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_body() {
        let cases = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellorest",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nhello",
        ];
        for text in cases {
            let response = read(&mut text.as_bytes()).unwrap();
            assert_eq!((response.status, response.text().as_str()), (200, "hello"), "{text}");
        }
    }

    #[test]
    fn a_short_answer_is_an_error() {
        let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello";
        assert!(read(&mut cut.as_bytes()).unwrap_err().to_string().contains("ended after 5 of 9"));
        assert!(read(&mut "".as_bytes()).is_err());
    }
}

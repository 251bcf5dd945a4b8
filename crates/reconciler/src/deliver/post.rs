//! One HTTP request that posts an event.

use anyhow::Context;
use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::connect::Connector;

/// Of a reply, no more than this is read.
pub const REPLY_BYTES: usize = 16 * 1024;

/// What a receiver answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The first [`REPLY_BYTES`] of the body.
    pub body: String,
}

/// Posts a JSON body and reads the beginning of the reply. Redirects are not followed.
///
/// # Errors
/// There was no reply; says why.
pub async fn post(
    connector: &Connector,
    url: &Uri,
    headers: &[(&'static str, String)],
    body: Bytes,
) -> anyhow::Result<Reply> {
    let mut request = Request::post(url.path_and_query().map_or("/", |path| path.as_str()))
        .header(header::HOST, url.authority().context("the URL names no host")?.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, concat!("Tollgate/", env!("CARGO_PKG_VERSION")))
        .header(header::CONNECTION, "close");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request = request.body(Full::new(body))?;
    let stream = connector.connect(url).await?;
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(64 * 1024)
        .handshake(TokioIo::new(stream))
        .await
        .context("the connection was lost")?;
    // Ends with this function.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let response = sender.send_request(request).await.context("no reply")?;
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let mut read = Vec::new();
    while read.len() < REPLY_BYTES {
        let Some(frame) = body.frame().await else { break };
        if let Ok(data) = frame.context("the reply broke off")?.into_data() {
            read.extend_from_slice(&data);
        }
    }
    read.truncate(REPLY_BYTES);
    // Postgres' JSON has no place for a zero character.
    Ok(Reply { status, body: String::from_utf8_lossy(&read).replace('\0', "\u{fffd}") })
}

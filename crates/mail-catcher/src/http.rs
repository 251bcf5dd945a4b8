//! The pages and the JSON of the inbox.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use mail_parser::{MessageParser, MimeHeaders as _};
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::format_description::well_known::Rfc3339;

use crate::{Inbox, Message};

type Shared = State<Arc<Inbox>>;

/// All routes.
pub(crate) fn router(inbox: Arc<Inbox>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/messages", get(list).delete(clear))
        .route("/messages/{id}", get(show))
        .with_state(inbox)
}

/// A line of the list.
#[derive(Serialize)]
struct Summary {
    id: u64,
    received_at: String,
    from: String,
    to: Vec<String>,
    subject: String,
    size_bytes: usize,
}

/// A message with its parts.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    summary: Summary,
    headers: Vec<(String, String)>,
    text: Option<String>,
    html: Option<String>,
    attachments: Vec<Attachment>,
    raw: String,
}

#[derive(Serialize)]
struct Attachment {
    name: Option<String>,
    content_type: String,
    size_bytes: usize,
}

fn summary(message: &Message) -> Summary {
    let parsed = MessageParser::default().parse_headers(&message.raw[..]);
    Summary {
        id: message.id,
        received_at: message.received_at.format(&Rfc3339).unwrap_or_default(),
        from: message.from.clone(),
        to: message.to.clone(),
        subject: parsed.as_ref().and_then(|parsed| parsed.subject()).unwrap_or_default().to_owned(),
        size_bytes: message.raw.len(),
    }
}

fn whole(message: &Message) -> Whole {
    let mut whole = Whole {
        summary: summary(message),
        headers: Vec::new(),
        text: None,
        html: None,
        attachments: Vec::new(),
        raw: String::from_utf8_lossy(&message.raw).into_owned(),
    };
    if let Some(parsed) = MessageParser::default().parse(&message.raw[..]) {
        whole.headers = parsed.headers_raw().map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        // Only parts that are there: the parser would make one from the other.
        whole.text = parsed
            .text_bodies()
            .find(|part| part.is_text() && !part.is_text_html())
            .and_then(|part| part.text_contents())
            .map(str::to_owned);
        whole.html = parsed
            .html_bodies()
            .find(|part| part.is_text_html())
            .and_then(|part| part.text_contents())
            .map(str::to_owned);
        whole.attachments = parsed.attachments().map(attachment).collect();
    }
    whole
}

fn attachment(part: &mail_parser::MessagePart<'_>) -> Attachment {
    let content_type = part.content_type().map_or_else(
        || "application/octet-stream".to_owned(),
        |kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("octet-stream")),
    );
    Attachment { name: part.attachment_name().map(str::to_owned), content_type, size_bytes: part.len() }
}

#[derive(Deserialize)]
struct Filter {
    to: Option<String>,
}

/// `GET /messages?to=ADDRESS`, oldest first.
async fn list(State(inbox): Shared, Query(filter): Query<Filter>) -> Json<Vec<Summary>> {
    let wanted = |message: &&Message| match &filter.to {
        Some(to) => message.to.iter().any(|address| address.eq_ignore_ascii_case(to)),
        None => true,
    };
    Json(inbox.all().iter().filter(wanted).map(summary).collect())
}

/// `GET /messages/{id}`.
async fn show(State(inbox): Shared, Path(id): Path<String>) -> Response {
    match id.parse().ok().and_then(|id| inbox.get(id)) {
        Some(message) => Json(whole(&message)).into_response(),
        None => (StatusCode::NOT_FOUND, Json(json!({"error": "no message has this id"}))).into_response(),
    }
}

/// `DELETE /messages`.
async fn clear(State(inbox): Shared) -> StatusCode {
    inbox.clear();
    StatusCode::NO_CONTENT
}

/// `GET /`: the list for people, newest first. Mail is foreign text: everything is escaped, and no script may run.
async fn page(State(inbox): Shared) -> Response {
    let mut rows = String::new();
    for message in inbox.all().iter().rev() {
        let line = summary(message);
        // Writing to a string doesn't fail.
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td><a href=\"/messages/{}\">{}</a></td></tr>",
            escape(&line.received_at),
            escape(&line.from),
            escape(&line.to.join(", ")),
            line.id,
            escape(if line.subject.is_empty() { "(no subject)" } else { &line.subject }),
        );
    }
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Caught mail</title></head><body>\
         <h1>Caught mail</h1><table><thead><tr><th>Received</th><th>From</th><th>To</th><th>Subject</th></tr></thead>\
         <tbody>{rows}</tbody></table></body></html>"
    );
    let mut response = Html(page).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    response
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

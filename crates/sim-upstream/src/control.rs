//! `/sim/...`: holding answers and reading the books; and the list of models.

use std::sync::Arc;

use hyper::{Method, Response};
use serde_json::{Value, json};

use crate::{
    ask::Dialect,
    book::Book,
    dialect::error_body,
    server::{self, Reply},
};

/// Most lines of one reply of the ledger.
const LINES: usize = 100_000;

/// Answers `/sim/<what>`.
pub(crate) fn answer(book: &Arc<Book>, method: &Method, what: &str, query: Option<&str>) -> Response<Reply> {
    let parameter = |name: &str| {
        query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)
    };
    let number = |name: &str, default: u64| parameter(name).map_or(Ok(default), |(_, value)| value.parse::<u64>());
    match (method, what) {
        (&Method::POST, "hold") => match number("after_chunks", 0).ok().and_then(|n| u32::try_from(n).ok()) {
            Some(chunks) => {
                book.hold(chunks);
                server::json(200, &json!({"held": true, "after_chunks": chunks}))
            }
            None => bad("after_chunks"),
        },
        (&Method::POST, "release") => {
            book.release();
            server::json(200, &json!({"held": false}))
        }
        (&Method::GET, "ledger") => match (number("after", 0), number("limit", LINES as u64)) {
            (Ok(after), Ok(limit)) => {
                let limit = usize::try_from(limit).unwrap_or(LINES).min(LINES);
                server::json(200, &json!(book.ledger(after, limit)))
            }
            (Err(_), _) => bad("after"),
            (_, Err(_)) => bad("limit"),
        },
        (&Method::GET, "active") => server::json(200, &json!(book.active())),
        _ => server::json(404, &json!({"error": "unknown: use POST hold, POST release, GET ledger or GET active"})),
    }
}

fn bad(name: &str) -> Response<Reply> {
    server::json(400, &json!({"error": format!("the parameter {name} must be a whole number that is not negative")}))
}

/// Answers `/v1/models` and `/v1/models/{id}`.
pub(crate) fn models(names: &[String], path: &str) -> Response<Reply> {
    let model = |name: &String| json!({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "sim"});
    match path.strip_prefix("/v1/models/") {
        None => {
            let data: Vec<Value> = names.iter().map(model).collect();
            server::json(200, &json!({"object": "list", "data": data}))
        }
        Some(wanted) => match names.iter().find(|name| *name == wanted) {
            Some(name) => server::json(200, &model(name)),
            None => {
                let message = format!("the model '{wanted}' does not exist");
                server::json(404, &error_body(Dialect::OpenAi, 404, &message))
            }
        },
    }
}

//! A whole answer on its way to the client.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};

use crate::dialect::reply::Reply as Answer;
use crate::life::account::Books;
use crate::life::send::Whole;
use crate::life::{Reply, once, translation};
use crate::upstream::refusal;

/// What whole answers are.
const JSON: &str = "application/json";

/// Settles a whole answer, then replies.
pub async fn finish(mut books: Books, whole: Whole, client: Reply) {
    books.first_byte();
    let key = books.serving.as_ref().and_then(|target| target.upstream.key.clone());
    let dialect = books.dialect();
    let refusal = match dialect.reply(&whole.media_type, &whole.body, &books.plan.model.tokenizer) {
        Answer::Answer { usage, counted, served_model } => {
            let is_estimated = usage.is_none() && !books.plan.counts_exactly();
            let usage = usage.unwrap_or_else(|| books.plan.counted(counted));
            books.served_model = served_model;
            let named = whole.content_type.filter(|_| !dialect.answers_in_json());
            let content_type = named.unwrap_or(HeaderValue::from_static(JSON));
            let body = translation::reply(&books, whole.body, &usage);
            once::keep(&books.call, StatusCode::OK, content_type.to_str().unwrap_or(JSON), &body).await;
            let mut response = Response::new(Body::from(body));
            response.headers_mut().insert(header::CONTENT_TYPE, content_type);
            books.reply_headers(response.headers_mut());
            books.settle(Some(usage), is_estimated, "completed");
            let _ = client.send(response);
            return;
        }
        Answer::Error(message) => refusal::of_error_in_success(&message, key.as_deref()),
        Answer::Garbage => refusal::of_garbage("a success that is no JSON object"),
    };
    if let Some(attempt) = books.attempts.last_mut() {
        attempt.error = Some(refusal.reason);
    }
    books.roll_back("upstream_failed", Some(refusal.error), client);
}

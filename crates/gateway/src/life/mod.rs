//! The life of a paid request, in order: [`estimate`], [`admit`], [`send`], [`relay`], [`account`].
//!
//! It runs in a task of its own. A handler's future is dropped when its client leaves; the accounting must not be.

pub mod account;
pub mod admit;
pub mod binary;
pub mod drain;
pub mod estimate;
pub mod guard;
pub mod once;
pub mod relay;
pub mod send;
pub mod soft_budget;
pub mod translation;
pub mod whole;

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use tokio::sync::oneshot;

use crate::app::App;
use crate::catalog::Target;
use crate::dialect::Dialect;
use crate::dialect::asked::Asked;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::request_context::{LoggedAtEnd, RequestContext};

use account::Books;
use once::{Begun, Once};
use send::{SendEnd, Served};

/// A request whose body is here and whose caller is known.
pub struct Call {
    /// What every request shares.
    pub app: Arc<App>,
    /// Who pays.
    pub caller: Arc<Caller>,
    /// The request.
    pub context: RequestContext,
    /// The language of the route.
    pub dialect: Dialect,
    /// Headers of the caller's that go to the upstream.
    pub passed: HeaderMap,
    /// As it came.
    pub body: Bytes,
    /// What it asks for.
    pub asked: Asked,
    /// The claim on its `Idempotency-Key`, where it has one.
    pub once: Option<Once>,
}

impl Call {
    /// The dialect in which a target that was chosen for this call is spoken to.
    #[must_use]
    pub fn dialect_at(&self, target: &Target) -> Dialect {
        self.dialect.spoken_to(target).unwrap_or(self.dialect)
    }
}

/// The way back to the client; closed when the client has left.
pub type Reply = oneshot::Sender<Response>;

/// Runs the request in a tracked task and waits for the reply's head.
pub async fn start(call: Call) -> Response {
    let context = call.context.clone();
    let (reply, answer) = oneshot::channel();
    let calls = call.app.calls.clone();
    calls.spawn(run(call, reply));
    let mut response = match answer.await {
        Ok(response) => response,
        Err(_) => ApiError::internal().to_response(&context), // the task panicked; its freeze notices
    };
    response.extensions_mut().insert(LoggedAtEnd);
    response
}

async fn run(call: Call, mut reply: Reply) {
    let call = Arc::new(call);
    match once::begin(&call).await {
        Ok(Begun::Run) => {}
        Ok(Begun::Replay(first)) => return once::replay(&call, *first, reply),
        Err(error) => return account::turned_away(&call, &error, reply),
    }
    let plan = match estimate::plan(&call).await {
        Ok(plan) => plan,
        Err(error) => return account::refused(&call, &error, reply),
    };
    let freeze = match admit::admit(&call, &plan).await {
        Ok(freeze) => freeze,
        Err(error) => return account::refused(&call, &error, reply),
    };
    let mut books = Books::new(Arc::clone(&call), plan, freeze);
    match send::send(&call, &mut books, &mut reply).await {
        Ok(Served::Stream(first)) => relay::relay(books, first, reply).await,
        Ok(Served::Whole(answer)) => whole::finish(books, answer, reply).await,
        Ok(Served::Binary(first)) => binary::relay(books, first, reply).await,
        Err(SendEnd::ClientLeft) => books.roll_back("client_left", None, reply),
        Err(SendEnd::Failed(error)) => books.roll_back("upstream_failed", Some(error), reply),
    }
}

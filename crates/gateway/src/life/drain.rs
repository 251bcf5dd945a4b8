//! Reading on after the client has left, for tenants that want the provider's own figure: bounded in number and in time,
//! and by the same guard as if the client were there.

use std::sync::Arc;

use futures_util::StreamExt;

use crate::dialect::watch::Verdict;
use crate::life::account::Books;
use crate::life::guard::Guard;
use crate::life::send::Stream;

/// Reads a stream on to its usage, where the tenant wants that and there is a place. What was relayed is kept: it is charged
/// where no usage comes.
pub async fn read_on(books: &mut Books, stream: &mut Stream) {
    if !books.call.caller.context.drain_on_abort || is_over(stream) {
        return;
    }
    books.relayed_tokens.get_or_insert(stream.watcher.words_mut().exact());
    let app = Arc::clone(&books.call.app);
    let outcome = match app.drains.try_acquire() {
        Err(_) => "no_place",
        Ok(_place) => {
            let (abort, ending) = (books.freeze.abort_signal(), app.ending.clone());
            tokio::select! {
                biased;
                () = abort.cancelled() => "aborted",
                () = ending.cancelled() => "shutdown",
                outcome = tokio::time::timeout(app.config.abort_drain_s, rest(books, stream)) => outcome.unwrap_or("time_out"),
            }
        }
    };
    metrics::counter!("tollgate_gateway_abort_drains_total", "outcome" => outcome).increment(1);
}

fn is_over(stream: &Stream) -> bool {
    stream.ended || (stream.watcher.is_complete() && stream.watcher.usage().is_some())
}

async fn rest(books: &Books, stream: &mut Stream) -> &'static str {
    let mut guard = Guard::new(&books.plan, books.freeze.amount());
    let mut pieces = Vec::new();
    while !is_over(stream) {
        match stream.body.next().await {
            Some(Ok(chunk)) => stream.splitter.push(chunk, &mut pieces),
            Some(Err(_)) => return "broke_off",
            None => {
                stream.ended = true;
                pieces.extend(stream.splitter.finish());
            }
        }
        for piece in pieces.drain(..) {
            if stream.watcher.see(&piece) == Verdict::Done {
                return "done";
            }
            let is_far = guard.is_far(stream.watcher.words(), 0);
            if !is_far && guard.allow(&books.plan, &books.freeze, stream.watcher.words_mut()).await.is_err() {
                return "stopped";
            }
        }
    }
    "done"
}

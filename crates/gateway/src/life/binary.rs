//! A binary answer on its way to the client: sound, whose tokens are counted by its bytes.

use std::io;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderValue, header};
use tokio::sync::mpsc;

use crate::dialect::count::length;
use crate::dialect::speech;
use crate::life::Reply;
use crate::life::account::Books;
use crate::life::send::Binary;

/// Pieces between the relay and a client that reads slowly.
const PIECES: usize = 8;

/// Why the upstream's body was not passed on to its end.
enum Broken {
    ClientLeft,
    Upstream(String),
    Shutdown,
}

type Pieces = mpsc::Sender<io::Result<Bytes>>;

/// Relays an answer whose first bytes are here to its end, then settles: the input, and the sound that was passed on.
pub async fn relay(mut books: Books, mut binary: Box<Binary>, reply: Reply) {
    let (client, pieces) = mpsc::channel(PIECES);
    let head = head(&books, &binary, pieces);
    books.first_byte();
    let per_token = speech::bytes_per_token(&binary.media_type);
    let mut bytes: u64 = 0;
    let end = if reply.send(head).is_err() {
        Err(Broken::ClientLeft)
    } else {
        let (abort, ending) = (books.freeze.abort_signal(), books.call.app.ending.clone());
        tokio::select! {
            biased;
            () = client.closed() => Err(Broken::ClientLeft),
            () = abort.cancelled() => Err(Broken::Upstream("the ledger lost sight of this request".to_owned())),
            () = ending.cancelled() => Err(Broken::Shutdown),
            end = pump(&books, &mut binary, &client, &mut bytes) => end,
        }
    };
    drop(binary); // closes the upstream, if it is not at its end
    let label = match &end {
        Ok(()) => "completed",
        Err(Broken::ClientLeft) => "client_left",
        Err(Broken::Upstream(_)) => "upstream_died",
        Err(Broken::Shutdown) => "shutdown",
    };
    if let Err(Broken::Upstream(why)) = &end {
        tracing::warn!(request_id = %books.call.context.id, why, "an upstream broke off in a binary answer");
    }
    let usage = (bytes > 0).then(|| books.counted(bytes.div_ceil(per_token)));
    books.settle(usage, true, label);
    if end.is_err() {
        // A body that is not whole must not look so.
        let _ = client.send(Err(io::Error::other("the answer broke off"))).await;
    }
}

/// Passes the bytes on until the upstream ends. Cancelled at any await: what was passed on is in `bytes`.
async fn pump(books: &Books, binary: &mut Binary, client: &Pieces, bytes: &mut u64) -> Result<(), Broken> {
    let silence_max = books.serving.as_ref().map(|target| target.upstream.read_timeout).unwrap_or_default();
    let per_token = speech::bytes_per_token(&binary.media_type);
    let mut piece = std::mem::take(&mut binary.first);
    loop {
        *bytes = bytes.saturating_add(length(piece.len()));
        match tokio::time::timeout(books.call.app.config.client_stall_s, client.send(Ok(piece))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Err(Broken::ClientLeft),
        }
        books.freeze.set_progress(books.charge(&books.counted(bytes.div_ceil(per_token))));
        piece = match tokio::time::timeout(silence_max, binary.body.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => return Err(Broken::Upstream(error.to_string())),
            Ok(None) => return Ok(()),
            Err(_) => return Err(Broken::Upstream("time-out".to_owned())),
        };
    }
}

/// The reply's head.
fn head(books: &Books, binary: &Binary, pieces: mpsc::Receiver<io::Result<Bytes>>) -> Response {
    let body = Body::from_stream(futures_util::stream::unfold(pieces, |mut pieces| async {
        pieces.recv().await.map(|piece| (piece, pieces))
    }));
    let mut response = Response::new(body);
    let bytes = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, binary.content_type.clone().unwrap_or(bytes));
    books.reply_headers(response.headers_mut());
    response
}

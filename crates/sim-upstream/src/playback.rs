//! Plays a rendered answer: paces it, holds it, breaks it, and keeps the books.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep},
};

use crate::{
    book::{Ending, Serving},
    reel::{End, Reel},
    wire::Kill,
};

/// Time for written bytes to leave before a connection is broken.
const FLUSH: Duration = Duration::from_millis(5);
/// Time after which a connection with `fault=stale` is closed.
const STALE: Duration = Duration::from_millis(50);

/// Waits until no hold stops an answer that has sent `chunks` content chunks.
pub(crate) async fn pass(hold: &mut watch::Receiver<Option<u32>>, chunks: u32) {
    // An error means the sender is gone, with the whole program.
    let _ = hold.wait_for(|hold| !blocks(*hold, chunks)).await;
}

/// Whether a hold stops an answer that has sent `chunks` content chunks.
pub(crate) fn blocks(hold: Option<u32>, chunks: u32) -> bool {
    hold.is_some_and(|after| chunks >= after)
}

/// A response body that is played from a reel.
pub(crate) struct Playback {
    reel: Reel,
    next: usize,
    offset: usize,
    content: u32,
    delay: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
    slept: bool,
    hold: watch::Receiver<Option<u32>>,
    held: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    kill: Arc<Kill>,
    stale: bool,
    exact: bool,
    serving: Serving,
}

impl Playback {
    pub(crate) fn new(
        reel: Reel,
        delay: Duration,
        hold: watch::Receiver<Option<u32>>,
        kill: Arc<Kill>,
        mut serving: Serving,
    ) -> Self {
        if reel.cuts.is_empty() && reel.end == End::Clean {
            // Nobody polls a body that is empty from the start.
            serving.end(Ending::Complete);
        }
        Self {
            reel,
            next: 0,
            offset: 0,
            content: 0,
            delay,
            sleep: None,
            slept: false,
            hold,
            held: None,
            kill,
            stale: false,
            exact: false,
            serving,
        }
    }

    /// Closes the connection shortly after a clean end.
    pub(crate) fn stale(mut self, stale: bool) -> Self {
        self.stale = stale;
        self
    }

    /// Tells the body's length in the response's head (bodies that are not streamed).
    pub(crate) fn with_length(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    fn poll_sleep(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        if !self.slept {
            let until = Instant::now() + time;
            match &mut self.sleep {
                Some(sleep) => sleep.as_mut().reset(until),
                None => self.sleep = Some(Box::pin(sleep(time))),
            }
            self.slept = true;
        }
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Ready(()),
        }
    }

    fn poll_hold(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.held.is_none() && blocks(*self.hold.borrow(), self.content) {
            let (mut hold, content) = (self.hold.clone(), self.content);
            self.held = Some(Box::pin(async move { pass(&mut hold, content).await }));
            self.serving.set_held(true);
        }
        if let Some(held) = &mut self.held {
            ready!(held.as_mut().poll(cx));
            self.held = None;
            self.serving.set_held(false);
        }
        Poll::Ready(())
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.reel.end {
            End::Clean => {
                self.finish();
                return Poll::Ready(None);
            }
            End::Stall => return Poll::Pending,
            End::Reset | End::Close => {}
        }
        ready!(self.poll_sleep(cx, FLUSH));
        self.serving.end(Ending::Fault);
        if self.reel.end == End::Reset {
            self.kill.reset()
        } else {
            self.kill.close()
        }
        Poll::Pending
    }

    fn finish(&mut self) {
        self.serving.end(Ending::Complete);
        if std::mem::take(&mut self.stale) {
            let kill = Arc::clone(&self.kill);
            tokio::spawn(async move {
                sleep(STALE).await;
                kill.close();
            });
        }
    }
}

impl Body for Playback {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let Some(cut) = this.reel.cuts.get(this.next).copied() else { return this.poll_end(cx) };
        if cut.content {
            if this.content > 0 && !this.delay.is_zero() {
                ready!(this.poll_sleep(cx, this.delay));
            }
            ready!(this.poll_hold(cx));
            this.content += 1;
            this.slept = false;
        }
        let piece = this.reel.bytes.slice(this.offset..cut.end);
        this.offset = cut.end;
        this.next += 1;
        this.serving.add_sent(cut.tokens);
        if this.next == this.reel.cuts.len() && this.reel.end == End::Clean {
            // Written before the last byte leaves: who has read the end finds the line.
            this.finish();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.next == self.reel.cuts.len() && self.reel.end == End::Clean
    }

    fn size_hint(&self) -> SizeHint {
        if self.exact && self.reel.end == End::Clean {
            SizeHint::with_exact(u64::try_from(self.reel.bytes.len() - self.offset).unwrap_or(u64::MAX))
        } else {
            SizeHint::default()
        }
    }
}

//! An accepted socket that a script can reset or close under the HTTP library's feet.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::Notify,
};

const ALIVE: u8 = 0;
const CLOSE: u8 = 1;
const RESET: u8 = 2;

/// Ends a connection from within one of its answers.
#[derive(Debug, Default)]
pub(crate) struct Kill {
    how: AtomicU8,
    told: Notify,
}

impl Kill {
    /// Drops the connection; what was written before still reaches the caller.
    pub(crate) fn close(&self) {
        self.how.store(CLOSE, Ordering::Release);
        self.told.notify_one();
    }

    /// Resets the connection (TCP RST).
    pub(crate) fn reset(&self) {
        self.how.store(RESET, Ordering::Release);
        self.told.notify_one();
    }

    /// Returns once the connection is to end.
    pub(crate) async fn told(&self) {
        while self.how.load(Ordering::Acquire) == ALIVE {
            self.told.notified().await;
        }
    }
}

/// The socket. Closing it after [`Kill::reset`] sends a reset instead of an orderly end.
#[derive(Debug)]
pub(crate) struct Wire {
    pub stream: TcpStream,
    pub kill: Arc<Kill>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.kill.how.load(Ordering::Acquire) == RESET {
            // Fails only where the socket is gone already, and then there is nothing to reset.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

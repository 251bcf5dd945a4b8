//! The SMTP side (RFC 5321): small and strict.

mod command;
mod session;

use std::{io, sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::Semaphore};

use crate::{Config, Inbox};

/// Most senders at once; the next waits.
const SESSIONS: usize = 200;

/// Accepts senders.
pub(crate) async fn run(listener: TcpListener, config: Config, inbox: Arc<Inbox>) -> io::Result<()> {
    let sessions = Arc::new(Semaphore::new(SESSIONS));
    loop {
        let permit = Arc::clone(&sessions).acquire_owned().await.map_err(io::Error::other)?;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a sender could not be accepted");
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        let inbox = Arc::clone(&inbox);
        tokio::spawn(async move {
            let _permit = permit;
            if let Err(error) = session::run(stream, config, &inbox).await {
                tracing::debug!(%error, "a session broke");
            }
        });
    }
}

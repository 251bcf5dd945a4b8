//! Bounded waits for things that have no event to wait on: a server that comes up, a process that ends.

use std::time::{Duration, Instant};

/// How often a condition is looked at.
const STEP: Duration = Duration::from_millis(10);

/// Calls `look` until it gives a value, an error, or `limit` has passed; `what` names the thing in the time-out's error.
///
/// # Errors
/// What `look` returned, or that the limit has passed.
pub fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = look()? {
            return Ok(value);
        }
        anyhow::ensure!(start.elapsed() < limit, "waited {limit:?} in vain for {what}");
        pause(STEP);
    }
}

/// Blocks the thread.
#[expect(clippy::disallowed_methods, reason = "the blocking core is used outside of any async runtime")]
pub fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// [`until`] for a runtime: does not block it between two looks.
///
/// # Errors
/// What `look` returned, or that the limit has passed.
pub async fn until_async<T, F>(what: &str, limit: Duration, mut look: impl FnMut() -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<Option<T>>>,
{
    let start = Instant::now();
    loop {
        if let Some(value) = look().await? {
            return Ok(value);
        }
        anyhow::ensure!(start.elapsed() < limit, "waited {limit:?} in vain for {what}");
        tokio::time::sleep(STEP).await;
    }
}

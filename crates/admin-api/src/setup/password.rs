//! Passwords off the async threads, a few at a time: each costs 19 MiB and some 20 ms of a core.

use tokio::sync::Semaphore;

use crate::error::{Error, Result};
use crate::validate::Fields;

static AT_ONCE: Semaphore = Semaphore::const_new(4);

/// Tests a password; without a hash it does the same work and says no.
///
/// # Errors
/// 500 where the task failed.
pub async fn verify(password: String, hash: Option<String>) -> Result<bool> {
    let _permit = AT_ONCE.acquire().await.map_err(Error::internal)?;
    let task = tokio::task::spawn_blocking(move || store::password::verify(&password, hash.as_deref()));
    task.await.map_err(Error::internal)
}

/// Hashes a password.
///
/// # Errors
/// 500 where the task failed.
pub async fn hash(password: String) -> Result<String> {
    let _permit = AT_ONCE.acquire().await.map_err(Error::internal)?;
    let task = tokio::task::spawn_blocking(move || store::password::hash(&password));
    Ok(task.await.map_err(Error::internal)??)
}

/// Refuses passwords that are too short to withstand guessing, or too long to be meant.
pub fn check(fields: &mut Fields, field: &str, password: &str) {
    fields.check(password.chars().count() >= 12, field, "too_short", "at least 12 characters");
    fields.check(password.len() <= 512, field, "too_long", "at most 512 bytes");
}

/// Refuses texts that are no e-mail address. Returns it in lower case.
pub fn email(fields: &mut Fields, field: &str, text: &str) -> String {
    let text = text.trim().to_lowercase();
    let parts = text.rsplit_once('@');
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>,;:\"\\()[]".contains(c));
    let ok = plain
        && text.len() <= 254
        && parts.is_some_and(|(local, host)| !local.is_empty() && !local.contains('@') && !host.is_empty());
    fields.check(ok, field, "invalid", "must be an e-mail address such as ops@example.com");
    text
}

//! Mail about events, and with one-time links. Like webhooks each mail is a task with a limit in time, and a server that stalls delays mail only.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use metrics::counter;
use serde_json::json;
use store::Store;
use store::mail_deliveries::{Claimed, claim, record};
use store::webhook_deliveries::Next;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tracing::warn;

use super::letter::{Letter, one_line};
use super::links::Links;
use super::schedule::Schedule;

/// Mails sent at once.
const AT_ONCE: usize = 4;
/// A claimed mail is due again after this.
const LEASE_MS: i64 = 60_000;

/// What sending needs.
#[derive(Debug)]
pub struct Mails {
    /// Where mails are.
    pub store: Store,
    /// The server.
    pub server: AsyncSmtpTransport<Tokio1Executor>,
    /// The sender.
    pub from: Mailbox,
    /// Makes links with one-time tokens.
    pub links: Links,
    /// When an attempt is made again.
    pub schedule: Schedule,
    /// One attempt in all.
    pub within: Duration,
}

impl Mails {
    /// From the server's URL (`smtp://`, `smtps://`, with user and password where it wants them) and the sender.
    ///
    /// # Errors
    /// One of them can't be read; names its variable.
    pub fn new(
        store: Store,
        url: &str,
        from: &str,
        links: Links,
        schedule: Schedule,
        within: Duration,
    ) -> anyhow::Result<Self> {
        let server = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .context("TOLLGATE_SMTP_URL must be a URL such as smtps://user:password@mail.example.com")?
            .timeout(Some(within))
            .build();
        let from =
            from.parse().context("TOLLGATE_MAIL_FROM must be an address such as Tollgate <quota@example.com>")?;
        Ok(Self { store, server, from, links, schedule, within })
    }

    async fn attempt(&self, mail: Claimed) {
        let at = OffsetDateTime::now_utc();
        let began = Instant::now();
        let outcome = match timeout(self.within, self.send(&mail)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("not sent within {} s", self.within.as_secs_f32())),
        };
        counter!("tollgate_mail_attempts_total", "outcome" => if outcome.is_ok() { "ok" } else { "error" })
            .increment(1);
        let error = outcome.err().map(|error| one_line(&format!("{error:#}"), 1000));
        if let Some(error) = &error {
            warn!(mail = %mail.id, error, "a mail is not sent");
        }
        let next = if error.is_some() { self.schedule.after(mail.tries) } else { Next::Delivered };
        let attempt = json!({
            "at": at.format(&Rfc3339).unwrap_or_default(),
            "ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            "error": error,
        });
        for pause in [1, 4, 0] {
            let recorded = async {
                let mut connection = self.store.acquire().await?;
                record(&mut connection, mail.id, &attempt, next).await
            };
            match recorded.await {
                Ok(()) => return,
                Err(error) => warn!(mail = %mail.id, %error, "an attempt is not recorded"),
            }
            tokio::time::sleep(Duration::from_secs(pause)).await;
        }
    }

    async fn send(&self, mail: &Claimed) -> anyhow::Result<()> {
        let letter = match &mail.token {
            Some((id, sealed)) => self.links.letter(mail, *id, sealed)?,
            None => Letter::write(mail),
        };
        let from = self.sender().await;
        self.server.send(message(mail, &letter, &from)?).await?;
        Ok(())
    }

    /// The sender of the platform's settings; the configuration's where none is set, or Postgres does not answer now.
    async fn sender(&self) -> Mailbox {
        let read = async {
            let mut connection = self.store.acquire().await?;
            store::platform::settings(&mut connection).await
        };
        let set = read.await.ok().and_then(|settings| settings.mail_from);
        set.and_then(|text| text.parse().ok()).unwrap_or_else(|| self.from.clone())
    }
}

/// The whole message. Addresses are parsed and the subject is one line, so that nothing of a tenant becomes a header.
fn message(mail: &Claimed, letter: &Letter, from: &Mailbox) -> anyhow::Result<Message> {
    let to = Mailbox::new(None, mail.email.parse().context("the person's address can't be read")?);
    let mut message = Message::builder()
        .from(from.clone())
        .to(to)
        .subject(one_line(&letter.subject, 150))
        // The same for each attempt, so that a mail that was sent twice is shown once.
        .message_id(Some(format!("<{}@{}>", mail.id.simple(), from.email.domain())))
        .multipart(MultiPart::alternative_plain_html(letter.text(), letter.html()))?;
    let name = HeaderName::new_from_ascii_str("Auto-Submitted");
    message.headers_mut().insert_raw(HeaderValue::new(name, "auto-generated".to_owned()));
    Ok(message)
}

/// Mails that are being sent.
#[derive(Debug, Default)]
pub struct Sending(JoinSet<()>);

impl Sending {
    /// Starts what is due and may start. Returns how many were started.
    ///
    /// # Errors
    /// Postgres gave no answer.
    pub async fn pass(&mut self, mails: &Arc<Mails>) -> anyhow::Result<usize> {
        while self.0.try_join_next().is_some() {}
        let free = AT_ONCE.saturating_sub(self.0.len());
        if free == 0 {
            return Ok(0);
        }
        let mut connection = mails.store.acquire().await?;
        let claimed = claim(&mut connection, i64::try_from(free)?, LEASE_MS).await?;
        drop(connection);
        let started = claimed.len();
        for mail in claimed {
            let mails = Arc::clone(mails);
            self.0.spawn(async move { mails.attempt(mail).await });
        }
        Ok(started)
    }

    /// Waits until a mail has ended; for ever where none is being sent.
    pub async fn ended(&mut self) {
        if self.0.join_next().await.is_none() {
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tenant_wrote_never_becomes_a_header() {
        let mut mail = super::super::letter::tests::low("en");
        mail.tenant_name = Some("Acme\r\nBcc: evil@example.com\r\n\r\nHello".to_owned());
        let from: Mailbox = "Tollgate <quota@example.com>".parse().unwrap();
        let raw = String::from_utf8(message(&mail, &Letter::write(&mail), &from).unwrap().formatted()).unwrap();
        let head = raw.split("\r\n\r\n").next().unwrap();
        assert!(!head.lines().any(|line| line.to_lowercase().starts_with("bcc")), "{head}");
        assert!(head.contains("Auto-Submitted: auto-generated"));
        mail.email = "a@example.com\r\nBcc: evil@example.com".to_owned();
        assert!(message(&mail, &Letter::write(&mail), &from).is_err());
        mail.email = "a@example.com>, <evil@example.com".to_owned();
        assert!(message(&mail, &Letter::write(&mail), &from).is_err());
    }
}

//! Attempts at webhook endpoints. Each delivery is a task of its own with a limit in time, few of one endpoint at once and
//! of one that fails a single one, so that a slow endpoint delays nobody else.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use domain::WebhookId;
use http::Uri;
use metrics::counter;
use serde_json::{Value, json};
use store::seal::Sealer;
use store::webhook_deliveries::{Claimed, Next, claim, record};
use store::{Store, Transaction, webhooks};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use super::connect::Connector;
use super::post::{Reply, post};
use super::schedule::Schedule;
use super::sign::sign;

/// Attempts at one endpoint at once.
const EACH: usize = 4;
/// Attempts at once in all.
const AT_ONCE: usize = 512;
/// A claimed delivery is due again after this: longer than any attempt takes with its record.
const LEASE_MS: i64 = 60_000;

/// What attempts need.
#[derive(Debug)]
pub struct Webhooks {
    /// Where deliveries are.
    pub store: Store,
    /// Opens secrets.
    pub sealer: Sealer,
    /// Opens connections.
    pub connector: Connector,
    /// When an attempt is made again.
    pub schedule: Schedule,
    /// An endpoint that has failed for so long is disabled.
    pub disable_after: Duration,
    /// One attempt in all: name, connection, request, reply.
    pub within: Duration,
}

/// Attempts that are running.
#[derive(Debug, Default)]
pub struct Running {
    tasks: JoinSet<WebhookId>,
    of: HashMap<WebhookId, usize>,
}

impl Running {
    /// Starts what is due and may start. Returns how many were started.
    ///
    /// # Errors
    /// Postgres gave no answer.
    pub async fn pass(&mut self, webhooks: &Arc<Webhooks>) -> anyhow::Result<usize> {
        self.reap();
        let free = AT_ONCE.saturating_sub(self.tasks.len());
        if free == 0 {
            return Ok(0);
        }
        // Claims come in whole handfuls: an endpoint is asked for again when its last one has ended.
        let busy: Vec<WebhookId> = self.of.keys().copied().collect();
        let mut connection = webhooks.store.acquire().await?;
        let claimed = claim(&mut connection, &busy, i64::try_from(EACH)?, i64::try_from(free)?, LEASE_MS).await?;
        drop(connection);
        let started = claimed.len();
        for delivery in claimed {
            *self.of.entry(delivery.webhook_id).or_default() += 1;
            let webhooks = Arc::clone(webhooks);
            self.tasks.spawn(async move {
                let id = delivery.webhook_id;
                webhooks.attempt(delivery).await;
                id
            });
        }
        Ok(started)
    }

    /// Waits until an attempt has ended; for ever where none runs.
    pub async fn ended(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => self.note(ended),
            None => std::future::pending().await,
        }
    }

    fn reap(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            self.note(ended);
        }
    }

    fn note(&mut self, ended: Result<WebhookId, tokio::task::JoinError>) {
        match ended {
            Ok(id) => {
                if let Some(count) = self.of.get_mut(&id) {
                    *count -= 1;
                    if *count == 0 {
                        self.of.remove(&id);
                    }
                }
            }
            Err(error) => {
                warn!(%error, "an attempt broke off; its delivery is due again in a minute");
                if self.tasks.is_empty() {
                    self.of.clear();
                }
            }
        }
    }
}

impl Webhooks {
    async fn attempt(&self, delivery: Claimed) {
        let at = OffsetDateTime::now_utc();
        let began = Instant::now();
        let outcome = match timeout(self.within, self.send(&delivery, at)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("no whole reply within {} s", self.within.as_secs_f32())),
        };
        let status = outcome.as_ref().ok().map(|reply| reply.status);
        let works = status.is_some_and(|status| (200..300).contains(&status));
        let error = match &outcome {
            Err(error) => Some(format!("{error:#}")),
            Ok(Reply { status: 300..400, .. }) => Some("redirects are not followed".to_owned()),
            Ok(reply) if !works => Some(format!("the status {} is no success", reply.status)),
            Ok(_) => None,
        };
        counter!("tollgate_webhook_attempts_total", "outcome" => if works { "ok" } else { "error" }).increment(1);
        let attempt = json!({
            "at": at.format(&Rfc3339).unwrap_or_default(),
            "status": status,
            "ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            "error": error,
            "body": outcome.ok().map(|reply| reply.body),
        });
        let next = if works { Next::Delivered } else { self.schedule.after(delivery.tries) };
        // Not written down it is made again: once more than needed is better than never.
        for pause in [1, 4, 0] {
            match self.record(&delivery, &attempt, status, next).await {
                Ok(()) => return,
                Err(error) => {
                    warn!(delivery = %delivery.id, error = format!("{error:#}"), "an attempt is not recorded")
                }
            }
            tokio::time::sleep(Duration::from_secs(pause)).await;
        }
    }

    async fn send(&self, delivery: &Claimed, at: OffsetDateTime) -> anyhow::Result<Reply> {
        let url: Uri = delivery.url.parse().context("the URL can't be read")?;
        let body = json!({
            "type": delivery.kind,
            "timestamp": delivery.at.format(&Rfc3339)?,
            "data": delivery.payload,
        });
        let body = serde_json::to_vec(&body)?;
        let (id, timestamp) = (delivery.event_id.to_string(), at.unix_timestamp());
        let owner = delivery.webhook_id.to_string();
        let mut signatures = Vec::new();
        for sealed in [Some(&delivery.sealed_secret), delivery.previous_secret.as_ref()].into_iter().flatten() {
            let secret = self.sealer.open(&owner, sealed).context("the endpoint's secret can't be read; rotate it")?;
            signatures.push(sign(&secret, &id, timestamp, &body)?);
        }
        let headers = [
            ("webhook-id", id),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ];
        post(&self.connector, &url, &headers, Bytes::from(body)).await
    }

    async fn record(&self, delivery: &Claimed, attempt: &Value, status: Option<u16>, next: Next) -> anyhow::Result<()> {
        let mut transaction = self.store.begin().await?;
        let id = delivery.webhook_id;
        // The endpoint before its delivery, as whoever removes it.
        if next == Next::Delivered {
            webhooks::works(&mut transaction, id).await?;
            record(&mut transaction, delivery.id, attempt, next).await?;
            transaction.commit().await?;
            return Ok(());
        }
        let failing_ms = match webhooks::fails(&mut transaction, id).await {
            Err(store::Error::NotFound) => return Ok(()),
            failing => failing?,
        };
        record(&mut transaction, delivery.id, attempt, next).await?;
        let too_long = u128::try_from(failing_ms).is_ok_and(|ms| ms >= self.disable_after.as_millis());
        match status {
            Some(410) => disable(&mut transaction, id, "gone").await?,
            _ if too_long => disable(&mut transaction, id, "failing").await?,
            _ => {}
        }
        transaction.commit().await?;
        Ok(())
    }
}

/// Disables an endpoint and has it told.
async fn disable(transaction: &mut Transaction, id: WebhookId, reason: &'static str) -> anyhow::Result<()> {
    let Some(webhook) = webhooks::disable(transaction, id, reason).await? else { return Ok(()) };
    info!(webhook_id = %id, reason, "a webhook endpoint was disabled");
    let failing_since = webhook.failing_since.map(|at| at.format(&Rfc3339)).transpose()?;
    let event = store::outbox::NewEvent {
        kind: "endpoint.disabled",
        tenant_id: webhook.tenant_id,
        webhook_id: None,
        scope: None,
        data: json!({
            "tenant_id": webhook.tenant_id,
            "webhook_id": id,
            "url": webhook.url,
            "reason": reason,
            "failing_since": failing_since,
        }),
    };
    store::outbox::append(transaction, &event).await?;
    let target = id.to_string();
    let entry = store::audit::Entry {
        actor: "reconciler",
        action: "webhook.disable",
        target: &target,
        tenant_id: webhook.tenant_id,
        before: Some(json!({ "status": "enabled" })),
        after: Some(json!({ "status": "disabled", "reason": reason })),
        address: None,
        request_id: None,
    };
    store::audit::append(transaction, &entry).await?;
    Ok(())
}

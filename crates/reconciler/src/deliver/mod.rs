//! Tells what stands in the outbox: by the feed, to webhook endpoints, by mail.
//!
//! Runs beside the reconciler's passes and does not need their lock: events are handed on by one at a time, deliveries are
//! claimed by whoever is free. What it sends arrives at least once, with the same id each time.

pub mod connect;
pub mod fan_out;
pub mod letter;
pub mod links;
pub mod mail;
pub mod payload;
pub mod post;
pub mod schedule;
pub mod sign;
pub mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use domain::destination::Allowed;
use ledger::Ledger;
use metrics::gauge;
use store::Store;
use store::seal::Sealer;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::Config;
use links::Links;
use mail::{Mails, Sending};
use webhooks::{Running, Webhooks};

/// How often the outbox is looked at: a first attempt is made well within two seconds of the commit.
const EVERY: Duration = Duration::from_millis(500);
/// A webhook's attempt or a mail takes no longer.
const WITHIN: Duration = Duration::from_secs(15);
/// How long running attempts are waited for at the end.
const END_WITHIN: Duration = Duration::from_secs(5);

/// Everything that delivers.
#[derive(Debug)]
pub struct Delivery {
    ledger: Ledger,
    store: Store,
    webhooks: Arc<Webhooks>,
    mails: Option<Arc<Mails>>,
}

impl Delivery {
    /// With what the configuration says.
    ///
    /// # Errors
    /// A value of it can't be used; names its variable.
    pub fn new(config: &Config, ledger: Ledger, store: Store) -> anyhow::Result<Self> {
        let webhooks = Webhooks {
            store: store.clone(),
            sealer: Sealer::with(&config.sealing_keys, &config.secret_key),
            connector: connect::Connector::new(Allowed::new(config.webhook_allow.clone()))?,
            schedule: config.webhook_schedule.clone(),
            disable_after: config.webhook_disable_after,
            within: WITHIN,
        };
        let mails = match &config.smtp_url {
            Some(url) => {
                let links = Links { sealer: Sealer::new(&config.secret_key), console_url: config.public_url.clone() };
                let schedule = config.webhook_schedule.clone();
                Some(Arc::new(Mails::new(store.clone(), url, &config.mail_from, links, schedule, WITHIN)?))
            }
            None => None,
        };
        Ok(Self::of(ledger, store, webhooks, mails))
    }

    /// Of these parts.
    #[must_use]
    pub fn of(ledger: Ledger, store: Store, webhooks: Webhooks, mails: Option<Arc<Mails>>) -> Self {
        Self { ledger, store, webhooks: Arc::new(webhooks), mails }
    }

    /// Runs until `stop`, then waits a little for attempts that are running.
    pub async fn run(self, stop: CancellationToken) {
        let (mut running, mut sending) = (Running::default(), Sending::default());
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    report("hand on", fan_out::pass(&self.ledger, &self.store, self.mails.is_some()).await);
                    report("outbox lag", self.lag().await);
                }
                // Its endpoint may be asked for more.
                () = running.ended() => {}
                () = sending.ended() => {}
                () = stop.cancelled() => break,
            }
            report("webhooks", running.pass(&self.webhooks).await);
            if let Some(mails) = &self.mails {
                report("mail", sending.pass(mails).await);
            }
        }
        let ends = async {
            loop {
                tokio::select! {
                    () = running.ended() => {}
                    () = sending.ended() => {}
                }
            }
        };
        // What is cut off is due again when its lease is over.
        let _ = tokio::time::timeout(END_WITHIN, ends).await;
    }

    async fn lag(&self) -> anyhow::Result<()> {
        let mut connection = self.store.acquire().await?;
        let ms = store::outbox::lag_ms(&mut connection).await?;
        gauge!("tollgate_outbox_lag_seconds").set(Duration::from_millis(ms.unsigned_abs()).as_secs_f64());
        Ok(())
    }
}

fn report<T>(what: &'static str, outcome: anyhow::Result<T>) {
    if let Err(error) = outcome {
        warn!(what, error = format!("{error:#}"), "a pass of the delivery failed");
    }
}

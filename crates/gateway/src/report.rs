//! What this gateway tells the others through Postgres: that it serves, how targets fare, whom it refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use store::usage::Refusal;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::app::App;

/// Between two reports.
const EVERY: Duration = Duration::from_secs(2);
/// Postgres has to answer within this.
const WITHIN: Duration = Duration::from_secs(5);
/// Kinds of refusals that are counted apart; further ones are not counted until a report has made room.
const MOST: usize = 10_000;

/// Requests that were not admitted since the last report.
#[derive(Debug, Default)]
pub struct Refused(Mutex<BTreeMap<Refusal, i64>>);

impl Refused {
    /// Counts one.
    pub fn count(&self, refusal: Refusal) {
        let mut counts = self.0.lock();
        if counts.len() < MOST || counts.contains_key(&refusal) {
            *counts.entry(refusal).or_default() += 1;
        }
    }

    /// Takes what was counted.
    fn take(&self) -> BTreeMap<Refusal, i64> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Puts back what could not be written.
    fn put_back(&self, refusal: Refusal, requests: i64) {
        *self.0.lock().entry(refusal).or_default() += requests;
    }
}

/// Reports every two seconds until the gateway stops; then once more, and leaves.
pub async fn run(app: Arc<App>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_over = tokio::select! {
            _ = ticks.tick() => false,
            () = app.stopped.cancelled() => true,
        };
        match tokio::time::timeout(WITHIN, report(&app, is_over)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the report was not written"),
            Err(_) => tracing::debug!("the report was not written in time"),
        }
        if is_over {
            return;
        }
    }
}

async fn report(app: &App, is_last: bool) -> Result<(), store::Error> {
    let mut connection = app.store.acquire().await?;
    if is_last {
        store::reports::leave(&mut connection, &app.gateway_id).await?;
    } else {
        let (version, health) = (env!("CARGO_PKG_VERSION"), health(app));
        store::reports::report(&mut connection, &app.gateway_id, "gateway", version, &health).await?;
    }
    let mut counts = app.refused.take().into_iter();
    while let Some((refusal, requests)) = counts.next() {
        if let Err(error) = store::usage::refuse(&mut connection, &refusal, requests).await {
            app.refused.put_back(refusal, requests);
            counts.for_each(|(refusal, requests)| app.refused.put_back(refusal, requests));
            return Err(error);
        }
    }
    Ok(())
}

/// Targets, the upstreams that they belong to, and parked upstreams, each with the instant until which it is tried last.
fn health(app: &App) -> Value {
    let ill = app.health.ill(Instant::now());
    let until = |left: Duration| {
        let at = Timestamp::now().checked_add(left).unwrap_or(Timestamp::MAX);
        Value::from(at.to_string())
    };
    let mut ejected = Map::new();
    for target in app.catalog.snapshot().models().into_iter().flat_map(|model| &model.targets) {
        if let Some((_, left)) = ill.targets.iter().find(|(id, _)| *id == target.id) {
            ejected.insert(target.upstream.id.to_string(), until(*left));
        }
    }
    let targets: Map<_, _> = ill.targets.iter().map(|(id, left)| (id.to_string(), until(*left))).collect();
    let parked: Map<_, _> = ill.upstreams.iter().map(|(id, left)| (id.to_string(), until(*left))).collect();
    json!({ "targets": targets, "ejected": ejected, "parked": parked })
}

//! Keeps keys and catalog true: listens to Postgres, and reads the catalog every few seconds all the same.

use std::sync::Arc;
use std::time::Duration;

use store::Store;
use store::changes::{Change, Changes};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::keys::KeyCache;

/// Pause before listening again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// Postgres has to answer within this.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// Changes come in bursts: the catalog is read once for those within this time.
const GATHER: Duration = Duration::from_millis(50);

/// Passes on what Postgres tells, until `stop`.
pub async fn listen(store: Store, keys: Arc<KeyCache>, catalog_changed: Arc<Notify>, stop: CancellationToken) {
    let told = |change: Change| {
        keys.changed(change);
        if matches!(change, Change::Catalog | Change::Anything) {
            catalog_changed.notify_one();
        }
    };
    while !stop.is_cancelled() {
        match Changes::listen(&store).await {
            Ok(mut changes) => {
                told(Change::Anything);
                loop {
                    let next = tokio::select! {
                        () = stop.cancelled() => return,
                        next = changes.next() => next,
                    };
                    match next {
                        Ok(change) => told(change),
                        Err(error) => {
                            tracing::warn!(%error, "notifications of changes are lost; listening again");
                            break;
                        }
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "can't listen to changes; trying again"),
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(LISTEN_AGAIN) => {}
        }
    }
}

/// Reads the catalog when told and every `every`, until `stop`.
pub async fn refresh(catalog: Arc<Catalog>, catalog_changed: Arc<Notify>, every: Duration, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = catalog_changed.notified() => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(every) => {}
        }
        let read = tokio::time::timeout(READ_WITHIN, catalog.refresh()).await.unwrap_or(Err(store::Error::Silent));
        if let Err(error) = read {
            tracing::warn!(%error, "the catalog could not be read; the last one is served on");
        }
    }
}

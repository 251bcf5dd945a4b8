//! Removes what is older than the platform's settings keep, a batch at a time: records of requests, events with their
//! deliveries, snapshots. Settlements, allocations, sums of usage and the audit log are never touched.

use store::Store;

/// Rows of one batch: short enough for the statement's time-out, and to let others in between.
const BATCH: i32 = 5_000;
/// Batches of one pass at most; the next pass goes on.
const BATCHES: usize = 200;

/// What one pass removed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// Usage records.
    pub usage_records: u64,
    /// Events.
    pub events: u64,
    /// Accounts as comparisons saw them.
    pub snapshots: u64,
}

/// One pass.
///
/// # Errors
/// Postgres gave no answer; what was removed stays removed.
pub async fn pass(store: &Store) -> anyhow::Result<Removed> {
    let mut connection = store.acquire().await?;
    let settings = store::platform::settings(&mut connection).await?;
    let mut removed = Removed::default();
    if let Some(days) = settings.keep_usage_records_days {
        for _ in 0..BATCHES {
            let batch = store::platform::remove_usage_records(&mut connection, days, i64::from(BATCH)).await?;
            removed.usage_records += batch;
            if batch < u64::try_from(BATCH)? {
                break;
            }
        }
    }
    if let Some(days) = settings.keep_events_days {
        for _ in 0..BATCHES {
            let batch = u64::try_from(store::platform::remove_events(&mut connection, days, BATCH).await?)?;
            removed.events += batch;
            if batch < u64::try_from(BATCH)? {
                break;
            }
        }
    }
    if let Some(days) = settings.keep_snapshots_days {
        for _ in 0..BATCHES {
            let batch = store::snapshots::remove_old(&mut connection, days, i64::from(BATCH)).await?;
            removed.snapshots += batch;
            if batch < u64::try_from(BATCH)? {
                break;
            }
        }
    }
    Ok(removed)
}

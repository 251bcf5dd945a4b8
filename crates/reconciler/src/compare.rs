//! The hourly comparison, a slice per turn of the loop: healing never waits for it.

use std::time::Duration;

use domain::{ReconciliationId, TenantId};
use ledger::Ledger;
use metrics::{counter, gauge};
use quota::reconcile::{self, Tenant};
use store::Store;
use store::comparisons::{self, Counts};
use tokio::time::Instant;
use tracing::{info, warn};

/// How long one turn may take, and the page that it ends with.
const SLICE: Duration = Duration::from_millis(200);
/// How often is looked whether one is due, and how long after a failure the next begins.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Where the comparison stands.
#[derive(Debug)]
pub struct Comparer {
    every: Duration,
    /// When to look whether the next one is due.
    look_at: Instant,
    /// It is not before, even if the last one failed to compare a tenant.
    not_before: Instant,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    id: ReconciliationId,
    present: Option<Tenant>,
    /// Tenants that are left, the next one last.
    left: Vec<TenantId>,
    counts: Counts,
    failed: u64,
}

impl Comparer {
    /// Compares when `every` has passed since the last whole comparison of any reconciler; at once where there was none.
    #[must_use]
    pub fn new(every: Duration) -> Self {
        Self { every, look_at: Instant::now(), not_before: Instant::now(), running: None }
    }

    /// One turn. Returns the counts of a comparison that has ended in it.
    ///
    /// # Errors
    /// Redis or Postgres is away: the comparison ends there, noted as failed, and the next one begins within a minute. A
    /// tenant that can't be compared for reasons of its own is left for the next one.
    pub async fn pass(&mut self, ledger: &Ledger, store: &Store) -> anyhow::Result<Option<Counts>> {
        let end = Instant::now() + SLICE;
        let mut running = match self.running.take() {
            Some(running) => running,
            None if self.look_at > Instant::now() => return Ok(None),
            None => {
                self.look_at = Instant::now() + self.every.min(LOOK_EVERY);
                let mut connection = store.acquire().await?;
                show(&mut connection).await?;
                let last = comparisons::last_ms(&mut connection).await?;
                let is_recent = last.is_some_and(|ms| u128::try_from(ms).is_ok_and(|ms| ms < self.every.as_millis()));
                if is_recent || self.not_before > Instant::now() {
                    return Ok(None);
                }
                begin(&mut connection).await?
            }
        };
        while Instant::now() < end {
            match running.next(ledger, store).await {
                Ok(true) => {}
                Ok(false) => {
                    self.not_before = Instant::now() + self.every;
                    return Ok(Some(running.end(store).await?));
                }
                Err(error) => {
                    running.failed += 1;
                    running.end(store).await?;
                    return Err(error.into());
                }
            }
        }
        self.running = Some(running);
        Ok(None)
    }
}

async fn begin(connection: &mut store::PgConnection) -> anyhow::Result<Running> {
    let mut left = store::scopes::tenants(connection).await?;
    left.reverse();
    let id = comparisons::begin(connection, None, false, "reconciler").await?;
    Ok(Running { id, present: None, left, counts: Counts::default(), failed: 0 })
}

impl Running {
    /// Compares the next page. False: there is none left.
    async fn next(&mut self, ledger: &Ledger, store: &Store) -> Result<bool, quota::Unavailable> {
        let present = match self.present.take().or_else(|| self.left.pop().map(|id| Tenant::new(id, false))) {
            Some(present) => self.present.insert(present),
            None => return Ok(false),
        };
        match present.next(ledger, store).await {
            Ok(Some(counts)) => self.counts += counts,
            Ok(None) => self.present = None,
            Err(error) if reconcile::is_away(&error) => return Err(error),
            Err(error) => {
                warn!(tenant = %present.id(), error = %chain(&error), "a tenant could not be compared");
                (self.present, self.failed) = (None, self.failed + 1);
            }
        }
        Ok(true)
    }

    async fn end(self, store: &Store) -> anyhow::Result<Counts> {
        let Self { id, counts, failed, .. } = self;
        let mut connection = store.acquire().await?;
        store::alerts::close_of_closed_tenants(&mut connection).await?;
        comparisons::end(&mut connection, id, counts, failed == 0).await?;
        let Counts { accounts, differences, repaired, alerts } = counts;
        info!(accounts, differences, repaired, alerts, failed, "both copies were compared");
        let number = |count: i64| u64::try_from(count).unwrap_or_default();
        counter!("tollgate_compared_accounts_total").increment(number(accounts));
        counter!("tollgate_compare_differences_total").increment(number(differences));
        counter!("tollgate_compare_repairs_total").increment(number(repaired));
        counter!("tollgate_compare_failures_total").increment(failed);
        show(&mut connection).await?;
        Ok(counts)
    }
}

/// How many alerts are open, whoever compared.
async fn show(connection: &mut store::PgConnection) -> anyhow::Result<()> {
    let open = store::alerts::open(connection).await?;
    for (grade, count) in ["urgent", "warning", "hint"].into_iter().zip(open) {
        gauge!("tollgate_alerts_open", "grade" => grade).set(f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    }
    Ok(())
}

/// An error with its causes.
fn chain(error: &quota::Unavailable) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

//! Hands events on: each gets its place in the feed, and a delivery for whoever wants it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use domain::{Amount, Home, Scope, TenantId};
use ledger::Ledger;
use serde_json::Value;
use store::outbox::Waiting;
use store::{PgConnection, Store};

use super::payload::{self, Facts, render};

/// Events in one pass at most.
const LIMIT: i64 = 200;
/// How long Redis is waited for before what is in flight is left out.
const WITHIN: Duration = Duration::from_millis(500);

/// One pass. Returns how many events were handed on. `mail`: whether mail can be sent.
///
/// # Errors
/// Postgres gave no answer; what waits stays.
pub async fn pass(ledger: &Ledger, store: &Store, mail: bool) -> anyhow::Result<usize> {
    let mut connection = store.acquire().await?;
    let waiting = store::outbox::waiting(&mut connection, LIMIT).await?;
    if waiting.is_empty() {
        return Ok(0);
    }
    let facts = facts(&mut connection, ledger, &waiting).await?;
    let days = days(&mut connection, &waiting).await?;
    drop(connection);
    let ids: Vec<i64> = waiting.iter().map(|event| event.id).collect();
    let payload = |event: &Waiting| {
        let mut payload = render(event, of(&facts, event));
        if let Some(day) = days.get(&event.id) {
            payload["last_24_h"] = day.clone();
        }
        payload
    };
    let payloads: Vec<_> = waiting.iter().map(payload).collect();
    let mut transaction = store.begin().await?;
    let published = store::outbox::publish(&mut transaction, &ids, &payloads).await?;
    store::webhook_deliveries::fan_out(&mut transaction, &published).await?;
    if mail {
        store::mail_deliveries::fan_out(&mut transaction, &published).await?;
    }
    transaction.commit().await?;
    Ok(published.len())
}

/// Calls and charge by the hour, for events of overdrafts that are used up. Read here, not where the event is decided: that
/// is under the account's lock.
async fn days(connection: &mut PgConnection, waiting: &[Waiting]) -> anyhow::Result<HashMap<i64, Value>> {
    let mut days = HashMap::new();
    for event in waiting.iter().filter(|event| event.kind == "overdraft.exhausted") {
        let Some(tenant) = event.tenant_id else { continue };
        let hours = store::hours::last_day(connection, tenant, event.at).await?;
        days.insert(event.id, payload::hours(event, &hours));
    }
    Ok(days)
}

fn scope_of(event: &Waiting) -> Option<Scope> {
    event.scope.as_deref()?.parse().ok()
}

fn of<'a>(facts: &'a HashMap<Scope, Facts>, event: &Waiting) -> Option<&'a Facts> {
    facts.get(&scope_of(event)?)
}

/// What is known of the accounts that the events are about. While Redis is away, nothing is in flight as far as is known.
async fn facts(
    connection: &mut PgConnection,
    ledger: &Ledger,
    waiting: &[Waiting],
) -> anyhow::Result<HashMap<Scope, Facts>> {
    let scopes: Vec<Scope> = waiting.iter().filter_map(scope_of).collect();
    let refunded: HashMap<Scope, Amount> = store::refunds::read(connection, &scopes).await?.into_iter().collect();
    let mut facts: HashMap<Scope, Facts> = HashMap::new();
    for snapshot in store::accounts::snapshots(connection, &scopes).await? {
        let refunded = refunded.get(&snapshot.scope).copied().unwrap_or_default();
        facts.insert(snapshot.scope.clone(), Facts { snapshot, refunded, frozen: Amount::ZERO });
    }
    let mut homes: HashMap<TenantId, Home> = HashMap::new();
    for tenant in waiting.iter().filter_map(|event| event.tenant_id) {
        if let Entry::Vacant(vacant) = homes.entry(tenant) {
            vacant.insert(store::pools::home(connection, tenant).await?);
        }
    }
    let in_flight = async {
        for event in waiting {
            let (Some(tenant), Some(scope)) = (event.tenant_id, scope_of(event)) else { continue };
            let home = homes.get(&tenant).copied().unwrap_or(Home::Tenant(tenant));
            let held = ledger.read(home, std::slice::from_ref(&scope)).await?;
            let numbers = held.into_iter().next().and_then(|held| held.numbers);
            if let (Some(numbers), Some(facts)) = (numbers, facts.get_mut(&scope)) {
                facts.frozen = numbers.frozen;
            }
        }
        Ok::<_, ledger::LedgerError>(())
    };
    match tokio::time::timeout(WITHIN, in_flight).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "events are handed on without what is in flight"),
        Err(_) => tracing::warn!("events are handed on without what is in flight: Redis is slow"),
    }
    Ok(facts)
}

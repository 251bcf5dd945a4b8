//! What the numbers of a page say, and who is told of it.

use std::collections::HashMap;

use domain::alerts::{AlertKind, Consumption, Facts, Finding, judge};
use domain::books::Verdict;
use domain::period::{Zone, is_present};
use domain::{Amount, Multiplier, Numbers, Scope, TenantId, Unit};
use jiff::Timestamp;
use ledger::AccountState;
use serde_json::{Value, json};
use store::PgConnection;
use store::alerts::Found;
use store::comparisons;
use store::outbox::NewEvent;

use crate::Unavailable;
use crate::books::{Book, Books};

/// What a tenant's accounts are judged by.
#[derive(Debug)]
pub(super) struct Known {
    facts: comparisons::Facts,
    /// Debt that a settle may leave.
    tolerated: Amount,
    /// Accounts that do not add up, with what is wrong.
    pub(super) wrong: Vec<(Scope, String)>,
}

impl Known {
    pub(super) async fn read(connection: &mut PgConnection, tenant: TenantId) -> Result<Self, Unavailable> {
        let wrong = store::sums::wrong(connection, tenant).await?;
        let facts = comparisons::facts(connection, tenant).await?;
        let largest = comparisons::largest_freeze(connection, tenant).await?;
        let tolerated = part(largest, facts.settle_tolerance);
        Ok(Self { facts, tolerated, wrong })
    }
}

/// Everything that is found of a page's accounts.
pub(super) async fn all(
    connection: &mut PgConnection,
    books: &Books,
    known: &Known,
) -> Result<Vec<Found>, Unavailable> {
    let scopes: Vec<Scope> = books.accounts.iter().map(|book| book.scope.clone()).collect();
    let refunded: HashMap<Scope, Amount> = store::refunds::read(connection, &scopes).await?.into_iter().collect();
    let mut found = Vec::new();
    for book in &books.accounts {
        let refunded = refunded.get(&book.scope).copied().unwrap_or_default();
        found.extend(of_account(book, books, known, refunded)?);
    }
    Ok(found)
}

/// That part of an amount, rounded down.
fn part(amount: Amount, factor: Multiplier) -> Amount {
    let units = i128::from(amount.units()) * i128::from(factor.steps()) / i128::from(Multiplier::ONE.steps());
    i64::try_from(units).ok().and_then(|units| Amount::new(units).ok()).unwrap_or(Amount::MAX)
}

fn of_account(book: &Book, books: &Books, known: &Known, refunded: Amount) -> Result<Vec<Found>, Unavailable> {
    let of = &known.facts;
    let wrong = known.wrong.iter().find(|(scope, _)| *scope == book.scope).map(|(_, detail)| detail.as_str());
    let is_tenant = matches!(book.scope, Scope::Tenant(_));
    let consumption = Consumption {
        last_hour: of.last_hour,
        day_before: of.day_before,
        same_hour: of.same_hour,
        week: Some(of.week).filter(|_| of.is_week_old),
    };
    let numbers = numbers(book);
    let facts = Facts {
        numbers: &numbers,
        excused: excused(book, books, numbers.version),
        tolerated: known.tolerated,
        verdict: book.verdict,
        wrong_sum: wrong,
        thresholds: &of.thresholds,
        is_over: is_over(&book.scope, of)?,
        consumption: Some(consumption).filter(|_| is_tenant),
        plan: of.plan.filter(|_| is_tenant),
        unit: if of.unit == Unit::Token.as_str() { Unit::Token } else { Unit::Credit },
    };
    let trend = facts.consumption.map(trend);
    let written = json!({
        "total": numbers.total.map(|total| total.to_string()),
        "used": numbers.used.to_string(),
        "frozen": numbers.frozen.to_string(),
        "credit_limit": numbers.credit_limit.to_string(),
        "limit": numbers.limit.map(|limit| limit.to_string()),
        "refunded": refunded.to_string(),
        "valid_until_ms": numbers.valid_until_ms,
        "version": numbers.version,
    });
    let found = |Finding { kind, remedy }| Found {
        scope: book.scope.clone(),
        grade: kind.grade().as_str(),
        kind: kind.as_str(),
        numbers: written.clone(),
        trend: trend.clone(),
        remedy,
    };
    Ok(judge(&facts).into_iter().map(found).collect())
}

/// The four numbers as one reading. Postgres counts as spent what Redis counts as frozen until its confirm: where Redis' copy
/// decides it alone is one; where it is not sound or decides nothing, what is in flight is left out rather than counted twice.
fn numbers(book: &Book) -> Numbers {
    match (book.verdict, &book.copy) {
        (Verdict::Equal | Verdict::Behind, Some(copy)) if book.state == AccountState::Trusted => copy.clone(),
        (Verdict::Different, _) => Numbers::of(&book.truth, book.frozen),
        _ => Numbers::of(&book.truth, Amount::ZERO),
    }
}

/// Requests frozen before grants ended count against what was left of those, as in the ledger's own decision.
fn excused(book: &Book, books: &Books, version: i64) -> Amount {
    if version < book.truth.lapse_version {
        return Amount::ZERO;
    }
    let old = books
        .freezes
        .iter()
        .filter(|found| found.entry.scopes.contains(&book.scope) && found.entry.version < book.truth.lapse_version);
    let old = old.fold(Amount::ZERO, |sum, found| sum.saturating_add(found.entry.amount));
    old.min(book.truth.lapsed)
}

/// Whether nothing is spent there any more.
fn is_over(scope: &Scope, of: &comparisons::Facts) -> Result<bool, Unavailable> {
    let (id, label) = match scope {
        Scope::Tenant(_) => return Ok(false),
        // Neither has a limit of the tenant's own.
        Scope::Member(..) | Scope::Pool(..) => return Ok(true),
        Scope::Project(id, label) => (id.uuid(), label),
        Scope::Key(id, label) => (id.uuid(), label),
    };
    let corrupt = |why: String| Unavailable::Store(store::Error::corrupt("tenants.time_zone", why));
    let zone = Zone::parse(&of.time_zone).map_err(|why| corrupt(why.to_string()))?;
    let now = Timestamp::from_millisecond(of.now_ms).map_err(|why| corrupt(why.to_string()))?;
    Ok(of.inactive.contains(&id) || !is_present(label, &zone, now))
}

fn trend(of: Consumption) -> Value {
    json!({
        "last_hour": of.last_hour.to_string(),
        "day_before": of.day_before.to_string(),
        "same_hour_before": of.same_hour.to_string(),
        "week": of.week.map(|week| week.to_string()),
    })
}

/// Consumption that has become unusual is told, once per opening.
pub(super) async fn tell(
    transaction: &mut store::Transaction,
    tenant: TenantId,
    found: &[Found],
    new: &[(String, String)],
) -> Result<(), Unavailable> {
    let told = AlertKind::UnusualConsumption.as_str();
    for of in found.iter().filter(|found| found.kind == told) {
        let is_new = new.iter().any(|(scope, kind)| *scope == of.scope.to_string() && kind == told);
        let Some(trend) = of.trend.as_ref().filter(|_| is_new) else { continue };
        let data = json!({
            "tenant_id": tenant,
            "scope": { "kind": "tenant", "id": tenant, "period": null },
            "total": of.numbers["total"], "used": of.numbers["used"], "version": of.numbers["version"],
            "last_hour": trend["last_hour"], "day_before": trend["day_before"], "same_hour_before": trend["same_hour_before"],
        });
        let event =
            NewEvent { kind: "usage.anomaly", tenant_id: Some(tenant), webhook_id: None, scope: Some(&of.scope), data };
        store::outbox::append(transaction, &event).await?;
    }
    Ok(())
}

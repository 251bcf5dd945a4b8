//! The two copies of a tenant's accounts, its running freezes, and what an operator may do about them.

pub mod freezes;
pub mod read;
pub mod rebuild;
pub mod roll_back;

use std::collections::HashMap;
use std::time::Duration;

use api_types::live::{Difference, FreezeState, Live, LiveFreeze, LiveScope};
use api_types::{Decimal, Timestamp};
use domain::books::Verdict;
use domain::{Amount, Numbers, Scope, Status, TenantId, Unit};
use quota::books::{Book, Books};
use quota::{Found, Unavailable};
use store::PgConnection;
use time::OffsetDateTime;

use crate::app::App;
use crate::error::{Error, Result};
use crate::numbers;

/// Accounts shown at most.
const SCOPES: i64 = 200;
/// How long both copies may take to answer.
const WITHIN: Duration = Duration::from_secs(5);

/// Reads both copies.
///
/// # Errors
/// 503 where Redis does not answer: then there is nothing to compare.
pub async fn books(app: &App, conn: &mut PgConnection, tenant: TenantId) -> Result<Books> {
    let scopes = store::scopes::of_tenant(conn, tenant, SCOPES).await?;
    answered(app.quota().books(tenant, &scopes)).await
}

/// Waits for the quota; a Redis or Postgres that gives no answer is 503.
///
/// # Errors
/// 503 `unavailable`.
pub async fn answered<T>(asked: impl Future<Output = Result<T, Unavailable>>) -> Result<T> {
    match tokio::time::timeout(WITHIN, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Unavailable::Store(cause))) => Err(cause.into()),
        Ok(Err(cause)) => {
            tracing::warn!(%cause, "the ledger did not answer");
            Err(Error::unavailable("Redis does not answer: try again when it is back"))
        }
        Err(_) => Err(Error::unavailable("Redis does not answer in time: try again")),
    }
}

/// The reply.
///
/// # Errors
/// Those of the store.
pub async fn view(conn: &mut PgConnection, unit: Unit, books: &Books) -> Result<Live> {
    let scopes: Vec<Scope> = books.accounts.iter().map(|book| book.scope.clone()).collect();
    let refunded: HashMap<Scope, Amount> = store::refunds::read(conn, &scopes).await?.into_iter().collect();
    let now = OffsetDateTime::now_utc();
    let scope = |book: &Book| {
        let refunded = refunded.get(&book.scope).copied().unwrap_or_default();
        let truth = Numbers::of(&book.truth, book.frozen);
        LiveScope {
            scope: book.scope.to_string(),
            redis: book.copy.as_ref().map(|copy| numbers::shown(unit, now, copy, refunded)),
            postgres: numbers::shown(unit, now, &truth, refunded),
            difference: difference(book.verdict),
            halted: book.truth.status == Status::Halted,
        }
    };
    let mut scopes: Vec<LiveScope> = books.accounts.iter().map(scope).collect();
    scopes.sort_by_key(|scope| !scope.scope.starts_with("t_"));
    let freezes = u64::try_from(books.freezes.len()).map_err(Error::internal)?;
    Ok(Live { scopes, freezes, settled: books.settled })
}

const fn difference(verdict: Verdict) -> Difference {
    match verdict {
        Verdict::Equal => Difference::Equal,
        Verdict::Absent => Difference::Absent,
        Verdict::Behind => Difference::Behind,
        Verdict::Ahead => Difference::Ahead,
        Verdict::Different => Difference::Different,
        Verdict::FrozenDiffers => Difference::FrozenDiffers,
    }
}

/// One freeze in the reply.
///
/// # Errors
/// 500 for an instant out of range.
pub fn freeze(found: &Found, unit: Unit, now_ms: i64) -> Result<LiveFreeze> {
    let entry = &found.entry;
    let key_id = entry.scopes.iter().find_map(|scope| match scope {
        Scope::Key(id, _) => Some(*id),
        _ => None,
    });
    let created = OffsetDateTime::from_unix_timestamp_nanos(i128::from(entry.created_ms) * 1_000_000);
    Ok(LiveFreeze {
        request_id: entry.request_id,
        key_id,
        model: entry.model.clone(),
        amount: Decimal::of(entry.amount, unit),
        progress: Decimal::of(entry.progress, unit),
        state: match entry.state {
            domain::FreezeState::Active => FreezeState::Active,
            domain::FreezeState::Settled => FreezeState::Settled,
        },
        created_at: Timestamp::from(created.map_err(Error::internal)?),
        beat_age_ms: (now_ms - found.beat_ms).max(0),
        gateway: entry.gateway.clone(),
    })
}

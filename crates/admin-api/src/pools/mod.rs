//! Shared pools.

pub mod change;
pub mod create;
pub mod list;
pub mod place;
pub mod read;
pub mod remove_member;
pub mod set_member;

use api_types::Decimal;
use api_types::pool::{Pool, PoolBudget, PoolMember};
use domain::period::{Cycle, PeriodKind, Zone};
use domain::pool::{WEIGHT_MAX, guarantee};
use domain::{Amount, Home, LimitSet, PeriodLabel, Scope, TenantId};
use jiff::Timestamp;
use store::PgConnection;
use store::pools::Member;

use crate::app::App;
use crate::error::{Error, Result};
use crate::numbers::{self, unit_of};
use crate::scopes::Present;
use crate::validate::Fields;

/// The pool's account at this instant.
///
/// # Errors
/// 500 where the stored zone or period is not understood.
fn present(pool: &store::pools::Pool) -> Result<Present> {
    let (label, resets_at) = match pool.period.as_deref() {
        None => (PeriodLabel::none(), None),
        Some(period) => {
            let zone = Zone::parse(&pool.time_zone).map_err(Error::internal)?;
            let kind = PeriodKind::parse(period).ok_or_else(|| Error::internal("a pool's period that is not known"))?;
            let period = Cycle::new(kind, None).map_err(Error::internal)?.current(&zone, Timestamp::now());
            let end = time::OffsetDateTime::from_unix_timestamp_nanos(period.end.as_nanosecond());
            (period.label, Some(end.map_err(Error::internal)?))
        }
    };
    let scope = Scope::Pool(pool.id, label);
    Ok(Present { scope, budget: Some(pool.budget), resets_at, limits: LimitSet::default() })
}

/// The scopes of a member and of its pool at this instant.
///
/// # Errors
/// 500 where the stored zone or period is not understood.
pub fn scopes(pool: &store::pools::Pool, member: TenantId) -> Result<[Scope; 2]> {
    let present = present(pool)?;
    Ok([Scope::Member(pool.id, member, label(&present)), present.scope])
}

fn label(present: &Present) -> PeriodLabel {
    present.scope.period().cloned().unwrap_or_else(PeriodLabel::none)
}

/// A pool with the numbers of its present period, and with its members where these are given.
///
/// # Errors
/// Those of the store.
async fn view(
    app: &App,
    conn: &mut PgConnection,
    pool: store::pools::Pool,
    members: Option<Vec<Member>>,
) -> Result<Pool> {
    let (unit, of_pool) = (unit_of(&pool.unit)?, present(&pool)?);
    let label = label(&of_pool);
    let mut presents = vec![of_pool];
    presents.extend(members.iter().flatten().map(|member| Present {
        scope: Scope::Member(pool.id, member.tenant_id, label.clone()),
        budget: None,
        resets_at: None,
        limits: LimitSet::default(),
    }));
    let mut found = numbers::of_home(app, conn, unit, Home::Pool(pool.id), presents).await?.into_iter();
    let quota = found.next().ok_or_else(|| Error::internal("no numbers of a pool"))?;
    let total = quota.total.as_ref().and_then(|text| text.amount(unit).ok()).unwrap_or(pool.budget);
    let weights = members.iter().flatten().map(|member| u64::from(member.weight)).sum();
    let shown = |(member, numbers): (Member, api_types::Numbers)| {
        let guaranteed = guarantee(total, pool.guaranteed_percent, member.weight, weights);
        let amount = |text: &Decimal| text.amount(unit).unwrap_or_default();
        let taken = amount(&numbers.used).saturating_add(amount(&numbers.frozen));
        let borrowed = taken.checked_sub(guaranteed).unwrap_or_default().max(Amount::ZERO);
        PoolMember {
            tenant_id: member.tenant_id,
            name: member.name,
            weight: member.weight,
            guaranteed: Decimal::of(guaranteed, unit),
            used: numbers.used,
            frozen: numbers.frozen,
            borrowed: Decimal::of(borrowed, unit),
            joined_at: member.joined_at.into(),
        }
    };
    let period = pool.period.as_deref().map(str::parse).transpose();
    Ok(Pool {
        id: pool.id,
        name: pool.name,
        unit,
        guaranteed_percent: pool.guaranteed_percent,
        budget: PoolBudget {
            amount: Decimal::of(pool.budget, unit),
            period: period.map_err(|_| Error::internal("a period that this version does not know"))?,
        },
        time_zone: pool.time_zone,
        members: members.map(|members| members.into_iter().zip(found).map(shown).collect()),
        quota,
        created_at: pool.created_at.into(),
        version: pool.version,
        in_force: None,
    })
}

/// Refuses a weight that may not be set.
pub(crate) fn check_weight(fields: &mut Fields, name: &str, weight: u32) {
    fields.range(name, weight, 1, WEIGHT_MAX);
}

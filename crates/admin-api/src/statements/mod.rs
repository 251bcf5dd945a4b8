//! Statements: a tenant's periods, each adding up to its settlements.

pub mod list;
pub mod read;

use api_types::Decimal;
use api_types::statement::{Statement, StatementLine};
use domain::period::{Cycle, Period, PeriodKind, Zone};
use domain::{KeyId, ProjectId, Unit};
use jiff::{SignedDuration, Timestamp};
use store::statements::{Line, Sums};
use store::tenants::Tenant;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::{Error, Result};
use crate::numbers::unit;
use crate::usage::{instant, offset};

/// A transaction that began before a period's end may still commit for so long: Postgres ends it then.
const COMMITS_WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// A tenant's calendar.
pub struct Calendar {
    cycle: Cycle,
    zone: Zone,
    /// The period in which the tenant was created.
    first: Period,
    now: Timestamp,
}

impl Calendar {
    /// The calendar as it is now.
    ///
    /// # Errors
    /// 500 where the stored zone or period is not understood.
    pub fn of(tenant: &Tenant) -> Result<Self> {
        let zone = Zone::parse(&tenant.time_zone).map_err(Error::internal)?;
        let kind = PeriodKind::parse(&tenant.period_kind);
        let kind = kind.ok_or_else(|| Error::internal("a period that this version does not know"))?;
        let cycle = Cycle::new(kind, tenant.period_anchor).map_err(Error::internal)?;
        let first = cycle.current(&zone, instant(tenant.created_at)?);
        Ok(Self { cycle, zone, first, now: Timestamp::now() })
    }

    /// The period that an instant lies in, if the tenant existed then and it has begun.
    fn at(&self, at: Timestamp) -> Option<Period> {
        let period = self.cycle.current(&self.zone, at);
        (period.start >= self.first.start && period.start <= self.now).then_some(period)
    }

    /// The period before.
    fn before(&self, period: &Period) -> Option<Period> {
        self.at(period.start.checked_sub(SignedDuration::from_nanos(1)).ok()?)
    }

    /// The period of a label such as `m20261101`; of a month also `2026-11`, the period that begins in it.
    fn named(&self, name: &str) -> Option<Period> {
        let (wanted, date) = match name.split_once('-') {
            Some((year, month)) if year.len() == 4 && month.len() == 2 => {
                let first: jiff::civil::Date = format!("{name}-01").parse().ok()?;
                (format!("m{year}{month}"), first.last_of_month())
            }
            _ => {
                let digits = name.get(1..).filter(|digits| digits.len() == 8 && digits.is_ascii())?;
                (name.to_owned(), format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]).parse().ok()?)
            }
        };
        let noon = jiff::tz::TimeZone::UTC.to_timestamp(date.at(12, 0, 0, 0)).ok()?;
        // Noon of UTC lies in that date for most zones; in the others half a day off does.
        let near = [0, -12, 12].map(|hours| noon.saturating_add(SignedDuration::from_hours(hours)).ok());
        let mut periods = near.into_iter().flatten().filter_map(|at| self.at(at));
        periods.find(|period| period.label.as_str().starts_with(&wanted))
    }

    /// The statement of a period, from the sums before it and in it.
    fn statement(
        &self,
        tenant: &Tenant,
        period: &Period,
        opening: i128,
        of: Sums,
        beyond: Beyond,
    ) -> Result<Statement> {
        let unit = unit(tenant)?;
        let decimal = |units| Decimal::of_sum(units, unit);
        let closing = opening + of.granted - of.charged - of.ended;
        let over = (-closing - beyond.credit_limit).max(0);
        let settled = period.end.saturating_add(COMMITS_WITHIN).unwrap_or(Timestamp::MAX);
        Ok(Statement {
            tenant_id: tenant.id,
            unit,
            period: period.label.as_str().to_owned(),
            from: offset(period.start)?.into(),
            to: offset(period.end)?.into(),
            closed: self.now >= settled,
            opening: decimal(opening),
            granted: decimal(of.granted),
            charged: decimal(of.charged),
            ended: decimal(of.ended),
            closing: decimal(closing),
            overdraft: decimal(over.min(beyond.overdraft_limit)),
            settlements: of.settlements,
            lines: None,
        })
    }
}

/// What a tenant may spend beyond its total, now, in units.
#[derive(Clone, Copy)]
struct Beyond {
    credit_limit: i128,
    overdraft_limit: i128,
}

/// Statements of consecutive periods, oldest first. `lines`: the last one's, which its charge then is the sum of.
async fn statements(
    call: &mut Call<ReadUsage>,
    tenant: &Tenant,
    calendar: &Calendar,
    periods: &[Period],
    lines: Option<&[Line]>,
) -> Result<Vec<Statement>> {
    let Some(last) = periods.last() else { return Ok(Vec::new()) };
    let mut bounds = periods.iter().map(|period| offset(period.start)).collect::<Result<Vec<_>>>()?;
    bounds.push(offset(last.end)?);
    let mut sums = store::statements::sums(&mut call.tx, tenant.id, &bounds).await?;
    if let (Some(lines), Some(of)) = (lines, sums.get_mut(periods.len())) {
        let charges = lines.iter().map(|line| line.charge.parse::<i128>().map_err(Error::internal));
        of.charged = charges.sum::<Result<i128>>()?;
        of.settlements = lines.iter().map(|line| line.settlements).sum();
    }
    let beyond = beyond(call, tenant).await?;
    let (before, sums) = sums.split_first().ok_or_else(|| Error::internal("no sums"))?;
    let mut opening = before.granted - before.charged - before.ended;
    let mut statements = Vec::with_capacity(periods.len());
    for (period, of) in periods.iter().zip(sums) {
        statements.push(calendar.statement(tenant, period, opening, *of, beyond)?);
        opening += of.granted - of.charged - of.ended;
    }
    Ok(statements)
}

async fn beyond(call: &mut Call<ReadUsage>, tenant: &Tenant) -> Result<Beyond> {
    let account = store::accounts::snapshots(&mut call.tx, &[domain::Scope::Tenant(tenant.id)]).await?;
    let account = account.first().map(|snapshot| domain::Numbers::of(snapshot, domain::Amount::ZERO));
    let units = |amount: Option<domain::Amount>| i128::from(amount.unwrap_or_default().units());
    Ok(Beyond {
        credit_limit: units(account.as_ref().map(|numbers| numbers.credit_limit)),
        overdraft_limit: units(account.as_ref().map(domain::Numbers::overdraft_limit)),
    })
}

fn line(line: Line, unit: Unit) -> Result<StatementLine> {
    Ok(StatementLine {
        project_id: ProjectId::from_uuid(line.project_id),
        key_id: KeyId::from_uuid(line.key_id),
        model: line.model,
        requests: line.requests,
        tokens: line.tokens,
        charge: Decimal::of_sum(line.charge.parse().map_err(Error::internal)?, unit),
    })
}

//! `GET /snapshots`.

use api_types::alert::Snapshot;
use api_types::{Decimal, Page, Timestamp};
use domain::{Amount, TenantId};
use store::snapshots::{Filter, Kept};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::auth::Call;
use crate::auth::policy::ReadLedger;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::numbers::unit_of;
use crate::reply::Reply;

/// Which snapshots.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Of this account: `t_...`, `p_...:m20261101`, `k_...:-`.
    scope: Option<String>,
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// Taken at or after.
    from: Option<Timestamp>,
    /// Taken before.
    to: Option<Timestamp>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists accounts as the comparisons saw them, newest first.
#[utoipa::path(get, path = "/snapshots", operation_id = "list_snapshots", tag = "alerts", params(Ask),
    responses((status = 200, description = "A page of snapshots.", body = Page<Snapshot>)))]
pub async fn handler(mut call: Call<ReadLedger>, Query(ask): Query<Ask>) -> Result<Reply<Page<Snapshot>>> {
    let limit = list::limit(ask.limit)?;
    let filter = Filter {
        scope: ask.scope,
        tenant_id: ask.tenant_id,
        from: ask.from.map(Into::into),
        to: ask.to.map(Into::into),
        after: ask.cursor.as_deref().map(after).transpose()?,
        limit: i64::from(limit) + 1,
    };
    let mut rows = store::snapshots::list(&mut call.tx, &filter, &call.reach).await?;
    let next_cursor = match list::cut(&mut rows, limit) {
        Some(last) => Some(list::write(&[&last.at.format(&Rfc3339).map_err(Error::internal)?, &last.scope])),
        None => None,
    };
    Ok(Reply::ok(Page { items: rows.into_iter().map(view).collect::<Result<_>>()?, next_cursor }))
}

fn after(cursor: &str) -> Result<(OffsetDateTime, String)> {
    let [at, scope] = list::read::<2>(cursor)?;
    let wrong = |_| Error::field("cursor", "invalid", "give next_cursor of the page before");
    Ok((OffsetDateTime::parse(&at, &Rfc3339).map_err(wrong)?, scope))
}

fn view(kept: Kept) -> Result<Snapshot> {
    let unit = unit_of(&kept.unit)?;
    let decimal = |units: i64| Amount::new(units).map(|amount| Decimal::of(amount, unit)).map_err(Error::internal);
    let remaining = kept.total.map(|total| i128::from(total) - i128::from(kept.used) - i128::from(kept.frozen));
    Ok(Snapshot {
        tenant_id: TenantId::from_uuid(kept.tenant_id),
        at: kept.at.into(),
        version: kept.version,
        total: kept.total.map(decimal).transpose()?,
        used: decimal(kept.used)?,
        frozen: decimal(kept.frozen)?,
        remaining: remaining.map(|units| Decimal::of_sum(units, unit)),
        spent: Decimal::of_sum(kept.spent_sum.parse().map_err(Error::internal)?, unit),
        difference: kept.verdict.parse().map_err(|_| Error::internal("a verdict that this version does not know"))?,
        scope: kept.scope,
    })
}

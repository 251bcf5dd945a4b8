//! `GET /requests`.

use api_types::request::Request;
use api_types::{Decimal, Page, Timestamp};
use domain::{KeyId, ProjectId, RequestId, TenantId, Unit};
use store::requests::Filter;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::numbers::unit;
use crate::reply::Reply;
use crate::requests::view;

/// What a recorded request can have come to.
const OUTCOMES: [&str; 3] = ["final", "expired", "rolled_back"];

/// Which requests.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// Of this project.
    project_id: Option<ProjectId>,
    /// Of this key.
    key_id: Option<KeyId>,
    /// That asked for this model.
    model: Option<String>,
    /// `final`, `expired` or `rolled_back`.
    outcome: Option<String>,
    /// Begun at or after.
    from: Option<Timestamp>,
    /// Begun before.
    to: Option<Timestamp>,
    /// Charged at least this; in the unit of `tenant_id`, credits without one.
    min_charge: Option<Decimal>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `-created_at`: newest first, the only order.
    #[param(pattern = "^-created_at$")]
    sort: Option<String>,
}

/// Lists recorded requests, newest first.
#[utoipa::path(get, path = "/requests", operation_id = "list_requests", tag = "usage", params(Ask),
    responses((status = 200, description = "A page of requests.", body = Page<Request>)))]
pub async fn handler(mut call: Call<ReadUsage>, Query(ask): Query<Ask>) -> Result<Reply<Page<Request>>> {
    let limit = list::limit(ask.limit)?;
    if ask.sort.as_deref().is_some_and(|sort| sort != "-created_at") {
        return Err(Error::field("sort", "invalid", "requests are listed newest first: -created_at"));
    }
    let after = ask.cursor.as_deref().map(list::read_id).transpose()?.map(RequestId::from_uuid);
    let what = What {
        tenant_id: ask.tenant_id,
        project_id: ask.project_id,
        key_id: ask.key_id,
        model: ask.model,
        outcome: ask.outcome,
        from: ask.from,
        to: ask.to,
        min_charge: ask.min_charge,
    };
    let filter = filter(&mut call, what).await?;
    let mut rows = store::requests::list(&mut call.tx, &filter, &call.reach, after, i64::from(limit) + 1).await?;
    let next_cursor = list::cut(&mut rows, limit).map(|last| list::write(&[&last.id.uuid().to_string()]));
    let items = rows.into_iter().map(view).collect::<Result<_>>()?;
    Ok(Reply::ok(Page { items, next_cursor }))
}

/// Which requests, as it was asked for.
#[derive(Debug)]
pub struct What {
    pub tenant_id: Option<TenantId>,
    pub project_id: Option<ProjectId>,
    pub key_id: Option<KeyId>,
    pub model: Option<String>,
    pub outcome: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub min_charge: Option<Decimal>,
}

/// Checks what was asked for.
///
/// # Errors
/// 422 by field; 404 for a tenant beyond reach.
pub async fn filter(call: &mut Call<ReadUsage>, ask: What) -> Result<Filter> {
    if ask.outcome.as_deref().is_some_and(|outcome| !OUTCOMES.contains(&outcome)) {
        return Err(Error::field("outcome", "invalid", "must be final, expired or rolled_back"));
    }
    let unit = match ask.tenant_id {
        Some(id) => unit(&store::tenants::get(&mut call.tx, id, &call.reach).await?)?,
        None => Unit::Credit,
    };
    let min_charge = ask.min_charge.map(|text| text.amount(unit)).transpose();
    Ok(Filter {
        tenant_id: ask.tenant_id,
        project_id: ask.project_id,
        key_id: ask.key_id,
        model: ask.model,
        outcome: ask.outcome,
        from: ask.from.map(Into::into),
        to: ask.to.map(Into::into),
        min_charge: min_charge.map_err(|why| Error::field("min_charge", "invalid", why.to_string()))?,
    })
}

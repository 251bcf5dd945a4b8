//! `GET /alerts`.

use api_types::Page;
use api_types::alert::{Alert, AlertState, Grade};
use domain::TenantId;
use store::alerts::Filter;

use crate::alerts::view;
use crate::auth::Call;
use crate::auth::policy::ReadAlerts;
use crate::error::Result;
use crate::list::{self, Query};
use crate::reply::Reply;

/// Which alerts.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// `open` or `past`; both unless said otherwise.
    #[param(inline)]
    state: Option<AlertState>,
    /// `urgent`, `warning` or `hint`.
    #[param(inline)]
    grade: Option<Grade>,
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists alerts, newest first.
#[utoipa::path(get, path = "/alerts", operation_id = "list_alerts", tag = "alerts", params(Ask),
    responses((status = 200, description = "A page of alerts.", body = Page<Alert>)))]
pub async fn handler(mut call: Call<ReadAlerts>, Query(ask): Query<Ask>) -> Result<Reply<Page<Alert>>> {
    let limit = list::limit(ask.limit)?;
    if let Some(id) = ask.tenant_id {
        call.must_reach(id)?;
    }
    let filter = Filter {
        is_open: ask.state.map(|state| state == AlertState::Open),
        grade: ask.grade.map(|grade| grade.to_string()),
        tenant_id: ask.tenant_id,
        after: ask.cursor.as_deref().map(list::read_id).transpose()?,
        limit: i64::from(limit) + 1,
    };
    let mut rows = store::alerts::list(&mut call.tx, &filter, &call.reach).await?;
    let next_cursor = list::cut(&mut rows, limit).map(|last| list::write(&[&last.id.to_string()]));
    Ok(Reply::ok(Page { items: rows.into_iter().map(view).collect::<Result<_>>()?, next_cursor }))
}

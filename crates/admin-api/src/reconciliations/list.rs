//! `GET /reconciliations`.

use api_types::Page;
use api_types::alert::Reconciliation;

use crate::auth::Call;
use crate::auth::policy::ReadLedger;
use crate::error::Result;
use crate::list::{self, Query};
use crate::reconciliations::view;
use crate::reply::Reply;

/// Which part.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists comparisons of Redis and PostgreSQL, newest first: the reconciler's and those made by hand.
#[utoipa::path(get, path = "/reconciliations", operation_id = "list_reconciliations", tag = "alerts", params(Ask),
    responses((status = 200, description = "A page of comparisons.", body = Page<Reconciliation>)))]
pub async fn handler(mut call: Call<ReadLedger>, Query(ask): Query<Ask>) -> Result<Reply<Page<Reconciliation>>> {
    let limit = list::limit(ask.limit)?;
    let after = ask.cursor.as_deref().map(list::read_id).transpose()?;
    let mut rows = store::comparisons::list(&mut call.tx, after, i64::from(limit) + 1, &call.reach).await?;
    let next_cursor = list::cut(&mut rows, limit).map(|last| list::write(&[&last.id.to_string()]));
    Ok(Reply::ok(Page { items: rows.into_iter().map(view).collect::<Result<_>>()?, next_cursor }))
}

//! `GET /pools`.

use api_types::Page;
use api_types::pool::Pool;

use crate::auth::Call;
use crate::auth::policy::ManagePools;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::pools::view;
use crate::reply::Reply;

/// Lists pools with the numbers of their present period.
#[utoipa::path(get, path = "/pools", operation_id = "list_pools", tag = "pools", params(ByCreation),
    responses((status = 200, description = "A page of pools.", body = Page<Pool>)))]
pub async fn handler(mut call: Call<ManagePools>, Query(query): Query<ByCreation>) -> Result<Reply<Page<Pool>>> {
    let rows = store::pools::list(&mut call.tx, query.window()?).await?;
    let page = query.page(rows, |pool| pool.id.uuid(), Ok)?;
    let mut items = Vec::with_capacity(page.items.len());
    for pool in page.items {
        items.push(view(&call.app, &mut call.tx, pool, None).await?);
    }
    Ok(Reply::ok(Page { items, next_cursor: page.next_cursor }))
}

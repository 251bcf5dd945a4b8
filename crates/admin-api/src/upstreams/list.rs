//! `GET /upstreams`.

use api_types::Page;
use api_types::upstream::Upstream;

use crate::auth::Call;
use crate::auth::policy::ReadUpstreams;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::reply::Reply;
use crate::upstreams::health::Ill;
use crate::upstreams::view;

/// Lists upstreams, without their keys.
#[utoipa::path(get, path = "/upstreams", operation_id = "list_upstreams", tag = "upstreams", params(ByCreation),
    responses((status = 200, description = "A page of upstreams.", body = Page<Upstream>)))]
pub async fn handler(mut call: Call<ReadUpstreams>, Query(query): Query<ByCreation>) -> Result<Reply<Page<Upstream>>> {
    let rows = store::upstreams::list(&mut call.tx, query.window()?).await?;
    let ill = Ill::read(&mut call.tx).await?;
    Ok(Reply::ok(query.page(rows, |upstream| upstream.id.uuid(), |upstream| view(upstream, &ill))?))
}

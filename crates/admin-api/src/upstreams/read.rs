//! `GET /upstreams/{u}`.

use api_types::upstream::Upstream;
use domain::UpstreamId;

use crate::auth::Call;
use crate::auth::policy::ReadUpstreams;
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::upstreams::health::Ill;
use crate::upstreams::view;

/// An upstream, without its key.
#[utoipa::path(get, path = "/upstreams/{u}", operation_id = "read_upstream", tag = "upstreams",
    params(("u" = UpstreamId, Path, description = "The upstream.")),
    responses((status = 200, description = "The upstream.", body = Upstream, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ReadUpstreams>, Id(id): Id<UpstreamId>) -> Result<Reply<Upstream>> {
    let upstream = store::upstreams::get(&mut call.tx, id).await?;
    let version = upstream.version;
    let ill = Ill::read(&mut call.tx).await?;
    Ok(Reply::ok(view(upstream, &ill)?).version(version))
}

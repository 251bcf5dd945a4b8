//! `DELETE /upstreams/{u}`.

use domain::UpstreamId;
use http::StatusCode;

use crate::auth::policy::WriteUpstreams;
use crate::auth::{Audit, Call};
use crate::error::{Error, Result};
use crate::path::Id;
use crate::upstreams::health::Ill;
use crate::upstreams::view;

/// Removes an upstream that no target uses; 409 where one does.
#[utoipa::path(delete, path = "/upstreams/{u}", operation_id = "delete_upstream", tag = "upstreams",
    params(("u" = UpstreamId, Path, description = "The upstream.")), responses((status = 204, description = "Removed.")))]
pub async fn handler(mut call: Call<WriteUpstreams>, Id(id): Id<UpstreamId>) -> Result<StatusCode> {
    let before = view(store::upstreams::get(&mut call.tx, id).await?, &Ill::default())?;
    match store::upstreams::delete(&mut call.tx, id).await {
        Err(store::Error::Stale) => return Err(Error::conflict("targets use this upstream; remove them first")),
        other => other?,
    }
    call.commit(Audit::new("upstream.delete", id).before(&before)).await?;
    Ok(StatusCode::NO_CONTENT)
}

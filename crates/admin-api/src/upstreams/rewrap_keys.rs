//! `POST /upstreams/rewrap-keys`.

use api_types::platform::Rewrapped;

use crate::auth::policy::ManagePlatform;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::reply::Reply;

/// Secrets sealed anew in one call at most.
const MOST: usize = 1_000;

/// Seals providers' keys and webhooks' secrets anew that are sealed under an older key than the first of
/// `TOLLGATE_SEALING_KEYS`. Call it until `left` is 0; the older key may go then.
#[utoipa::path(post, path = "/upstreams/rewrap-keys", operation_id = "rewrap_upstream_keys", tag = "upstreams",
    responses((status = 200, description = "How many.", body = Rewrapped)))]
pub async fn handler(mut call: Call<ManagePlatform>) -> Result<Reply<Rewrapped>> {
    let app = call.app.clone();
    let (rewrapped, left) = store::rewrap::secrets(&mut call.tx, app.sealer(), MOST).await?;
    let reply = Rewrapped { rewrapped, left };
    call.commit(Audit::new("upstream.rewrap_keys", "upstreams").after(&reply)).await?;
    Ok(Reply::ok(reply))
}

//! `GET /keys/{k}`.

use api_types::key::Key;
use domain::KeyId;

use crate::auth::Call;
use crate::auth::policy::ReadKeys;
use crate::error::Result;
use crate::keys::view;
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::reply::Reply;
use crate::{limits, scopes};

/// A key, without its secret, with the numbers of its present period and the present use of its limits.
#[utoipa::path(get, path = "/keys/{k}", operation_id = "read_key", tag = "keys",
    params(("k" = KeyId, Path, description = "The key.")),
    responses((status = 200, description = "The key.", body = Key, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ReadKeys>, Id(id): Id<KeyId>) -> Result<Reply<Key>> {
    let key = store::keys::get(&mut call.tx, id, &call.reach).await?;
    let tenant = store::tenants::get(&mut call.tx, key.tenant_id, &call.reach).await?;
    let (present, unit) = (scopes::key(&tenant, &key)?, unit(&tenant)?);
    let windows = numbers::limits(&call.app, tenant.id, &present.scope).await;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let version = key.version;
    let mut view = view(key, unit, quota)?;
    view.windows = Some(windows.iter().map(|limit| limits::window(limit, unit)).collect());
    Ok(Reply::ok(view).version(version))
}

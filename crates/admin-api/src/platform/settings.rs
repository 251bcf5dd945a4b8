//! `GET /settings`.

use api_types::platform::PlatformSettings;

use crate::auth::Call;
use crate::auth::policy::ReadPlatform;
use crate::error::Result;
use crate::platform::view;
use crate::reply::Reply;

/// The settings of the whole platform.
#[utoipa::path(get, path = "/settings", operation_id = "read_settings", tag = "platform",
    responses((status = 200, description = "The settings.", body = PlatformSettings, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ReadPlatform>) -> Result<Reply<PlatformSettings>> {
    let settings = store::platform::settings(&mut call.tx).await?;
    Ok(Reply::ok(view(&settings)?).version(settings.version))
}

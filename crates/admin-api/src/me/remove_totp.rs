//! `DELETE /me/totp`.

use api_types::person::TotpCode;
use http::StatusCode;
use serde_json::json;

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call, second_factor};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::me::who;

/// Removes the second factor, by one of its codes or a recovery code.
#[utoipa::path(delete, path = "/me/totp", operation_id = "remove_totp", tag = "people", request_body = TotpCode,
    responses((status = 204, description = "Removed: signing in takes the password alone.")))]
pub async fn handler(mut call: Call<AnyPerson>, Json { value: body, .. }: Json<TotpCode>) -> Result<StatusCode> {
    let (user, _) = who(&call.caller)?;
    if !user.totp {
        return Err(Error::conflict("there is no second factor"));
    }
    if second_factor::take(&call.app, &mut call.tx, user.id, &body.code).await?.is_none() {
        return Err(second_factor::wrong_field());
    }
    store::totp::remove(&mut call.tx, user.id).await?;
    call.commit(Audit::new("totp.remove", user.id).before(&json!({ "confirmed": true }))).await?;
    Ok(StatusCode::NO_CONTENT)
}

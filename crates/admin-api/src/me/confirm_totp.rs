//! `PUT /me/totp`.

use api_types::person::{RecoveryCodes, TotpCode};
use serde_json::json;

use crate::auth::policy::AnyPerson;
use crate::auth::second_factor::{self, Proof};
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::me::who;
use crate::reply::Reply;

/// Confirms the second factor by its first code. From now on signing in takes a code; each recovery code stands in for one.
#[utoipa::path(put, path = "/me/totp", operation_id = "confirm_totp", tag = "people", request_body = TotpCode,
    responses((status = 200, description = "Recovery codes, in this reply only.", body = RecoveryCodes)))]
pub async fn handler(
    mut call: Call<AnyPerson>,
    Json { value: body, .. }: Json<TotpCode>,
) -> Result<Reply<RecoveryCodes>> {
    let (user, _) = who(&call.caller)?;
    match store::totp::get(&mut call.tx, user.id).await {
        Ok(factor) if factor.confirmed => {
            return Err(Error::conflict("the second factor is confirmed already"));
        }
        Err(store::Error::NotFound) => return Err(Error::conflict("begin a second factor first: POST /me/totp")),
        other => drop(other?),
    }
    if second_factor::take(&call.app, &mut call.tx, user.id, &body.code).await? != Some(Proof::Totp) {
        return Err(second_factor::wrong_field());
    }
    let codes = second_factor::recovery_codes();
    let hashes: Vec<Vec<u8>> = codes.iter().map(|code| second_factor::hash(&call.app, code)).collect();
    store::totp::confirm(&mut call.tx, user.id, &hashes).await?;
    let (before, after) = (json!({ "confirmed": false }), json!({ "confirmed": true }));
    call.commit(Audit::new("totp.confirm", user.id).before(&before).after(&after)).await?;
    Ok(Reply::ok(RecoveryCodes { recovery_codes: codes }))
}

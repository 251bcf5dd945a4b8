//! `POST /me/totp`.

use api_types::person::TotpSecret;
use serde_json::json;

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call, second_factor};
use crate::error::{Error, Result};
use crate::me::who;
use crate::reply::Reply;

/// Begins a second factor: put the secret into an authenticator and send its first code by `PUT`. Until then none is asked for.
#[utoipa::path(post, path = "/me/totp", operation_id = "start_totp", tag = "people",
    responses((status = 200, description = "The secret, in this reply only.", body = TotpSecret)))]
pub async fn handler(mut call: Call<AnyPerson>) -> Result<Reply<TotpSecret>> {
    let (user, _) = who(&call.caller)?;
    let secret: [u8; 20] = rand::random();
    let sealed = call.app.sealer().seal_bytes(&user.id.to_string(), &secret)?;
    if !store::totp::begin(&mut call.tx, user.id, &sealed).await? {
        return Err(Error::conflict("there is a second factor already; remove it first, with one of its codes"));
    }
    let reply = second_factor::describe(secret, &user.email)?;
    call.commit(Audit::new("totp.start", user.id).after(&json!({ "confirmed": false }))).await?;
    Ok(Reply::ok(reply))
}

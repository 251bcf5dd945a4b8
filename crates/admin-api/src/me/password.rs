//! `PUT /me/password`.

use std::time::Instant;

use api_types::person::ChangePassword;
use api_types::session::User;
use serde_json::json;
use store::mailed_tokens::{self, Purpose};

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::me::who;
use crate::reply::Reply;
use crate::setup::password;
use crate::users::view;
use crate::validate::Fields;

/// Changes one's own password, and ends every other session.
#[utoipa::path(put, path = "/me/password", operation_id = "change_own_password", tag = "people",
    request_body = ChangePassword,
    responses((status = 200, description = "The person.", body = User)))]
pub async fn handler(mut call: Call<AnyPerson>, Json { value: body, .. }: Json<ChangePassword>) -> Result<Reply<User>> {
    let (user, session) = who(&call.caller)?;
    let mut fields = Fields::new();
    password::check(&mut fields, "new", &body.new);
    fields.done()?;
    call.app.throttle().take(&user.email, &call.meta.address, true, Instant::now())?;
    if !password::verify(body.current, user.password_hash.clone()).await? {
        return Err(Error::field("current", "bad_credentials", "this is not the present password"));
    }
    call.app.throttle().give_back(&user.email, &call.meta.address, true);
    let hash = password::hash(body.new).await?;
    store::users::set_password(&mut call.tx, user.id, &hash).await?;
    mailed_tokens::remove(&mut call.tx, user.id, Purpose::PasswordReset).await?;
    let ended = store::sessions::end_others(&mut call.tx, user.id, Some(session)).await?;
    call.commit(Audit::new("password.change", user.id).after(&json!({ "sessions_ended": ended }))).await?;
    Ok(Reply::ok(view(&user)?))
}

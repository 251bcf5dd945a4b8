//! `PUT /password-resets`.

use std::time::Instant;

use api_types::person::ResetPassword;
use api_types::session::User;
use serde_json::json;
use store::mailed_tokens::{self, Purpose};

use crate::auth::{Audit, Open, mailed};
use crate::body::Json;
use crate::error::Result;
use crate::reply::Reply;
use crate::setup::password;
use crate::users::view;
use crate::validate::Fields;

/// Sets another password by the token of the mail's link, and ends every session. A second factor stays.
#[utoipa::path(put, path = "/password-resets", operation_id = "reset_password", tag = "people",
    request_body = ResetPassword,
    responses((status = 200, description = "The person, who signs in with it now.", body = User)))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<ResetPassword>) -> Result<Reply<User>> {
    let mut fields = Fields::new();
    password::check(&mut fields, "password", &body.password);
    fields.done()?;
    open.app.throttle().take("password reset", &open.meta.address, true, Instant::now())?;
    let token = mailed::hash(&open.app, &body.token);
    mailed_tokens::find(&mut *open.begin().await?, Purpose::PasswordReset, &token).await.map_err(mailed::or_wrong)?;
    let hash = password::hash(body.password).await?;
    let mut tx = open.begin().await?;
    let id = mailed_tokens::consume(&mut tx, Purpose::PasswordReset, &token).await.map_err(mailed::or_wrong)?;
    let user = store::users::get(&mut tx, id).await?;
    if user.status != "active" {
        return Err(mailed::wrong());
    }
    store::users::set_password(&mut tx, id, &hash).await?;
    let ended = store::sessions::end_others(&mut tx, id, None).await?;
    let audit = Audit::new("password.reset", id).of_maybe(user.tenant_id).after(&json!({ "sessions_ended": ended }));
    open.commit(tx, &id.to_string(), audit).await?;
    open.app.throttle().give_back("password reset", &open.meta.address, true);
    Ok(Reply::ok(view(&user)?))
}

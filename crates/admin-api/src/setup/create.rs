//! `POST /setup`: creates the first administrator, once.

use std::time::Instant;

use api_types::session::{SetUp, User};
use domain::api_key;
use http::StatusCode;
use store::users::NewUser;

use crate::auth::{Audit, Open};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::setup::password;
use crate::validate::Fields;

/// Creates the first administrator with the one-time token of the first start's log. Once; 409 afterwards.
#[utoipa::path(post, path = "/setup", operation_id = "set_up", tag = "setup", request_body = SetUp,
    responses((status = 201, description = "The first administrator.", body = User)))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<SetUp>) -> Result<Reply<User>> {
    let mut fields = Fields::new();
    let email = password::email(&mut fields, "email", &body.email);
    let name = fields.text("name", &body.name, 200);
    password::check(&mut fields, "password", &body.password);
    fields.done()?;
    open.app.throttle().take("setup", &open.meta.address, true, Instant::now())?;
    let hash = password::hash(body.password).await?;
    let mut tx = open.begin().await?;
    store::setup::lock(&mut tx).await?;
    if store::users::owner_exists(&mut tx).await? {
        return Err(Error::conflict("the first administrator exists already; sign in"));
    }
    if !store::setup::consume_token(&mut tx, &api_key::hash(open.app.secret(), body.token.trim())).await? {
        let detail = "the token is wrong or was used; the log of the latest start has a valid one";
        return Err(Error::new(StatusCode::UNAUTHORIZED, "bad_credentials", detail));
    }
    let new =
        NewUser { email: &email, name: &name, role: "owner", tenant_id: None, password_hash: &hash, locale: "en" };
    let user = store::users::create(&mut tx, &new).await?;
    let view = crate::users::view(&user)?;
    open.commit(tx, &user.id.to_string(), Audit::new("setup.complete", user.id).after(&view)).await?;
    Ok(Reply::created("/session", view))
}

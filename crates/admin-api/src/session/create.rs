//! `POST /session`: signs in.

use std::time::Instant;

use api_types::session::{Session, SignIn};
use axum::response::Response;
use http::StatusCode;
use store::sessions::NewSession;
use store::users::User;
use time::OffsetDateTime;

use crate::auth::{Audit, Open};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::session::{LIFETIME, Refresh, signed_in};
use crate::setup::password;

/// Signs in with e-mail address and password. Sets the access and refresh cookies.
#[utoipa::path(post, path = "/session", operation_id = "sign_in", tag = "session", request_body = SignIn,
    responses((status = 200, description = "Signed in; both cookies are set.", body = Session)))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<SignIn>) -> Result<Response> {
    let user = check(&open, &body).await?;
    let refresh = Refresh::generate(&open.app);
    let new = NewSession {
        user_id: user.id,
        refresh_hash: &refresh.hash,
        address: &open.meta.address,
        agent: &open.meta.agent,
        expires_at: OffsetDateTime::now_utc() + LIFETIME,
    };
    let mut tx = open.begin().await?;
    let session = store::sessions::create(&mut tx, &new).await?;
    open.commit(tx, &user.id.to_string(), Audit::new("session.create", session)).await?;
    signed_in(&open.app, &user, session, &refresh)
}

/// Tests the password, slowed down per account and address. An unknown address costs and says the same as a wrong password.
async fn check(open: &Open, body: &SignIn) -> Result<User> {
    let mut tx = open.begin().await?;
    let user = match store::users::by_email(&mut tx, body.email.trim()).await {
        Ok(user) => Some(user),
        Err(store::Error::NotFound) => None,
        Err(other) => return Err(other.into()),
    };
    let known = match &user {
        Some(user) => store::sessions::knows_address(&mut tx, user.id, &open.meta.address).await?,
        None => false,
    };
    drop(tx); // the password takes a while, and no connection should wait for it
    let (account, throttle) = (body.email.trim(), open.app.throttle());
    throttle.take(account, &open.meta.address, known, Instant::now())?;
    let hash = user.as_ref().and_then(|user| user.password_hash.clone());
    let right = password::verify(body.password.clone(), hash).await?;
    match user.filter(|user| right && user.status == "active") {
        Some(user) => {
            throttle.give_back(account, &open.meta.address, known);
            Ok(user)
        }
        None => {
            Err(Error::new(StatusCode::UNAUTHORIZED, "bad_credentials", "the e-mail address or the password is wrong"))
        }
    }
}

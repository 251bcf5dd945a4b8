//! `POST /session`: signs in.

use std::time::Instant;

use api_types::session::{Session, SignIn};
use axum::response::Response;
use http::StatusCode;
use serde_json::json;
use store::Transaction;
use store::sessions::NewSession;
use store::users::User;
use time::OffsetDateTime;

use crate::auth::second_factor::{self, Proof};
use crate::auth::{Audit, Open};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::session::{LIFETIME, Refresh, signed_in};
use crate::setup::password;

/// Signs in with e-mail address, password and, where the person has a second factor, a code of it: without one the answer is
/// 401 `totp_required`. Sets the access and refresh cookies.
#[utoipa::path(post, path = "/session", operation_id = "sign_in", tag = "session", request_body = SignIn,
    responses((status = 200, description = "Signed in; both cookies are set.", body = Session)))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<SignIn>) -> Result<Response> {
    let user = check(&open, &body).await?;
    let mut tx = open.begin().await?;
    let proof = second(&open, &mut tx, &user, body.totp.as_deref()).await?;
    let refresh = Refresh::generate(&open.app);
    let new = NewSession {
        user_id: user.id,
        refresh_hash: &refresh.hash,
        address: &open.meta.address,
        agent: &open.meta.agent,
        expires_at: OffsetDateTime::now_utc() + LIFETIME,
    };
    let session = store::sessions::create(&mut tx, &new).await?;
    let after =
        json!({ "user_id": user.id, "agent": open.meta.agent, "recovery_code": proof == Some(Proof::RecoveryCode) });
    let audit = Audit::new("session.create", session).of_maybe(user.tenant_id).after(&after);
    open.commit(tx, &user.id.to_string(), audit).await?;
    signed_in(&open.app, &user, session, &refresh)
}

/// Tests the second factor, where the person has one.
async fn second(open: &Open, tx: &mut Transaction, user: &User, code: Option<&str>) -> Result<Option<Proof>> {
    if !user.totp {
        return Ok(None);
    }
    let Some(code) = code.filter(|code| !code.trim().is_empty()) else {
        let detail = "give a code of the second factor, or a recovery code, in the field totp";
        return Err(Error::new(StatusCode::UNAUTHORIZED, "totp_required", detail));
    };
    match second_factor::take(&open.app, tx, user.id, code).await? {
        Some(proof) => Ok(Some(proof)),
        None => {
            let detail = "the code of the second factor is wrong, was used or is over; wait for the next one";
            Err(Error::new(StatusCode::UNAUTHORIZED, "bad_credentials", detail))
        }
    }
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

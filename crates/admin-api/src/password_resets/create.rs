//! `POST /password-resets`.

use std::time::Duration;

use api_types::person::RequestPasswordReset;
use http::StatusCode;
use store::mailed_tokens::{self, Purpose};
use tokio::time::Instant;

use crate::auth::{Audit, Open, mailed};
use crate::body::Json;
use crate::error::Result;

/// Every reply takes this long, so that time does not tell which addresses are known.
const TAKES: Duration = Duration::from_millis(250);
/// One mail in this many minutes at most.
const PAUSE_MINUTES: i32 = 2;

/// Has a link for another password mailed, if somebody active has this address. The reply does not tell.
#[utoipa::path(post, path = "/password-resets", operation_id = "request_password_reset", tag = "people",
    request_body = RequestPasswordReset,
    responses((status = 202, description = "Taken; whether a mail goes out is not said.")))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<RequestPasswordReset>) -> Result<StatusCode> {
    let replies_at = Instant::now() + TAKES;
    open.app.throttle().take("password reset", &open.meta.address, true, std::time::Instant::now())?;
    if let Err(error) = send(&open, body.email.trim()).await {
        tracing::error!(code = error.parts().code, "a password reset was not mailed");
    }
    tokio::time::sleep_until(replies_at).await;
    Ok(StatusCode::ACCEPTED)
}

async fn send(open: &Open, email: &str) -> Result<()> {
    let mut tx = open.begin().await?;
    let user = match store::users::by_email(&mut tx, email).await {
        Ok(user) if user.status == "active" => user,
        Ok(_) | Err(store::Error::NotFound) => return Ok(()),
        Err(other) => return Err(other.into()),
    };
    if mailed_tokens::sent_within(&mut tx, user.id, Purpose::PasswordReset, PAUSE_MINUTES).await? {
        return Ok(());
    }
    mailed::send(&open.app, &mut tx, user.id, Purpose::PasswordReset).await?;
    let audit = Audit::new("password_reset.request", user.id).of_maybe(user.tenant_id);
    open.commit(tx, "anyone", audit).await
}

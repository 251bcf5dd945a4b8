//! One-time tokens by mail. The link in the mail carries the token behind `#`, which browsers keep to themselves; the
//! console's page posts it. It stands in no path and no query, so in no log.

use domain::api_key;
use domain::ids::UserId;
use rand::distr::{Alphanumeric, SampleString as _};
use store::PgConnection;
use store::mailed_tokens::{NewMailedToken, Purpose};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::error::{Error, Result};

/// How long a token is good.
const fn lifetime(purpose: Purpose) -> time::Duration {
    match purpose {
        Purpose::Invitation => time::Duration::days(7),
        Purpose::PasswordReset => time::Duration::hours(1),
    }
}

/// Makes a token and has it mailed; commits with the caller's change.
///
/// # Errors
/// Those of the store.
pub async fn send(app: &App, conn: &mut PgConnection, user: UserId, purpose: Purpose) -> Result<()> {
    let (id, secret) = (Uuid::now_v7(), Alphanumeric.sample_string(&mut rand::rng(), 44));
    let token = NewMailedToken {
        id,
        user_id: user,
        purpose,
        secret_hash: &hash(app, &secret),
        sealed_secret: &app.sealer().seal(&id.to_string(), &secret)?,
        expires_at: OffsetDateTime::now_utc() + lifetime(purpose),
    };
    Ok(store::mailed_tokens::send(conn, &token).await?)
}

/// The stored form of a token that somebody presents.
#[must_use]
pub fn hash(app: &App, token: &str) -> [u8; 32] {
    api_key::hash(app.secret(), token.trim())
}

/// 401: no such token, used, or over.
pub fn wrong() -> Error {
    let detail = "the link is wrong, was used or is over; ask for another one";
    Error::new(http::StatusCode::UNAUTHORIZED, "bad_credentials", detail)
}

/// As [`wrong`], where the store found none.
pub fn or_wrong(error: store::Error) -> Error {
    match error {
        store::Error::NotFound => wrong(),
        other => other.into(),
    }
}

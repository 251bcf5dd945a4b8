//! Signing in and out.

pub mod create;
pub mod delete;
pub mod read;
pub mod refresh;

use api_types::session::Session;
use axum::response::{AppendHeaders, IntoResponse, Response};
use domain::api_key;
use domain::ids::SessionId;
use http::{HeaderName, HeaderValue, header};
use rand::distr::{Alphanumeric, SampleString as _};
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::cookie;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::users::view;

/// A session ends after this long at the latest, however often it is refreshed.
pub const LIFETIME: time::Duration = time::Duration::days(14);

/// A refresh token and its stored hash.
pub struct Refresh {
    /// For the cookie.
    pub token: String,
    /// For the database.
    pub hash: [u8; 32],
}

impl Refresh {
    /// A new one: 256 bits and more at random.
    pub fn generate(app: &App) -> Self {
        let token = Alphanumeric.sample_string(&mut rand::rng(), 44);
        let hash = api_key::hash(app.secret(), &token);
        Self { token, hash }
    }
}

/// Who is signed in, as the API shows it.
///
/// # Errors
/// 500 for a role that this version does not know.
pub fn describe(user: &store::users::User, expires_at: OffsetDateTime) -> Result<Session> {
    let user = view(user)?;
    Ok(Session { roles: vec![user.role], tenant_id: user.tenant_id, user, expires_at: expires_at.into() })
}

type SetCookies = AppendHeaders<[(HeaderName, HeaderValue); 2]>;

/// The reply that begins or continues a session: its description and both cookies.
///
/// # Errors
/// 500 where a token can't be made.
pub fn signed_in(app: &App, user: &store::users::User, session: SessionId, refresh: &Refresh) -> Result<Response> {
    let (access, expires_at) = app.tokens().make(user.id, session, OffsetDateTime::now_utc())?;
    let access = cookie::set(cookie::ACCESS, &access, crate::auth::jwt::LIFETIME.whole_seconds())?;
    let refresh = cookie::set(cookie::REFRESH, &refresh.token, LIFETIME.whole_seconds())?;
    let cookies: SetCookies = AppendHeaders([(header::SET_COOKIE, access), (header::SET_COOKIE, refresh)]);
    Ok((cookies, Reply::ok(describe(user, expires_at)?)).into_response())
}

/// The headers that remove both cookies.
///
/// # Errors
/// Never in practice.
pub fn signed_out() -> Result<SetCookies> {
    let remove = |name| Ok::<_, Error>((header::SET_COOKIE, cookie::set(name, "", 0)?));
    Ok(AppendHeaders([remove(cookie::ACCESS)?, remove(cookie::REFRESH)?]))
}

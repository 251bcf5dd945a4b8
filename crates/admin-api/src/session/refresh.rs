//! `POST /session/refresh`: exchanges the refresh token. Each is used once; an old one seen again ends its session.

use api_types::session::Session;
use axum::response::{IntoResponse, Response};
use domain::api_key;
use serde_json::json;
use store::sessions::Rotation;

use crate::auth::{Audit, Open, cookie, csrf};
use crate::error::{Error, Result};
use crate::session::{Refresh, signed_in, signed_out};

/// Renews the session by the refresh cookie. A refresh token is used once: one that was used before ends the session.
#[utoipa::path(post, path = "/session/refresh", operation_id = "refresh_session", tag = "session",
    responses((status = 200, description = "Renewed; both cookies are set.", body = Session)))]
pub async fn handler(open: Open) -> Result<Response> {
    let ended = || Error::unauthenticated("the session has ended; sign in again");
    let token = cookie::read(&open.headers, cookie::REFRESH).ok_or_else(ended)?;
    csrf::check(&open.app, &open.headers)?;
    let (old, new) = (api_key::hash(open.app.secret(), token), Refresh::generate(&open.app));
    let mut tx = open.begin().await?;
    match store::sessions::rotate(&mut tx, &old, &new.hash).await? {
        Rotation::Rotated { session_id, user_id } => {
            let user = store::users::get(&mut tx, user_id).await?;
            tx.commit().await.map_err(store::Error::from)?;
            signed_in(&open.app, &user, session_id, &new)
        }
        Rotation::Reused { session_id, user_id } => {
            tracing::warn!(%session_id, "a refresh token was used twice: the session is ended");
            let tenant = store::users::get(&mut tx, user_id).await?.tenant_id;
            let audit = Audit::new("session.reuse", session_id).of_maybe(tenant).after(&json!({ "ended": true }));
            open.commit(tx, &user_id.to_string(), audit).await?;
            Ok((signed_out()?, ended()).into_response())
        }
        Rotation::Unknown => Err(ended()),
    }
}

//! Finds out who calls: a service token or a signed-in person.

use api_types::service_token::TokenScope;
use api_types::session::Role;
use domain::TenantId;
use domain::api_key::{KeyKind, KeyText};
use domain::ids::{ServiceTokenId, SessionId};
use http::{HeaderMap, Method, header};
use store::users::User;
use store::{PgConnection, Reach};
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::{Policy, cookie, csrf};
use crate::call::header_text;
use crate::error::{Error, Result};

/// A known caller.
#[derive(Debug, Clone)]
pub enum Caller {
    /// A signed-in person.
    Person {
        /// As stored now.
        user: Box<User>,
        /// Their role.
        role: Role,
        /// The session.
        session_id: SessionId,
        /// When the access cookie ends.
        expires_at: OffsetDateTime,
    },
    /// A system.
    Service {
        /// The token.
        id: ServiceTokenId,
        /// What it may do.
        scopes: Vec<TokenScope>,
        /// The tenants that it is limited to.
        tenant_ids: Option<Vec<TenantId>>,
    },
}

impl Caller {
    /// The caller's id, for the audit log and for idempotency keys.
    #[must_use]
    pub fn actor(&self) -> String {
        match self {
            Self::Person { user, .. } => user.id.to_string(),
            Self::Service { id, .. } => id.to_string(),
        }
    }

    /// The tenants that the caller may see.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let limited = match self {
            Self::Person { user, .. } => user.tenant_id.map(|id| vec![id]),
            Self::Service { tenant_ids, .. } => tenant_ids.clone(),
        };
        limited.map_or(Reach::All, Reach::Tenants)
    }

    /// Decides by the rule `P`.
    ///
    /// # Errors
    /// 403 with what is missing.
    pub fn check<P: Policy>(&self) -> Result<()> {
        match self {
            Self::Person { role, .. } if P::ROLES.contains(role) => {}
            Self::Person { role, .. } => {
                return Err(Error::forbidden(format!("the role {role} may not do this; it takes {}", words(P::ROLES))));
            }
            Self::Service { .. } if P::SCOPES.is_empty() => {
                return Err(Error::forbidden("service tokens may not do this; sign in as a person"));
            }
            Self::Service { scopes, .. } if scopes.iter().any(|scope| P::SCOPES.contains(scope)) => {}
            Self::Service { .. } => {
                return Err(Error::forbidden(format!("the service token needs the scope {}", words(P::SCOPES))));
            }
        }
        if P::PLATFORM && self.reach() != Reach::All {
            return Err(Error::forbidden("this concerns every tenant, and the caller is limited to some"));
        }
        Ok(())
    }
}

fn words<T: std::fmt::Display>(words: &[T]) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// Identifies the caller. `Authorization` goes before cookies; an unknown or ended credential is 401, never anonymous.
///
/// # Errors
/// 401 without a valid credential; 403 `csrf` where a cookie comes without what only our own pages send.
pub async fn identify(app: &App, conn: &mut PgConnection, method: &Method, headers: &HeaderMap) -> Result<Caller> {
    if headers.contains_key(header::AUTHORIZATION) {
        return service(app, conn, header_text(headers, "authorization")).await;
    }
    let token = cookie::read(headers, cookie::ACCESS);
    let token = token
        .ok_or_else(|| Error::unauthenticated("sign in, or send a service token as Authorization: Bearer tgs_..."))?;
    let caller = person(app, conn, token).await?;
    if method != Method::GET && method != Method::HEAD {
        csrf::check(app, headers)?;
    }
    Ok(caller)
}

async fn person(app: &App, conn: &mut PgConnection, token: &str) -> Result<Caller> {
    let ended = || Error::unauthenticated("the session has ended; refresh it or sign in again");
    let access = app.tokens().read(token).ok_or_else(ended)?;
    // The session's row decides, so that signing out, disabling and changing roles take effect at once.
    let user_id = match store::sessions::live_user(conn, access.session_id).await {
        Err(store::Error::NotFound) => return Err(ended()),
        other => other?,
    };
    let user = store::users::get(conn, user_id).await?;
    let role = user.role.parse().map_err(|_| Error::internal("a role that this version does not know"))?;
    Ok(Caller::Person { user: Box::new(user), role, session_id: access.session_id, expires_at: access.expires_at })
}

async fn service(app: &App, conn: &mut PgConnection, authorization: &str) -> Result<Caller> {
    let unknown = || Error::unauthenticated("the service token is unknown, revoked or expired");
    let (scheme, text) = authorization.split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Error::unauthenticated("send the service token as Authorization: Bearer tgs_..."));
    }
    let key = KeyText::parse(KeyKind::Service, text.trim()).map_err(|_| unknown())?;
    let token = match store::service_tokens::by_secret_hash(conn, &key.hash(app.secret())).await {
        Err(store::Error::NotFound) => return Err(unknown()),
        other => other?,
    };
    store::service_tokens::touch(conn, token.id).await?;
    let scopes = token.scopes.iter().filter_map(|scope| scope.parse().ok()).collect();
    Ok(Caller::Service { id: token.id, scopes, tenant_ids: token.tenant_ids })
}

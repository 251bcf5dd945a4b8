//! Calls that happen once per `Idempotency-Key`: the key, the change and the stored reply commit together.

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use domain::{Scope, TenantId};
use http::StatusCode;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::idempotency::Claim;

use crate::app::App;
use crate::auth::{Audit, Call, Policy};
use crate::call::header_text;
use crate::error::{Error, Result};
use crate::force;
use crate::reply::Reply;

/// The header `Idempotency-Key`.
#[derive(Debug, Clone)]
pub struct Key(String);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let key = header_text(&parts.headers, "idempotency-key").trim();
        if key.is_empty() {
            return Err(Error::new(
                StatusCode::PRECONDITION_REQUIRED,
                "idempotency_key_required",
                "send the header Idempotency-Key with a value of your own, the same when you try again",
            ));
        }
        if key.len() > 255 || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::field(
                "Idempotency-Key",
                "invalid",
                "at most 255 printable ASCII characters without spaces",
            ));
        }
        Ok(Self(key.to_owned()))
    }
}

/// A reply as it is stored: whatever happens after the commit, a replay gives the same.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored {
    /// Where a new resource is; None: nothing new, 200.
    path: Option<String>,
    version: Option<i64>,
    /// Whose accounts the change concerns.
    tenant_id: TenantId,
    /// The accounts: pushed before each reply.
    scopes: Vec<String>,
    body: Value,
}

impl Stored {
    /// 201 with the resource, where it is, and the accounts to be pushed.
    ///
    /// # Errors
    /// 500 where the body is no JSON.
    pub fn created(
        path: String,
        version: Option<i64>,
        tenant_id: TenantId,
        scopes: &[Scope],
        body: &impl Serialize,
    ) -> Result<Self> {
        let scopes = scopes.iter().map(ToString::to_string).collect();
        let body = serde_json::to_value(body).map_err(Error::internal)?;
        Ok(Self { path: Some(path), version, tenant_id, scopes, body })
    }

    /// 200 with the changed resource, and the accounts to be pushed.
    ///
    /// # Errors
    /// 500 where the body is no JSON.
    pub fn changed(tenant_id: TenantId, scopes: &[Scope], body: &impl Serialize) -> Result<Self> {
        Ok(Self { path: None, ..Self::created(String::new(), None, tenant_id, scopes, body)? })
    }

    /// Pushes the accounts and replies, the first time as every other.
    pub async fn respond(mut self, app: &App) -> Response {
        let scopes: Vec<Scope> = self.scopes.iter().filter_map(|scope| scope.parse().ok()).collect();
        if let Some(body) = self.body.as_object_mut() {
            body.insert("in_force".to_owned(), Value::Bool(force::push(app, self.tenant_id, &scopes).await));
        }
        let reply = match &self.path {
            Some(path) => Reply::created(path, self.body),
            None => Reply::ok(self.body),
        };
        match self.version {
            Some(version) => reply.version(version).into_response(),
            None => reply.into_response(),
        }
    }
}

/// Claims the key. Some: the call was made before; give this reply and change nothing.
///
/// # Errors
/// 409 where the key was used for another call or body.
pub async fn claim<P: Policy>(call: &mut Call<P>, key: &Key, body_hash: &[u8]) -> Result<Option<Stored>> {
    let (caller, operation) = (call.caller.actor(), call.meta.operation.clone());
    let claim = store::idempotency::Call { caller: &caller, key: &key.0, operation: &operation, body_hash };
    match store::idempotency::claim(&mut call.tx, claim).await? {
        Claim::New => Ok(None),
        Claim::Replay { reply, .. } => Ok(Some(serde_json::from_value(reply).map_err(Error::internal)?)),
        Claim::Mismatch => Err(Error::new(
            StatusCode::CONFLICT,
            "idempotency_mismatch",
            "this Idempotency-Key was used for another call or another body; use a new key for a new call",
        )),
    }
}

/// Stores the reply, commits it with the change, pushes and replies.
///
/// # Errors
/// 503 where the commit's outcome is unknown: the same call again finds out.
pub async fn commit<P: Policy>(
    mut call: Call<P>,
    key: &Key,
    body_hash: &[u8],
    stored: Stored,
    audit: Audit,
) -> Result<Response> {
    let (caller, operation) = (call.caller.actor(), call.meta.operation.clone());
    let claim = store::idempotency::Call { caller: &caller, key: &key.0, operation: &operation, body_hash };
    let reply = serde_json::to_value(&stored).map_err(Error::internal)?;
    store::idempotency::complete(&mut call.tx, claim, StatusCode::CREATED.as_u16(), &reply).await?;
    let app = call.commit(audit).await?;
    Ok(stored.respond(&app).await)
}

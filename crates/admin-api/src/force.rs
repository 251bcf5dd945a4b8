//! Brings a committed change to every gateway before the call returns.

use std::time::Duration;

use domain::{Scope, TenantId};

use crate::app::App;

/// How long Redis is waited for. A change that did not get there in time follows with the reconciler's next push.
const WITHIN: Duration = Duration::from_secs(2);

/// Pushes the accounts as they are now. True where every gateway decides by them from here on.
pub async fn push(app: &App, tenant: TenantId, scopes: &[Scope]) -> bool {
    if scopes.is_empty() {
        return true; // no account is open yet: the first request opens it as it is now
    }
    match tokio::time::timeout(WITHIN, app.quota().push(tenant, scopes)).await {
        Ok(Ok(pushed)) => pushed.in_force,
        Ok(Err(cause)) => {
            tracing::warn!(%cause, "the change is committed, and not yet in force: Redis is away");
            false
        }
        Err(_) => {
            tracing::warn!("the change is committed, and not yet in force: Redis did not answer in time");
            false
        }
    }
}

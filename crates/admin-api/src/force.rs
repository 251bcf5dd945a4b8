//! Brings a committed change to every gateway before the call returns.

use std::time::Duration;

use domain::{Home, Scope, TenantId};
use quota::{Pushed, Unavailable};

use crate::app::App;

/// How long Redis is waited for. A change that did not get there in time follows with the reconciler's next push.
const WITHIN: Duration = Duration::from_secs(2);

/// Pushes the accounts as they are now. True where every gateway decides by them from here on.
pub async fn push(app: &App, tenant: TenantId, scopes: &[Scope]) -> bool {
    if scopes.is_empty() {
        return true; // no account is open yet: the first request opens it as it is now
    }
    within(app.quota().push(tenant, scopes)).await
}

/// The same for accounts that live at `home`.
pub async fn push_at(app: &App, home: Home, scopes: &[Scope]) -> bool {
    scopes.is_empty() || within(app.quota().push_at(home, scopes)).await
}

async fn within(push: impl Future<Output = std::result::Result<Pushed, Unavailable>>) -> bool {
    match tokio::time::timeout(WITHIN, push).await {
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

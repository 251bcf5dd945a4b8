//! Changes of a quota by a delta.

use api_types::Page;
use api_types::quota_change::{CreateQuotaChange, QuotaChange};

use super::call::{Call, Failure, part};

/// Whose quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// A tenant's.
    Tenant(String),
    /// A project's budget.
    Project(String),
    /// A key's budget.
    Key(String),
}

impl Whose {
    fn path(&self) -> String {
        let (noun, id) = match self {
            Self::Tenant(id) => ("tenants", id),
            Self::Project(id) => ("projects", id),
            Self::Key(id) => ("keys", id),
        };
        format!("/{noun}/{}/quota-changes", part(id))
    }
}

/// The latest changes.
///
/// # Errors
/// As every call.
pub async fn list(whose: &Whose) -> Result<Page<QuotaChange>, Failure> {
    Call::get(format!("{}?limit=10", whose.path())).read().await
}

/// Makes a change, or only says what would be where the change says `dry_run`.
///
/// # Errors
/// `below_committed` with the four numbers; the fields that were refused.
pub async fn create(whose: &Whose, change: &CreateQuotaChange, key: &str) -> Result<QuotaChange, Failure> {
    Call::post(whose.path()).json(change).idempotent(key).read().await
}

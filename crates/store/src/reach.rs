//! Which tenants' rows a caller may see. Every read for the admin API takes one, so that a foreign id is simply not found.

use domain::TenantId;
use uuid::Uuid;

/// The tenants that a caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Every tenant.
    All,
    /// These only.
    Tenants(Vec<TenantId>),
}

impl Reach {
    /// True where the tenant is within reach.
    #[must_use]
    pub fn covers(&self, tenant: TenantId) -> bool {
        match self {
            Self::All => true,
            Self::Tenants(ids) => ids.contains(&tenant),
        }
    }

    /// As a query's parameter: null for every tenant.
    pub(crate) fn ids(&self) -> Option<Vec<Uuid>> {
        match self {
            Self::All => None,
            Self::Tenants(ids) => Some(ids.iter().map(|id| id.uuid()).collect()),
        }
    }
}

/// Which part of a list, by id: ids are made in time order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The last id of the page before.
    pub after: Option<Uuid>,
    /// Oldest first instead of newest first.
    pub ascending: bool,
    /// Rows at most.
    pub limit: i64,
}

//! Which tenants' rows a caller may see. Every read for the admin API takes one, so that a foreign id is simply not found.

use domain::TenantId;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

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

    /// Has Postgres hide the rows of all other tenants from the rest of the transaction: the second wall, for a query that
    /// forgot the first. `caller` is whose idempotency keys are seen. Does nothing where every tenant is within reach.
    ///
    /// # Errors
    /// Those of Postgres.
    pub async fn confine(&self, conn: &mut PgConnection, caller: &str) -> Result<(), Error> {
        if let Some(ids) = self.ids() {
            sqlx::query!(
                "SELECT set_config('tollgate.tenants', $1::uuid[]::text, true) AS tenants,
                        set_config('tollgate.caller', $2, true) AS caller,
                        set_config('role', 'tollgate_tenant', true) AS role",
                &ids,
                caller
            )
            .fetch_one(conn)
            .await?;
        }
        Ok(())
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

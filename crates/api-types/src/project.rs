//! Projects of a tenant.

use domain::{ProjectId, TenantId};

use crate::tenant::PeriodKind;
use crate::{Decimal, Numbers, Timestamp};

words! {
    /// Whether a project may call.
    pub enum ProjectStatus {
        /// It may.
        Active = "active",
        /// Never again.
        Archived = "archived",
    }
}

request! {
    /// Creates a project.
    pub struct CreateProject {
        /// Name.
        pub name: String,
        /// How much it may spend per period; null: as much as the tenant.
        pub budget: Option<Budget>,
    }

    /// An amount per period, in the tenant's unit and time zone.
    pub struct Budget {
        /// How much.
        pub amount: Decimal,
        /// Per what.
        pub period: PeriodKind,
    }
}

reply! {
    /// A project.
    pub struct Project {
        /// Id.
        pub id: ProjectId,
        /// Its tenant.
        pub tenant_id: TenantId,
        /// Name.
        pub name: String,
        /// Whether it may call.
        pub status: ProjectStatus,
        /// How much it may spend per period.
        pub budget: Option<Budget>,
        /// The numbers of the present period.
        pub quota: Numbers,
        /// When it was created.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
    }
}

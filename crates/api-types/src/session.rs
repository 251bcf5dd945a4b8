//! Signing in, and the first administrator.

use domain::TenantId;
use domain::ids::UserId;

use crate::Timestamp;

words! {
    /// What a person may do.
    pub enum Role {
        /// Platform owner: everything.
        Owner = "owner",
        /// Platform operator: everything but people, tokens and settings.
        Operator = "operator",
        /// Platform viewer: reads.
        Viewer = "viewer",
        /// Owner of one tenant: its projects and keys.
        TenantOwner = "tenant_owner",
        /// Viewer of one tenant.
        TenantViewer = "tenant_viewer",
    }
}

request! {
    /// Signs in.
    pub struct SignIn {
        /// E-mail address.
        pub email: String,
        /// Password.
        pub password: String,
    }

    /// Creates the first administrator, once.
    pub struct SetUp {
        /// The one-time token from the log of the first start, or made by the command line.
        pub token: String,
        /// E-mail address.
        pub email: String,
        /// At least 12 characters.
        pub password: String,
        /// The person's name.
        pub name: String,
    }
}

reply! {
    /// Whether the first administrator is still missing.
    pub struct SetUpState {
        /// True until the first administrator exists.
        pub needed: bool,
    }

    /// Who is signed in.
    pub struct Session {
        /// The person.
        pub user: User,
        /// The person's roles.
        pub roles: Vec<Role>,
        /// The tenant that the roles are limited to; null: the platform's.
        pub tenant_id: Option<TenantId>,
        /// When the access cookie ends; refresh before.
        pub expires_at: Timestamp,
    }

    /// A person.
    pub struct User {
        /// Id.
        pub id: UserId,
        /// E-mail address.
        pub email: String,
        /// Name.
        pub name: String,
        /// Role.
        pub role: Role,
        /// `en` or `zh`.
        pub locale: String,
    }
}

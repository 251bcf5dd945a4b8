//! Signing in, and who a person is.

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

    /// Whether a person may sign in.
    pub enum UserStatus {
        /// Not yet: the invitation was not accepted.
        Invited = "invited",
        /// Yes.
        Active = "active",
        /// Not any more.
        Disabled = "disabled",
    }

    /// The language of mails and of the console.
    pub enum Locale {
        /// English.
        En = "en",
        /// Chinese.
        Zh = "zh",
    }
}

request! {
    /// Signs in.
    pub struct SignIn {
        /// E-mail address.
        pub email: String,
        /// Password.
        pub password: String,
        /// A code of the second factor, where the person has one; or a recovery code.
        pub totp: Option<String>,
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
        /// The tenant of a tenant role.
        pub tenant_id: Option<TenantId>,
        /// `en` or `zh`.
        pub locale: Locale,
        /// Whether they may sign in.
        pub status: UserStatus,
        /// Whether they have a second factor.
        pub totp: bool,
        /// When a session of theirs was last begun or refreshed.
        pub last_seen_at: Option<Timestamp>,
        /// When they were invited or created.
        pub created_at: Timestamp,
    }
}

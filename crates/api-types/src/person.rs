//! People: invitations, passwords, sessions, second factors.

use domain::TenantId;
use domain::ids::SessionId;

use crate::Timestamp;
use crate::session::{Locale, Role, UserStatus};

request! {
    /// Invites a person by mail.
    pub struct InviteUser {
        /// E-mail address.
        pub email: String,
        /// What the person may do.
        pub role: Role,
        /// The tenant of a tenant role; null: the caller's own.
        pub tenant_id: Option<TenantId>,
        /// The language of mails and of the console; `en` unless said otherwise.
        pub locale: Option<Locale>,
    }

    /// Changes a person. Absent fields stay.
    pub struct ChangeUser {
        /// Name.
        pub name: Option<String>,
        /// Another role of the same kind: of the platform, or of the tenant.
        pub role: Option<Role>,
        /// Language.
        pub locale: Option<Locale>,
        /// `disabled` ends every session; `active` lets the person in again.
        pub status: Option<UserStatus>,
        /// `false` removes the second factor of somebody who has lost it.
        pub totp: Option<bool>,
    }

    /// Shows an invitation.
    pub struct LookUpInvitation {
        /// The token of the mail's link.
        pub token: String,
    }

    /// Accepts an invitation.
    pub struct AcceptInvitation {
        /// The token of the mail's link.
        pub token: String,
        /// The person's name.
        pub name: String,
        /// At least 12 characters.
        pub password: String,
    }

    /// Has a link for another password mailed.
    pub struct RequestPasswordReset {
        /// E-mail address.
        pub email: String,
    }

    /// Sets another password.
    pub struct ResetPassword {
        /// The token of the mail's link.
        pub token: String,
        /// At least 12 characters.
        pub password: String,
    }

    /// Changes one's own password.
    pub struct ChangePassword {
        /// The present one.
        pub current: String,
        /// At least 12 characters.
        pub new: String,
    }

    /// A code of the second factor.
    pub struct TotpCode {
        /// Six digits; to remove the factor, a recovery code too.
        pub code: String,
    }
}

reply! {
    /// An invitation.
    pub struct Invitation {
        /// To whom.
        pub email: String,
        /// As what.
        pub role: Role,
        /// Until when it can be accepted.
        pub expires_at: Timestamp,
    }

    /// A session of one's own.
    pub struct OwnSession {
        /// Id.
        pub id: SessionId,
        /// Whether it is the one that asks.
        pub current: bool,
        /// When it was begun.
        pub created_at: Timestamp,
        /// When it was begun or last refreshed.
        pub last_seen_at: Timestamp,
        /// From where it was begun.
        pub address: String,
        /// The browser, as it calls itself.
        pub agent: String,
    }

    /// A second factor that was begun; it counts from its first code on.
    pub struct TotpSecret {
        /// In base32, to be typed into an authenticator.
        pub secret: String,
        /// The same as a link, to be shown as a QR code.
        pub otpauth_url: String,
    }

    /// Each is taken once in place of a code. In this reply only.
    pub struct RecoveryCodes {
        /// The codes.
        pub recovery_codes: Vec<String>,
    }
}

//! People: who they are, what they may do. A tenant's owner manages the people of that tenant only.

pub mod change;
pub mod create;
pub mod delete;
pub mod list;

use api_types::session::{Role, User};
use domain::TenantId;
use store::{PgConnection, Reach};

use crate::error::{Error, Result};

/// A person as the API shows them.
///
/// # Errors
/// 500 for a word that this version does not know.
pub fn view(user: &store::users::User) -> Result<User> {
    let unknown = |_| Error::internal("a word of a person that this version does not know");
    Ok(User {
        id: user.id,
        email: user.email.clone(),
        name: user.name.clone(),
        role: user.role.parse().map_err(unknown)?,
        tenant_id: user.tenant_id,
        locale: user.locale.parse().map_err(unknown)?,
        status: user.status.parse().map_err(unknown)?,
        totp: user.totp,
        last_seen_at: user.last_seen_at.map(Into::into),
        created_at: user.created_at.into(),
    })
}

/// True for the roles of a tenant.
#[must_use]
pub const fn is_tenant_role(role: Role) -> bool {
    matches!(role, Role::TenantOwner | Role::TenantViewer)
}

/// Refuses to take away the platform's last owner; and a tenant's last one, unless the platform does it.
///
/// # Errors
/// 409.
pub async fn keep_an_owner(conn: &mut PgConnection, user: &store::users::User, reach: &Reach) -> Result<()> {
    let of: Option<TenantId> = match (user.status.as_str(), user.role.as_str(), reach) {
        ("active", "owner", _) => None,
        ("active", "tenant_owner", Reach::Tenants(_)) => user.tenant_id,
        _ => return Ok(()),
    };
    let owners = store::users::lock_owners(conn, of).await?;
    if owners.iter().any(|id| *id != user.id) {
        return Ok(());
    }
    Err(Error::conflict("this is the last owner; make somebody else an owner first"))
}

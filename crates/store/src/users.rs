//! People.

use domain::TenantId;
use domain::ids::UserId;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::Error;

/// A person as stored.
#[derive(Debug, Clone)]
pub struct User {
    /// Id.
    pub id: UserId,
    /// Lower-case e-mail address.
    pub email: String,
    /// Name.
    pub name: String,
    /// `owner`, `operator`, `viewer`, `tenant_owner` or `tenant_viewer`.
    pub role: String,
    /// The tenant of a tenant role.
    pub tenant_id: Option<TenantId>,
    /// argon2id; none until an invitation is accepted.
    pub password_hash: Option<String>,
    /// `en` or `zh`.
    pub locale: String,
    /// `invited`, `active` or `disabled`.
    pub status: String,
    /// When it was created.
    pub created_at: OffsetDateTime,
}

/// A person to be created, active at once.
#[derive(Debug, Clone, Copy)]
pub struct NewUser<'a> {
    /// E-mail address; stored in lower case.
    pub email: &'a str,
    /// Name.
    pub name: &'a str,
    /// `owner`, `operator`, `viewer`, `tenant_owner` or `tenant_viewer`.
    pub role: &'a str,
    /// The tenant, for a tenant role.
    pub tenant_id: Option<TenantId>,
    /// From [`crate::password::hash`].
    pub password_hash: &'a str,
    /// `en` or `zh`.
    pub locale: &'a str,
}

/// Creates a person.
///
/// # Errors
/// `AlreadyExists` where the address is taken.
pub async fn create(conn: &mut PgConnection, new: &NewUser<'_>) -> Result<User, Error> {
    let id = UserId::generate();
    sqlx::query!(
        "INSERT INTO users (id, email, name, role, tenant_id, password_hash, locale) VALUES ($1, lower($2), $3, $4, $5, $6, $7)",
        id.uuid(),
        new.email,
        new.name,
        new.role,
        new.tenant_id.map(TenantId::uuid),
        new.password_hash,
        new.locale,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id).await
}

/// Reads a person.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: UserId) -> Result<User, Error> {
    let row = sqlx::query!(
        "SELECT id, email, name, role, tenant_id, password_hash, locale, status, created_at FROM users WHERE id = $1",
        id.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(User {
        id: UserId::from_uuid(row.id),
        email: row.email,
        name: row.name,
        role: row.role,
        tenant_id: row.tenant_id.map(TenantId::from_uuid),
        password_hash: row.password_hash,
        locale: row.locale,
        status: row.status,
        created_at: row.created_at,
    })
}

/// Finds a person by address, in any case.
///
/// # Errors
/// `NotFound`.
pub async fn by_email(conn: &mut PgConnection, email: &str) -> Result<User, Error> {
    let id = sqlx::query_scalar!("SELECT id FROM users WHERE email = lower($1)", email).fetch_one(&mut *conn).await?;
    get(conn, UserId::from_uuid(id)).await
}

/// Replaces a password.
///
/// # Errors
/// Those of Postgres.
pub async fn set_password(conn: &mut PgConnection, id: UserId, password_hash: &str) -> Result<(), Error> {
    sqlx::query!("UPDATE users SET password_hash = $2 WHERE id = $1", id.uuid(), password_hash).execute(conn).await?;
    Ok(())
}

/// True where the platform has an owner, so that no set-up is needed.
///
/// # Errors
/// Those of Postgres.
pub async fn owner_exists(conn: &mut PgConnection) -> Result<bool, Error> {
    let exists = sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM users WHERE role = 'owner') AS "exists!""#);
    Ok(exists.fetch_one(conn).await?)
}

//! People.

use domain::TenantId;
use domain::ids::UserId;
use sqlx::PgConnection;
use time::OffsetDateTime;

use uuid::Uuid;

use crate::{Error, Reach, Window};

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
    /// Whether codes of a second factor are asked for.
    pub totp: bool,
    /// When a session of theirs was last begun or refreshed.
    pub last_seen_at: Option<OffsetDateTime>,
    /// When it was created.
    pub created_at: OffsetDateTime,
}

struct Row {
    id: Uuid,
    email: String,
    name: String,
    role: String,
    tenant_id: Option<Uuid>,
    password_hash: Option<String>,
    locale: String,
    status: String,
    totp: bool,
    last_seen_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
}

impl From<Row> for User {
    fn from(row: Row) -> Self {
        Self {
            id: UserId::from_uuid(row.id),
            email: row.email,
            name: row.name,
            role: row.role,
            tenant_id: row.tenant_id.map(TenantId::from_uuid),
            password_hash: row.password_hash,
            locale: row.locale,
            status: row.status,
            totp: row.totp,
            last_seen_at: row.last_seen_at,
            created_at: row.created_at,
        }
    }
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

/// A person to be invited: known, but unable to sign in until they set a password.
#[derive(Debug, Clone, Copy)]
pub struct NewInvited<'a> {
    /// E-mail address; stored in lower case.
    pub email: &'a str,
    /// `owner`, `operator`, `viewer`, `tenant_owner` or `tenant_viewer`.
    pub role: &'a str,
    /// The tenant, for a tenant role.
    pub tenant_id: Option<TenantId>,
    /// `en` or `zh`.
    pub locale: &'a str,
}

/// Creates an invited person.
///
/// # Errors
/// `AlreadyExists` where the address is taken.
pub async fn invite(conn: &mut PgConnection, new: &NewInvited<'_>) -> Result<User, Error> {
    let id = UserId::generate();
    sqlx::query!(
        "INSERT INTO users (id, email, role, tenant_id, locale, status) VALUES ($1, lower($2), $3, $4, $5, 'invited')",
        id.uuid(),
        new.email,
        new.role,
        new.tenant_id.map(TenantId::uuid),
        new.locale,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id).await
}

/// Makes an invited person active. False where they are not invited any more.
///
/// # Errors
/// Those of Postgres.
pub async fn accept(conn: &mut PgConnection, id: UserId, name: &str, password_hash: &str) -> Result<bool, Error> {
    let done = sqlx::query!(
        "UPDATE users SET name = $2, password_hash = $3, status = 'active' WHERE id = $1 AND status = 'invited'",
        id.uuid(),
        name,
        password_hash,
    );
    Ok(done.execute(conn).await?.rows_affected() == 1)
}

/// Reads a person, whoever asks.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: UserId) -> Result<User, Error> {
    get_within(conn, id, &Reach::All).await
}

/// Reads a person within reach: with a limited one, a person of those tenants.
///
/// # Errors
/// `NotFound`.
pub async fn get_within(conn: &mut PgConnection, id: UserId, reach: &Reach) -> Result<User, Error> {
    let within = reach.ids();
    let row = sqlx::query_as!(
        Row,
        r#"SELECT u.id, u.email, u.name, u.role, u.tenant_id, u.password_hash, u.locale, u.status, u.created_at,
                  EXISTS (SELECT FROM totp_secrets f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS "totp!",
                  (SELECT max(s.last_seen_at) FROM sessions s WHERE s.user_id = u.id) AS last_seen_at
           FROM users u WHERE u.id = $1 AND ($2::uuid[] IS NULL OR u.tenant_id = ANY ($2))"#,
        id.uuid(),
        within.as_deref(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Lists people within reach, of one tenant where that is given.
///
/// # Errors
/// Those of Postgres.
pub async fn list(
    conn: &mut PgConnection,
    tenant: Option<TenantId>,
    reach: &Reach,
    window: Window,
) -> Result<Vec<User>, Error> {
    let within = reach.ids();
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT u.id, u.email, u.name, u.role, u.tenant_id, u.password_hash, u.locale, u.status, u.created_at,
                  EXISTS (SELECT FROM totp_secrets f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS "totp!",
                  (SELECT max(s.last_seen_at) FROM sessions s WHERE s.user_id = u.id) AS last_seen_at
           FROM users u WHERE ($1::uuid IS NULL OR u.tenant_id = $1) AND ($2::uuid[] IS NULL OR u.tenant_id = ANY ($2))
             AND ($3::uuid IS NULL OR CASE WHEN $4 THEN u.id > $3 ELSE u.id < $3 END)
           ORDER BY CASE WHEN $4 THEN u.id END, u.id DESC LIMIT $5"#,
        tenant.map(TenantId::uuid),
        within.as_deref(),
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(User::from).collect())
}

/// Writes name, role, language and status.
///
/// # Errors
/// `NotFound`.
pub async fn update(conn: &mut PgConnection, user: &User) -> Result<User, Error> {
    sqlx::query!(
        "UPDATE users SET name = $2, role = $3, locale = $4, status = $5 WHERE id = $1",
        user.id.uuid(),
        user.name,
        user.role,
        user.locale,
        user.status,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, user.id).await
}

/// Removes a person with their sessions, tokens and mails.
///
/// # Errors
/// `NotFound`.
pub async fn delete(conn: &mut PgConnection, id: UserId) -> Result<(), Error> {
    sqlx::query_scalar!("DELETE FROM users WHERE id = $1 RETURNING id", id.uuid()).fetch_one(conn).await?;
    Ok(())
}

/// Locks the active owners of the platform, or of a tenant, and returns them: whoever takes one away decides after whoever
/// came first.
///
/// # Errors
/// Those of Postgres.
pub async fn lock_owners(conn: &mut PgConnection, tenant: Option<TenantId>) -> Result<Vec<UserId>, Error> {
    let owners = sqlx::query_scalar!(
        "SELECT id FROM users WHERE status = 'active' AND role = CASE WHEN $1::uuid IS NULL THEN 'owner' ELSE 'tenant_owner' END
           AND tenant_id IS NOT DISTINCT FROM $1 ORDER BY id FOR UPDATE",
        tenant.map(TenantId::uuid),
    )
    .fetch_all(conn)
    .await?;
    Ok(owners.into_iter().map(UserId::from_uuid).collect())
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

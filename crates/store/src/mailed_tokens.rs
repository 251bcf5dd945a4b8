//! One-time tokens that are mailed: invitations and password resets. Stored as a keyed hash, and sealed until the mail is sent.

use domain::ids::UserId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::Error;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Accepts an invitation.
    Invitation,
    /// Sets another password.
    PasswordReset,
}

impl Purpose {
    /// The word used in SQL, and as the kind of the mail.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::PasswordReset => "password_reset",
        }
    }
}

/// A token to be mailed.
#[derive(Debug, Clone, Copy)]
pub struct NewMailedToken<'a> {
    /// Id of the row, for which the secret is sealed.
    pub id: Uuid,
    /// To whom.
    pub user_id: UserId,
    /// What for.
    pub purpose: Purpose,
    /// Keyed hash of the secret.
    pub secret_hash: &'a [u8],
    /// The secret, sealed for `id`.
    pub sealed_secret: &'a [u8],
    /// Until when it is good.
    pub expires_at: OffsetDateTime,
}

/// Whose token it is.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Whose.
    pub user_id: UserId,
    /// Until when it is good.
    pub expires_at: OffsetDateTime,
}

/// Stores a token and a mail with it that is due at once. Tokens of the same purpose that the person has are no longer good.
///
/// # Errors
/// Those of Postgres.
pub async fn send(conn: &mut PgConnection, new: &NewMailedToken<'_>) -> Result<(), Error> {
    remove(&mut *conn, new.user_id, new.purpose).await?;
    sqlx::query!(
        "WITH token AS (
             INSERT INTO mailed_tokens (id, user_id, purpose, secret_hash, sealed_secret, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6) RETURNING id, user_id
         )
         INSERT INTO mail_deliveries (id, token_id, user_id, next_at) SELECT gen_random_uuid(), id, user_id, now() FROM token",
        new.id,
        new.user_id.uuid(),
        new.purpose.as_str(),
        new.secret_hash,
        new.sealed_secret,
        new.expires_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Finds a token that is still good.
///
/// # Errors
/// `NotFound`.
pub async fn find(conn: &mut PgConnection, purpose: Purpose, secret_hash: &[u8]) -> Result<Found, Error> {
    let row = sqlx::query!(
        "SELECT user_id, expires_at FROM mailed_tokens WHERE purpose = $1 AND secret_hash = $2 AND expires_at > now()",
        purpose.as_str(),
        secret_hash,
    )
    .fetch_one(conn)
    .await?;
    Ok(Found { user_id: UserId::from_uuid(row.user_id), expires_at: row.expires_at })
}

/// Uses a token up. Its row is locked: of two at once the second finds none.
///
/// # Errors
/// `NotFound` where it is unknown, used or over.
pub async fn consume(conn: &mut PgConnection, purpose: Purpose, secret_hash: &[u8]) -> Result<UserId, Error> {
    let user = sqlx::query_scalar!(
        "DELETE FROM mailed_tokens WHERE purpose = $1 AND secret_hash = $2 AND expires_at > now() RETURNING user_id",
        purpose.as_str(),
        secret_hash,
    )
    .fetch_one(conn)
    .await?;
    Ok(UserId::from_uuid(user))
}

/// True where the person was sent such a token within the last minutes.
///
/// # Errors
/// Those of Postgres.
pub async fn sent_within(conn: &mut PgConnection, user: UserId, purpose: Purpose, minutes: i32) -> Result<bool, Error> {
    let sent = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM mailed_tokens WHERE user_id = $1 AND purpose = $2
                          AND created_at > now() - make_interval(mins => $3)) AS "sent!""#,
        user.uuid(),
        purpose.as_str(),
        minutes,
    );
    Ok(sent.fetch_one(conn).await?)
}

/// Removes a person's tokens of that purpose, with mails that were not sent yet.
///
/// # Errors
/// Those of Postgres.
pub async fn remove(conn: &mut PgConnection, user: UserId, purpose: Purpose) -> Result<(), Error> {
    sqlx::query!("DELETE FROM mailed_tokens WHERE user_id = $1 AND purpose = $2", user.uuid(), purpose.as_str())
        .execute(conn)
        .await?;
    Ok(())
}

/// Removes tokens that are over. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_old(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM mailed_tokens WHERE expires_at < now()").execute(conn).await?;
    Ok(done.rows_affected())
}

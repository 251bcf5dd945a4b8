//! The schema's migrations, embedded: a program and the schema that it expects are one thing.

use sqlx::AssertSqlSafe;
use sqlx::migrate::{MigrateError, Migrator};

use crate::{Error, Store};

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// Applies what is missing, under a lock: of several callers one does the work and the others find it done.
/// Returns the version that the schema has afterwards.
///
/// # Errors
/// `Unavailable` where Postgres is; `Corrupt` where an applied migration is not one of this program's, or was changed.
pub async fn migrate(store: &Store) -> Result<i64, Error> {
    MIGRATIONS.run(store.pool()).await.map_err(|error| match error {
        MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => cause.into(),
        other => Error::corrupt("_sqlx_migrations", other),
    })?;
    Ok(newest())
}

/// The role that services sign in as: made, or given this password where it exists, and let into `tollgate_app`.
///
/// # Errors
/// `Database` where the schema's owner may not create roles.
pub async fn ensure_service_role(store: &Store, name: &str, password: &str) -> Result<(), Error> {
    let mut transaction = store.begin().await?;
    let exists = sqlx::query("SELECT FROM pg_roles WHERE rolname = $1").bind(name).fetch_optional(&mut *transaction);
    let verb = if exists.await?.is_some() { "ALTER" } else { "CREATE" };
    // Roles can't be parameters of a statement: Postgres quotes them itself.
    let statements: String =
        sqlx::query_scalar("SELECT format($1 || ' ROLE %1$I LOGIN PASSWORD %2$L; GRANT tollgate_app TO %1$I', $2, $3)")
            .bind(verb)
            .bind(name)
            .bind(password)
            .fetch_one(&mut *transaction)
            .await?;
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}

/// The version that this program's schema has.
#[must_use]
pub fn newest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

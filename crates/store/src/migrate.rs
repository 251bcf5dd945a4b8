//! The schema's migrations, embedded: a program and the schema that it expects are one thing.

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

/// The version that this program's schema has.
#[must_use]
pub fn newest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

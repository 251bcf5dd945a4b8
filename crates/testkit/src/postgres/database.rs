//! A fresh, migrated database.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::sync::OnceCell;

use super::Server;

/// Names a superuser's URL of a server to make databases on.
const SERVER_VARIABLE: &str = "TOLLGATE_TEST_POSTGRES_URL";
/// The login of [`Database::app_url`], a member of `tollgate_app`.
const APP_USER: &str = "tollgate_test_app";
/// Of a role that exists on servers of tests only.
const APP_PASSWORD: &str = "tollgate_test";
/// Taken by whoever makes the template, in the maintenance database.
const LOCK: i64 = 0x746f_6c6c_6761_7465;
/// A database this old was left by a test that was killed.
const STALE_AFTER_S: u64 = 2 * 60 * 60;

/// A database of its own with all migrations applied. Dropped (forcibly) with the handle.
#[derive(Debug)]
pub struct Database {
    server_url: String,
    name: String,
}

impl Database {
    /// Copies the migrated template, which the first caller per server and state of `migrations/` makes.
    ///
    /// # Errors
    /// When there is no server, a migration fails, or the copy fails.
    pub async fn create() -> anyhow::Result<Self> {
        Self::create_at(server_url().await?).await
    }

    /// The same on a server of the test's own, which it may stop and restart.
    ///
    /// # Errors
    /// When a migration fails, or the copy fails.
    pub async fn create_on(server: &Server) -> anyhow::Result<Self> {
        Self::create_at(&server.url()).await
    }

    async fn create_at(server_url: &str) -> anyhow::Result<Self> {
        let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
        let migrator = Migrator::new(migrations).await.context("can't read migrations/")?;
        let template = template_name(&migrator);
        let mut admin =
            PgConnection::connect(server_url).await.with_context(|| format!("can't connect to {server_url}"))?;
        if !exists(&mut admin, &template).await? {
            sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut admin).await?;
            // Another process may have made it while this one waited. The lock ends with the connection.
            if !exists(&mut admin, &template).await? {
                make_template(&mut admin, server_url, &template, &migrator).await?;
            }
            sqlx::query("SELECT pg_advisory_unlock($1)").bind(LOCK).execute(&mut admin).await?;
        }
        let name = fresh_name();
        run(&mut admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
        admin.close().await?;
        Ok(Self { server_url: server_url.to_owned(), name })
    }

    /// As the owner of the schema and superuser: may do everything, row-level security does not hold for it.
    #[must_use]
    pub fn owner_url(&self) -> String {
        on_database(&self.server_url, &self.name)
    }

    /// As a service: a login role that is a member of `tollgate_app` and has no other right.
    #[must_use]
    pub fn app_url(&self) -> String {
        as_user(&self.owner_url(), APP_USER, APP_PASSWORD)
    }

    /// The database's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs one or more statements as the owner, on a connection of their own.
    ///
    /// # Errors
    /// When the server refuses one.
    pub async fn execute(&self, sql: &str) -> anyhow::Result<()> {
        let mut connection = PgConnection::connect(&self.owner_url()).await?;
        run(&mut connection, sql.to_owned()).await?;
        Ok(connection.close().await?)
    }

    /// The rows of a query as JSON objects, as the owner. Numbers of type `numeric` and `bigint` are JSON numbers.
    ///
    /// # Errors
    /// When the server refuses the query.
    pub async fn rows(&self, sql: &str) -> anyhow::Result<Vec<serde_json::Value>> {
        self.rows_after("", sql).await
    }

    /// The same on a connection that has run other statements before, such as `SET ROLE`.
    ///
    /// # Errors
    /// When the server refuses one.
    pub async fn rows_after(&self, before: &str, sql: &str) -> anyhow::Result<Vec<serde_json::Value>> {
        let mut connection = PgConnection::connect(&self.owner_url()).await?;
        if !before.is_empty() {
            run(&mut connection, before.to_owned()).await?;
        }
        let query = format!("SELECT to_jsonb(rows) FROM ({sql}) AS rows");
        let rows = sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_all(&mut connection)
            .await
            .with_context(|| sql.to_owned())?;
        connection.close().await?;
        Ok(rows)
    }

    /// The first column of the first row as JSON; null when there is no row.
    ///
    /// # Errors
    /// When the server refuses the query.
    pub async fn value(&self, sql: &str) -> anyhow::Result<serde_json::Value> {
        let mut connection = PgConnection::connect(&self.owner_url()).await?;
        let query = format!("SELECT coalesce(to_jsonb(rows.value), 'null'::jsonb) FROM ({sql}) AS rows(value)");
        let value = sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_optional(&mut connection)
            .await
            .with_context(|| sql.to_owned())?;
        connection.close().await?;
        Ok(value.unwrap_or_default())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (url, name) = (self.server_url.clone(), self.name.clone());
        // The test's runtime may be the one that is dropping this: use another, on a thread of its own. A server that
        // the test has stopped takes the database with it.
        let drop_it = async move {
            let mut admin = PgConnection::connect(&url).await?;
            run(&mut admin, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await
        };
        let thread = std::thread::spawn(|| {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                let _ = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), drop_it).await });
            }
        });
        let _ = thread.join();
    }
}

/// The server of the environment, else one per process; the latter ends by its watchdog, as statics are not dropped.
async fn server_url() -> anyhow::Result<&'static str> {
    static URL: OnceCell<String> = OnceCell::const_new();
    static PRIVATE: OnceCell<Server> = OnceCell::const_new();
    let url = URL.get_or_try_init(|| async {
        if let Some(url) = std::env::var_os(SERVER_VARIABLE) {
            return url.into_string().map_err(|_| anyhow::anyhow!("{SERVER_VARIABLE} is not UTF-8"));
        }
        let server = PRIVATE.get_or_try_init(Server::start).await?;
        Ok(server.url())
    });
    Ok(url.await?.as_str())
}

async fn exists(admin: &mut PgConnection, name: &str) -> anyhow::Result<bool> {
    let found = sqlx::query("SELECT FROM pg_database WHERE datname = $1").bind(name).fetch_optional(admin).await?;
    Ok(found.is_some())
}

/// Migrates under another name first: a template that has its name is complete.
async fn make_template(
    admin: &mut PgConnection,
    server_url: &str,
    template: &str,
    migrator: &Migrator,
) -> anyhow::Result<()> {
    remove_stale(admin).await?;
    let unfinished = format!("{template}_new");
    run(admin, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await?;
    run(admin, format!("CREATE DATABASE {unfinished} TEMPLATE template0")).await?;
    let mut owner = PgConnection::connect(&on_database(server_url, &unfinished)).await?;
    migrator.run(&mut owner).await.context("a migration failed")?;
    owner.close().await?;
    let has_app =
        sqlx::query("SELECT FROM pg_roles WHERE rolname = $1").bind(APP_USER).fetch_optional(&mut *admin).await?;
    if has_app.is_none() {
        run(admin, format!("CREATE ROLE {APP_USER} LOGIN PASSWORD '{APP_PASSWORD}' IN ROLE tollgate_app")).await?;
    }
    run(admin, format!("ALTER DATABASE {unfinished} RENAME TO {template}")).await?;
    // A session in the template would block copies.
    run(admin, format!("ALTER DATABASE {template} ALLOW_CONNECTIONS false")).await
}

/// Databases of tests that were killed.
async fn remove_stale(admin: &mut PgConnection) -> anyhow::Result<()> {
    let names: Vec<String> =
        sqlx::query_scalar("SELECT datname::text FROM pg_database WHERE datname LIKE 'tollgate\\_test\\_%'")
            .fetch_all(&mut *admin)
            .await?;
    let now = unix_seconds();
    for name in names {
        let made = name.split('_').nth(2).and_then(|part| part.parse::<u64>().ok());
        if made.is_some_and(|made| made + STALE_AFTER_S < now) {
            run(admin, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
        }
    }
    Ok(())
}

async fn run(connection: &mut PgConnection, sql: String) -> anyhow::Result<()> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.clone()))).await.with_context(|| sql)?;
    Ok(())
}

/// Changes with any migration's name or text.
fn template_name(migrator: &Migrator) -> String {
    let mut hasher = DefaultHasher::new();
    for migration in migrator.iter() {
        migration.version.hash(&mut hasher);
        migration.description.hash(&mut hasher);
        migration.checksum.hash(&mut hasher);
    }
    format!("tollgate_template_{:016x}", hasher.finish())
}

fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("tollgate_test_{}_{}_{count}", unix_seconds(), std::process::id())
}

fn unix_seconds() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map(|elapsed| elapsed.as_secs()).unwrap_or_default()
}

/// The URL with another database, its query kept.
fn on_database(url: &str, name: &str) -> String {
    let (before, query) = url.split_once('?').map_or((url, None), |(before, query)| (before, Some(query)));
    let authority_at = before.find("://").map_or(0, |at| at + 3);
    let end = before[authority_at..].find('/').map_or(before.len(), |at| authority_at + at);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{name}{query}", &before[..end])
}

/// The URL with another user.
fn as_user(url: &str, user: &str, password: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    let path_at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(path_at);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{user}:{password}@{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_urls() {
        let url = "postgres://postgres:a%40b@127.0.0.1:5432/postgres?sslmode=disable";
        let owner = on_database(url, "x");
        assert_eq!(owner, "postgres://postgres:a%40b@127.0.0.1:5432/x?sslmode=disable");
        assert_eq!(as_user(&owner, "u", "p"), "postgres://u:p@127.0.0.1:5432/x?sslmode=disable");
        assert_eq!(on_database("postgres://localhost", "x"), "postgres://localhost/x");
    }
}

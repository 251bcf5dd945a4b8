//! The program as an operator runs it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use testkit::postgres::Database;

fn tollgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).env_remove("DATABASE_URL").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn migrates_an_empty_database_and_finds_it_done_the_second_time() {
    let database = Database::create().await.unwrap();
    database.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
    for _ in 0..2 {
        let output = tollgate(&["migrate", "--database-url", &database.owner_url()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let version = text(&output.stdout).trim().rsplit(' ').next().unwrap().parse::<i64>().unwrap();
        let applied = database.value("SELECT max(version) FROM _sqlx_migrations WHERE success").await.unwrap();
        assert_eq!(applied, version);
    }
    assert_eq!(database.value("SELECT count(*) FROM tenants").await.unwrap(), 0);
}

#[tokio::test]
async fn makes_a_role_for_services_and_renews_its_password() {
    let database = Database::create().await.unwrap();
    // Roles belong to the whole server, which other tests use too.
    let role = format!("Service \"{}\"", database.name());
    for password in ["it's one", "it's another"] {
        let arguments = ["migrate", "--database-url", &database.owner_url(), "--service-role", &role];
        let output = tollgate(&[&arguments[..], &["--service-password", password]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let quoted = role.replace('"', "\"\"");
    let may = |privilege: &str| {
        format!("SELECT has_table_privilege('{quoted}', 'settlements', '{privilege}')").replace("\"\"", "\"")
    };
    assert_eq!(database.value(&may("INSERT")).await.unwrap(), true);
    assert_eq!(database.value(&may("DELETE")).await.unwrap(), false);
    database.execute(&format!("DROP ROLE \"{quoted}\"")).await.unwrap();
}

#[tokio::test]
async fn refuses_a_schema_that_is_not_its_own() {
    let database = Database::create().await.unwrap();
    database.execute("UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1").await.unwrap();
    let output = tollgate(&["migrate", "--database-url", &database.owner_url()]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("has been modified"), "{}", text(&output.stderr));
}

#[test]
fn errors_name_the_variable() {
    let missing = tollgate(&["migrate"]);
    assert!(text(&missing.stderr).contains("--database-url"), "{}", text(&missing.stderr));
    let unreachable = tollgate(&["migrate", "--database-url", "postgres://nobody@127.0.0.1:1/none"]);
    assert!(!unreachable.status.success());
    assert!(text(&unreachable.stderr).contains("DATABASE_URL"), "{}", text(&unreachable.stderr));
}

const SECRET_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

#[tokio::test]
async fn creates_an_administrator_once() {
    let database = Database::create().await.unwrap();
    let create = |arguments: &[&str]| {
        let url = database.app_url();
        let common = ["create-admin", "--database-url", &url, "--email", "Ada@Example.com"];
        tollgate(&[&common, arguments].concat())
    };
    let short = create(&["--password", "short"]);
    assert!(text(&short.stderr).contains("at least 12"), "{}", text(&short.stderr));
    assert!(text(&create(&[]).stderr).contains("TOLLGATE_ADMIN_PASSWORD"));
    let made = create(&["--password", "correct horse battery"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let again = create(&["--password", "correct horse battery"]);
    assert!(text(&again.stderr).contains("already"), "{}", text(&again.stderr));
    assert!(create(&["--password", "correct horse battery", "--if-missing"]).status.success());

    let rows = database.rows("SELECT email, role, status, password_hash FROM users").await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["email"], &rows[0]["role"]), (&"ada@example.com".into(), &"owner".into()));
    assert!(rows[0]["password_hash"].as_str().unwrap().starts_with("$argon2id$"));
    assert_eq!(database.value("SELECT action FROM audit_log WHERE actor = 'cli'").await.unwrap(), "user.create");
}

#[tokio::test]
async fn makes_a_token_whose_secret_is_not_stored() {
    let database = Database::create().await.unwrap();
    let url = database.app_url();
    let make = |arguments: &[&str]| {
        let common = ["create-service-token", "--database-url", &url, "--secret-key", SECRET_KEY, "--name", "billing"];
        tollgate(&[&common, arguments].concat())
    };
    let unknown = make(&["--scope", "tenants:destroy"]);
    assert!(text(&unknown.stderr).contains("tenants:write"), "{}", text(&unknown.stderr));
    assert!(!make(&[]).status.success());
    let made = make(&["--scope", "tenants:write", "--scope", "usage:read", "--json"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let reply: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let secret = reply["secret"].as_str().unwrap();
    assert!(secret.starts_with("tgs_"));
    let row = &database.rows("SELECT * FROM service_tokens").await.unwrap()[0];
    assert_eq!(row["scopes"], serde_json::json!(["tenants:write", "usage:read"]));
    assert!(!row.to_string().contains(secret));
}

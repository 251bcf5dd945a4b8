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

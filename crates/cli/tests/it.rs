//! The program as an operator runs it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use domain::{Amount, KeyId, LimitSet, PeriodLabel, ProjectId, RequestId, Scope, TenantId};
use quota::{Admission, Ask, Freeze, Quota};
use store::accounts::NewAccount;
use testkit::postgres::Database;
use testkit::redis::{Redis, Reply};

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

/// A tenant with 10 credits, a project and a key.
async fn tenant(store: &store::Store, database: &Database) -> (TenantId, ProjectId, KeyId) {
    let (tenant, project, key) = (TenantId::generate(), ProjectId::generate(), KeyId::generate());
    let (t, p, k) = (tenant.uuid(), project.uuid(), key.uuid());
    let rows = format!(
        "INSERT INTO tenants (id, name, unit, time_zone, period_kind) VALUES ('{t}', 'Acme', 'credit', 'UTC', 'month');
         INSERT INTO projects (id, tenant_id, name) VALUES ('{p}', '{t}', 'p');
         INSERT INTO api_keys (id, tenant_id, project_id, name, secret_hash, prefix) VALUES ('{k}', '{t}', '{p}', 'k', '\\x01', 'tg')"
    );
    database.execute(&rows).await.unwrap();
    let mut connection = store.begin().await.unwrap();
    let scopes = [
        (Scope::Tenant(tenant), Some(Amount::new(1_000_000_000).unwrap())),
        (Scope::Project(project, PeriodLabel::none()), None),
        (Scope::Key(key, PeriodLabel::none()), None),
    ];
    for (scope, total) in scopes {
        let (credit_limit, overdraft_limit) = (Amount::ZERO, Amount::ZERO);
        let (overdraft_percent, limits) = (None, LimitSet::default());
        let account =
            NewAccount { scope, tenant_id: tenant, total, credit_limit, overdraft_limit, overdraft_percent, limits };
        store::accounts::create(&mut connection, &account).await.unwrap();
    }
    connection.commit().await.unwrap();
    (tenant, project, key)
}

async fn admit(quota: &Quota, (tenant_id, project_id, key_id): (TenantId, ProjectId, KeyId)) -> Freeze {
    let scopes = vec![
        Scope::Key(key_id, PeriodLabel::none()),
        Scope::Project(project_id, PeriodLabel::none()),
        Scope::Tenant(tenant_id),
    ];
    let (want, need) = (Amount::new(25_000_000).unwrap(), Amount::new(25_000_000).unwrap());
    let (request_id, model) = (RequestId::generate(), "gpt".to_owned());
    let (tokens_want, tokens_need, outage) = (0, 0, Vec::new().into());
    let ask =
        Ask { request_id, tenant_id, project_id, key_id, scopes, want, need, tokens_want, tokens_need, model, outage };
    match quota.admit(ask).await.unwrap() {
        Admission::Admitted(freeze) => freeze,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shows_compares_and_mends_a_tenants_copy() {
    let (database, redis) = (Database::create().await.unwrap(), Redis::start().await.unwrap());
    let (database_url, redis_url) = (database.app_url(), redis.url());
    let servers = ["--database-url", &database_url, "--redis-url", &redis_url];
    let run = |arguments: &[&str]| tollgate(&[arguments, &servers[..]].concat());
    let said = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let loaded = tollgate(&["load-scripts", "--redis-url", &redis_url]);
    assert!(loaded.status.success(), "{}", text(&loaded.stderr));

    let store = store::Store::connect(&store::Config::new(database.app_url(), "test")).await.unwrap();
    let ids = tenant(&store, &database).await;
    let id = ids.0.to_string();
    let mut config = quota::Config::new("gw".to_owned(), redis.url());
    config.recovery_wait = std::time::Duration::from_millis(200);
    let quota = Quota::start(config, store).await.unwrap();
    let freeze = admit(&quota, ids).await;

    let shown = said(&["show", &id]);
    assert!(shown.contains("total 10.00000000, used 0.00000000, frozen 0.25000000, remaining 9.75000000"), "{shown}");
    assert!(shown.contains("1 freezes") && shown.contains(&freeze.request_id().to_string()), "{shown}");
    assert_eq!(said(&["compare"]).trim(), "1 tenants, 3 accounts, 0 wrong");
    let verify = || tollgate(&["verify", "--database-url", &database_url]);
    // The total was written by hand: no grant stands behind it.
    let unbacked = verify();
    assert!(!unbacked.status.success());
    let expected = format!("{id}: total 1000000000, but grants in force are 0");
    assert!(text(&unbacked.stdout).contains(&expected), "{}", text(&unbacked.stdout));

    let Reply::Array(keys) = redis.command(&["KEYS", &format!("tg:*:a:{id}")]).unwrap() else { panic!("no list") };
    let [Reply::Text(account)] = keys.as_slice() else { panic!("{keys:?}") };
    redis.command(&["HSET", account, "used", "1"]).unwrap();
    let wrong = run(&["compare", "--tenant", &id]);
    assert!(!wrong.status.success());
    assert!(text(&wrong.stdout).contains("different") && text(&wrong.stderr).contains("tollgate rebuild"));
    assert!(said(&["rebuild", &id, "--dry-run"]).contains("nothing was done"));
    said(&["rebuild", &id]);
    let next = admit(&quota, ids).await;
    assert_eq!(said(&["compare"]).trim(), "1 tenants, 3 accounts, 0 wrong");

    let request = next.request_id().to_string();
    assert!(said(&["roll-back", &id, &request, "--reason", "stuck"]).contains("0.25000000 given back"));
    assert!(text(&run(&["show", "t_nonsense"]).stderr).contains("t_nonsense"));
    let unknown = run(&["roll-back", &id, &RequestId::generate().to_string(), "--reason", "stuck"]);
    assert!(text(&unknown.stderr).contains("no freeze of req_"), "{}", text(&unknown.stderr));
    drop((freeze, next, quota));
}

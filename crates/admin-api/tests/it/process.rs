//! The program itself: start, first start's token, metrics, wrong settings, end.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::postgres::Database;
use testkit::process::Plan;
use testkit::redis::Redis;

use crate::world::{PASSWORD, secret_key};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tollgate-admin-api");

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_prints_a_token_that_sets_up() {
    let (database, redis) = tokio::join!(Database::create(), Redis::start());
    let (database, redis) = (database.unwrap(), redis.unwrap());
    let plan = || {
        Plan::new(PROGRAM.into())
            .env("DATABASE_URL", database.app_url())
            .env("REDIS_URL", redis.url())
            .env("TOLLGATE_SECRET_KEY", secret_key().to_base64())
    };
    let mut service = plan().start().await.unwrap();
    let log = service.log();
    let token = log.split("one-time token ").nth(1).unwrap().split_whitespace().next().unwrap();
    let body = json!({"token": token, "email": "a@example.com", "password": PASSWORD, "name": "A"});
    let client = reqwest::Client::new();
    let made = client.post(format!("{}/api/v1/setup", service.url())).json(&body).send().await.unwrap();
    assert_eq!(made.status(), 201, "{}", made.text().await.unwrap());
    let metrics = reqwest::get(format!("{}/metrics", service.metrics_url())).await.unwrap().text().await.unwrap();
    assert!(
        metrics.contains("tollgate_admin_calls_total{method=\"POST\",route=\"/api/v1/setup\",status=\"201\"} 1"),
        "{metrics}"
    );
    assert!(service.terminate(Duration::from_secs(10)).await.unwrap().success());
    let log = service.log();
    assert!(!log.contains(PASSWORD) && !log.contains(&secret_key().to_base64()), "no secrets in the log");
    let second = plan().start().await.unwrap();
    assert!(!second.log().contains("one-time token"), "an administrator exists");
    let state: Value = reqwest::get(format!("{}/api/v1/setup", second.url())).await.unwrap().json().await.unwrap();
    assert_eq!(state, json!({"needed": false}));
}

#[test]
fn wrong_settings_stop_the_start_by_name() {
    let key = secret_key().to_base64();
    let good = [
        ("DATABASE_URL", "postgres://tollgate@127.0.0.1:1/x"),
        ("REDIS_URL", "redis://127.0.0.1:1/"),
        ("TOLLGATE_SECRET_KEY", key.as_str()),
        ("TOLLGATE_ADMIN_METRICS_LISTEN", "127.0.0.1:0"),
    ];
    for (name, value, says) in [
        ("TOLLGATE_SECRET_KEY", "short", "TOLLGATE_SECRET_KEY"),
        ("TOLLGATE_ADMIN_LISTEN", "nowhere", "--listen"),
        ("TOLLGATE_PUBLIC_URL", "example", "TOLLGATE_PUBLIC_URL"),
        ("TOLLGATE_LOG", "a=b=c", "TOLLGATE_LOG"),
        ("DATABASE_URL", "mysql://x", "DATABASE_URL"),
    ] {
        let output = Command::new(PROGRAM).env_clear().envs(good).env(name, value).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(says), "{name}={value}: {text}");
    }
}

#[test]
fn a_start_before_postgres_waits_and_ends_when_told_to() {
    let mut service = Command::new(PROGRAM)
        .env_clear()
        .env("DATABASE_URL", "postgres://tollgate@127.0.0.1:1/x")
        .env("REDIS_URL", "redis://127.0.0.1:1/")
        .env("TOLLGATE_SECRET_KEY", secret_key().to_base64())
        .env("TOLLGATE_ADMIN_METRICS_LISTEN", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(service.stdout.take().unwrap()).lines();
    let waits = lines.find(|line| line.as_ref().unwrap().contains("DATABASE_URL: PostgreSQL is not there yet"));
    assert!(waits.is_some(), "it says what it waits for");
    testkit::process::send(testkit::process::signal_name::TERM, service.id()).unwrap();
    assert!(service.wait().unwrap().success());
}

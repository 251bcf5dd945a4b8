//! The program itself: start, first start's token, metrics, wrong settings, end.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::postgres::Database;
use testkit::process::Plan;
use testkit::redis::Redis;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::world::{PASSWORD, Who, World, secret_key};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_commit_and_reply_leaves_a_replay_that_is_equal() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let Who::Bearer(token) = &world.system else { panic!("no token") };
    let (path, body) = (format!("/tenants/{tenant}/grants"), json!({"kind": "gift", "amount": "2.50"}));
    for key in ["first", "second", "third"] {
        let plan = Plan::new(PROGRAM.into())
            .env("DATABASE_URL", world.database.app_url())
            .env("REDIS_URL", world.redis.url())
            .env("TOLLGATE_SECRET_KEY", secret_key().to_base64());
        let mut service = plan.start().await.unwrap();
        let address = service.url().trim_start_matches("http://").to_owned();
        let mut socket = TcpStream::connect(&address).await.unwrap();
        let text = body.to_string();
        let request = format!(
            "POST /api/v1{path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nidempotency-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        // Nobody reads the reply: what was committed is all that is known.
        let committed = format!("SELECT count(*) FROM idempotency_keys WHERE key = '{key}'");
        while world.database.value(&committed).await.unwrap() != json!(1) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        service.kill().unwrap();
        drop(socket);
        let replays = [
            world.post_with_key(&path, &world.system, body.clone(), key).await.expect(201),
            world.post_with_key(&path, &world.system, body.clone(), key).await.expect(201),
        ];
        assert_eq!(replays[0].body, replays[1].body);
        let id: domain::GrantId = replays[0].id().parse().unwrap();
        let made = format!("SELECT count(*) FROM grants WHERE id = '{}'", id.uuid());
        assert_eq!(world.database.value(&made).await.unwrap(), json!(1), "it is the grant of the crashed call");
    }
    let count = "SELECT count(*) FROM grants WHERE kind = 'gift'";
    assert_eq!(world.database.value(count).await.unwrap(), json!(3), "one for each key");
    let quota = world.get(&format!("/tenants/{tenant}/quota"), &world.system).await.expect(200).body;
    assert_eq!(quota["total"], "8.50000000");
}

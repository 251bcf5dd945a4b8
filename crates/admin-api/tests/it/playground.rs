//! The playground: the gateway's answer as it comes, and the key nowhere but on its way.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use domain::api_key::{KeyKind, KeyText};
use futures_util::StreamExt as _;
use http::{HeaderMap, StatusCode};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::postgres::Database;
use testkit::process::Plan;
use testkit::redis::Redis;

use crate::world::{PASSWORD, World, secret_key};

/// What the admin API takes for the gateway: it tells what it was sent. Returns its URL.
pub async fn gateway() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", post(answer)).route("/elsewhere", post(elsewhere));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn elsewhere() -> StatusCode {
    StatusCode::OK
}

async fn answer(headers: HeaderMap, axum::Json(body): axum::Json<Value>) -> Response {
    let key = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    match body["model"].as_str().unwrap_or_default() {
        "stream" => {
            // The second event comes a good while after the first.
            let events = futures_util::stream::iter([0_u64, 400]).then(|ms| async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok::<_, std::io::Error>(format!("data: {ms}\n\n"))
            });
            ([("content-type", "text/event-stream"), ("x-request-id", "req-1")], Body::from_stream(events))
                .into_response()
        }
        "refuse" => {
            let refusal = json!({"error": {"message": "no such key", "code": "invalid_api_key"}});
            (StatusCode::UNAUTHORIZED, axum::Json(refusal)).into_response()
        }
        "quota" => (StatusCode::TOO_MANY_REQUESTS, "x".repeat(100_000)).into_response(),
        "redirect" => (StatusCode::TEMPORARY_REDIRECT, [("location", "/elsewhere")]).into_response(),
        "huge" => Body::from(vec![b'x'; 17 << 20]).into_response(),
        _ => axum::Json(json!({"authorization": key, "body": body, "cookie": headers.contains_key("cookie")}))
            .into_response(),
    }
}

/// An API key's text.
pub fn key() -> String {
    KeyText::generate(KeyKind::Api, &[5; 32]).expose().to_owned()
}

const PATH: &str = "/playground/chat";

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_is_asked_with_the_key_and_answers_as_it_comes() {
    let world = World::start().await;
    let person = world.signed_in("viewer", None).await;
    let chat = |model: &str| json!({"key": key(), "model": model, "messages": [{"role": "user", "content": "hi"}], "temperature": 0.1});
    world.post(PATH, &world.system, chat("m")).await.refused(403, "forbidden");
    let said = world.post(PATH, &person, chat("m")).await.expect(200).body;
    assert_eq!(said["authorization"], format!("Bearer {}", key()));
    let mut sent = chat("m");
    sent.as_object_mut().unwrap().remove("key");
    assert_eq!(
        (&said["body"], &said["cookie"]),
        (&sent, &json!(false)),
        "the key is in no body, the session stays here"
    );

    let response = world.request(Method::POST, PATH, &person).json(&chat("stream")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    assert_eq!(response.headers()["x-gateway-request-id"], "req-1");
    let mut stream = response.bytes_stream();
    let first = stream.next().await.unwrap().unwrap();
    let began = std::time::Instant::now();
    let second = stream.next().await.unwrap().unwrap();
    assert_eq!((first.as_ref(), second.as_ref()), (b"data: 0\n\n".as_ref(), b"data: 400\n\n".as_ref()));
    assert!(began.elapsed() > Duration::from_millis(150), "the first came before the second was there");

    let refused = world.post(PATH, &person, chat("refuse")).await.refused(422, "gateway_refused").body;
    assert_eq!(
        (&refused["detail"], &refused["gateway"]["error"]["code"]),
        (&json!("no such key"), &json!("invalid_api_key"))
    );
    let refused = world.post(PATH, &person, chat("quota")).await.refused(429, "gateway_refused").body;
    assert!(refused["gateway"].as_str().unwrap().len() <= 70_000, "as much as is read of a refusal");
    world.post(PATH, &person, chat("redirect")).await.refused(502, "gateway_refused");
    let huge = world.request(Method::POST, PATH, &person).json(&chat("huge")).send().await.unwrap();
    assert!(huge.bytes().await.is_err(), "an answer without an end is cut off");

    for (body, code) in [
        (json!({"model": "m"}), "required"),
        (json!({"key": 5}), "invalid_type"),
        (json!({"key": "tg_live_x"}), "invalid"),
    ] {
        world.post(PATH, &person, body).await.refused_field("key", code);
    }
    // Nothing that is stored has the key in it.
    let tables =
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')";
    for table in world.database.rows(tables).await.unwrap() {
        let name = table["name"].as_str().unwrap();
        let sql = format!("SELECT count(*) FROM {name} t WHERE t::text LIKE '%{}%'", key());
        assert_eq!(world.database.value(&sql).await.unwrap(), json!(0), "{name}");
    }
    world.post(PATH, &person, chat("no\u{0}model")).await.expect(200);
    let audited = world.database.rows("SELECT after FROM audit_log WHERE action = 'playground.chat'").await.unwrap();
    assert_eq!(audited[0]["after"], json!({"key": &key()[..12], "model": "m"}));
    let away = World::start_with(&["--gateway-internal-url", "http://127.0.0.1:1"]).await;
    let person = away.signed_in("viewer", None).await;
    away.post(PATH, &person, chat("m")).await.refused(503, "unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_has_the_key_in_it() {
    let (database, redis) = tokio::join!(Database::create(), Redis::start());
    let (database, redis) = (database.unwrap(), redis.unwrap());
    let mut service = Plan::new(env!("CARGO_BIN_EXE_tollgate-admin-api").into())
        .env("DATABASE_URL", database.app_url())
        .env("REDIS_URL", redis.url())
        .env("TOLLGATE_SECRET_KEY", secret_key().to_base64())
        .env("TOLLGATE_GATEWAY_URL", gateway().await)
        .env("TOLLGATE_LOG", "debug")
        .start()
        .await
        .unwrap();
    let log = service.log();
    let token = log.split("one-time token ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let client = reqwest::Client::new();
    let url = format!("{}/api/v1", service.url());
    let setup = json!({"token": token, "email": "a@example.com", "password": PASSWORD, "name": "A"});
    assert_eq!(client.post(format!("{url}/setup")).json(&setup).send().await.unwrap().status(), 201);
    let sign_in = json!({"email": "a@example.com", "password": PASSWORD});
    let session = client.post(format!("{url}/session")).json(&sign_in).send().await.unwrap();
    let cookies: Vec<_> =
        session.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap().to_owned()).collect();
    let access = cookies.iter().find(|line| line.starts_with("__Host-tollgate_access=")).unwrap();
    for (model, status) in [("m", 200), ("refuse", 422), ("redirect", 502)] {
        let chat = client.post(format!("{url}{PATH}")).header("cookie", access.split(';').next().unwrap());
        let body = json!({"key": key(), "model": model});
        assert_eq!(chat.header("x-tollgate-csrf", "1").json(&body).send().await.unwrap().status().as_u16(), status);
    }
    assert!(service.terminate(Duration::from_secs(10)).await.unwrap().success());
    let log = service.log();
    assert!(log.contains("playground") && !log.contains(&key()[13..]), "the secret part of the key is logged");
}

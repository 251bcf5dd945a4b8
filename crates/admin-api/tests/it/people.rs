//! Signing in and out, sessions, the first administrator, service tokens.

use std::time::{Duration, Instant};

use domain::api_key;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Answer, PASSWORD, Who, World, secret_key};

const REFRESH: &str = "__Host-tollgate_refresh";
const ACCESS: &str = "__Host-tollgate_access";

async fn refresh(world: &World, token: &str) -> Answer {
    let request = world.request(Method::POST, "/session/refresh", &Who::Nobody).header("x-tollgate-csrf", "1");
    world.send(request.header("cookie", format!("{REFRESH}={token}"))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_and_out() {
    let world = World::start().await;
    let email = world.person("operator", None).await;
    let answer = world.sign_in(&email.to_uppercase()).await.expect(200);
    assert_eq!((&answer.body["user"]["email"], &answer.body["roles"]), (&json!(email), &json!(["operator"])));
    for line in answer.headers.get_all("set-cookie") {
        let line = line.to_str().unwrap();
        for part in ["__Host-", "; Path=/;", "HttpOnly", "Secure", "SameSite=Strict"] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
    let who = Who::Cookie(answer.cookie(ACCESS));
    assert_eq!(world.get("/session", &who).await.expect(200).body["user"]["email"], json!(email));
    let out = world.delete("/session", &who).await.expect(204);
    assert!(out.headers.get_all("set-cookie").iter().all(|line| line.to_str().unwrap().contains("Max-Age=0")));
    world.get("/session", &who).await.refused(401, "unauthenticated");
    refresh(&world, &answer.cookie(REFRESH)).await.refused(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_is_used_once() {
    let world = World::start().await;
    let email = world.person("viewer", None).await;
    let first = world.sign_in(&email).await.expect(200).cookie(REFRESH);
    let renewed = refresh(&world, &first).await.expect(200);
    let (second, access) = (renewed.cookie(REFRESH), renewed.cookie(ACCESS));
    world.get("/session", &Who::Cookie(access.clone())).await.expect(200);
    refresh(&world, &first).await.refused(401, "unauthenticated");
    refresh(&world, &second).await.refused(401, "unauthenticated");
    world.get("/session", &Who::Cookie(access)).await.refused(401, "unauthenticated");
    let bare =
        world.request(Method::POST, "/session/refresh", &Who::Nobody).header("cookie", format!("{REFRESH}={second}"));
    world.send(bare).await.refused(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_taken_away_ends_at_once() {
    let world = World::start().await;
    let who = world.signed_in("operator", None).await;
    world.post("/tenants", &who, json!({"name": "a"})).await.expect(201);
    world.database.execute("UPDATE users SET role = 'viewer' WHERE role = 'operator'").await.unwrap();
    world.post("/tenants", &who, json!({"name": "b"})).await.refused(403, "forbidden");
    world.database.execute("UPDATE users SET status = 'disabled'").await.unwrap();
    world.get("/tenants", &who).await.refused(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_say_the_same_and_are_slowed_down() {
    let world = World::start().await;
    let email = world.person("owner", None).await;
    let try_in = |email: String, password: &str| {
        world.post("/session", &Who::Nobody, json!({"email": email, "password": password}))
    };
    let wrong = try_in(email.clone(), "wrong password").await.refused(401, "bad_credentials");
    let unknown = try_in("nobody@example.com".into(), PASSWORD).await.refused(401, "bad_credentials");
    assert_eq!(wrong.body["detail"], unknown.body["detail"]);
    let mut refused = None;
    for _ in 0..10 {
        let answer = try_in(email.clone(), "wrong password").await;
        if answer.status == 429 {
            refused = Some(answer.refused(429, "too_many_requests"));
            break;
        }
    }
    let seconds: u64 = refused.expect("slowed down").headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=11).contains(&seconds), "{seconds}");
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    world.sign_in(&email).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_takes_json_from_our_own_origin() {
    let world = World::start().await;
    let email = world.person("owner", None).await;
    let body = json!({"email": email, "password": PASSWORD});
    let post = || world.request(Method::POST, "/session", &Who::Nobody);
    world.send(post().json(&body).header("origin", "https://evil.example")).await.refused(403, "forbidden");
    world
        .send(post().body(body.to_string()).header("content-type", "text/plain"))
        .await
        .refused(415, "unsupported_media_type");
    world.send(post().json(&body).header("origin", world.url.clone())).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_administrator_is_created_once() {
    let world = World::start().await;
    let nobody = Who::Nobody;
    assert_eq!(world.get("/setup", &nobody).await.expect(200).body, json!({"needed": true}));
    let mut tx = world.store.begin().await.unwrap();
    let hash = api_key::hash(&secret_key(), "the-token");
    store::setup::add_token(&mut tx, &hash, time::OffsetDateTime::now_utc() + time::Duration::hours(1)).await.unwrap();
    tx.commit().await.unwrap();
    let body = |token: &str, password: &str| json!({"token": token, "email": "Boss@Example.com", "password": password, "name": "Boss"});
    world.post("/setup", &nobody, body("other", PASSWORD)).await.refused(401, "bad_credentials");
    world.post("/setup", &nobody, body("the-token", "short")).await.refused_field("password", "too_short");
    let (one, two) = tokio::join!(
        world.post("/setup", &nobody, body("the-token", PASSWORD)),
        world.post("/setup", &nobody, body("the-token", PASSWORD))
    );
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
    assert_eq!(world.get("/setup", &nobody).await.expect(200).body, json!({"needed": false}));
    world.post("/setup", &nobody, body("the-token", PASSWORD)).await.refused(409, "conflict");
    assert_eq!(world.sign_in("boss@example.com").await.expect(200).body["roles"], json!(["owner"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_token_is_shown_once_and_revoked_at_once() {
    let world = World::start().await;
    let owner = world.signed_in("owner", None).await;
    let body =
        json!({"name": "billing", "scopes": ["tenants:read", "tenants:read"], "expires_at": "2099-01-01T00:00:00Z"});
    let made = world.post("/service-tokens", &owner, body).await.expect(201);
    let token = Who::Bearer(made.body["secret"].as_str().unwrap().to_owned());
    assert_eq!(made.body["scopes"], json!(["tenants:read"]));
    world.get("/tenants", &token).await.expect(200);
    let listed = world.get("/service-tokens", &owner).await.expect(200).body;
    let mine = listed["items"].as_array().unwrap().iter().find(|item| item["id"] == made.body["id"]).unwrap();
    assert_eq!(mine.get("secret"), None);
    assert!(mine["last_used_at"].is_string());
    world.delete(&format!("/service-tokens/{}", made.id()), &owner).await.expect(204);
    world.get("/tenants", &token).await.refused(401, "unauthenticated");
    world.delete(&format!("/service-tokens/{}", made.id()), &owner).await.refused(404, "not_found");
    for (body, field) in [
        (json!({"name": "x", "scopes": []}), "scopes"),
        (json!({"name": "x", "scopes": ["everything"]}), "scopes[0]"),
        (json!({"name": "x", "scopes": ["tenants:read"], "expires_at": "2020-01-01T00:00:00Z"}), "expires_at"),
        (json!({"name": "x", "scopes": ["tenants:read"], "tenant_ids": []}), "tenant_ids"),
        (
            json!({"name": "x", "scopes": ["tenants:read"], "tenant_ids": ["t_00000000000000000000000000"]}),
            "tenant_ids[0]",
        ),
    ] {
        let answer = world.post("/service-tokens", &owner, body).await.refused(422, "invalid_field");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_stored_in_clear() {
    let world = World::start().await;
    let owner = world.signed_in("owner", None).await;
    let sample = crate::samples::Sample::make(&world).await;
    let key =
        world.post(&format!("/projects/{}/keys", sample.project), &owner, json!({"name": "k"})).await.expect(201).body;
    let token =
        world.post("/service-tokens", &owner, json!({"name": "t", "scopes": ["tenants:read"]})).await.expect(201).body;
    let Who::Cookie(access) = &owner else { unreachable!("a cookie") };
    let provider = Value::from("sk-test-0123456789abcdef");
    let secrets = [&key["secret"], &token["secret"], &provider, &Value::from(access.as_str())];
    for table in ["api_keys", "service_tokens", "sessions", "upstreams", "users", "audit_log", "idempotency_keys"] {
        let text =
            world.database.value(&format!("SELECT string_agg(x::text, ' ') FROM {table} x")).await.unwrap().to_string();
        for secret in secrets {
            let secret = secret.as_str().unwrap();
            let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            assert!(!text.contains(secret) && !text.contains(&hex), "a secret in {table}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_hold_nothing() {
    let world = World::start().await;
    let address = world.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = Vec::new();
    let Who::Bearer(token) = &world.system else { unreachable!("a token") };
    for _ in 0..40 {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST /api/v1/tenants HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nidempotency-key: k\r\n\
             content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{"
        );
        tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let began = Instant::now();
    world.get("/tenants", &world.system).await.expect(200);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

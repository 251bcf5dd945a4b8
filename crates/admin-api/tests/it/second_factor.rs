//! Signing in with a second factor.

use reqwest::Method;
use serde_json::{Value, json};

use crate::samples::code;
use crate::world::{Answer, PASSWORD, Who, World};

async fn sign_in(world: &World, email: &str, totp: Value) -> Answer {
    world.post("/session", &Who::Nobody, json!({"email": email, "password": PASSWORD, "totp": totp})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_factor_is_asked_for_once_it_is_confirmed() {
    let world = World::start().await;
    let email = world.person("owner", None).await;
    let who = Who::Cookie(world.sign_in(&email).await.expect(200).cookie("__Host-tollgate_access"));
    let send = |method: Method, body: Value| world.send(world.request(method, "/me/totp", &who).json(&body));
    send(Method::PUT, json!({"code": "000000"})).await.refused(409, "conflict");
    let begun = world.send(world.request(Method::POST, "/me/totp", &who)).await.expect(200).body;
    let secret = begun["secret"].as_str().unwrap();
    assert!(begun["otpauth_url"].as_str().unwrap().contains(secret), "{begun}");
    world.sign_in(&email).await.expect(200);
    // Another beginning takes the place of the first.
    let begun = world.send(world.request(Method::POST, "/me/totp", &who)).await.expect(200).body;
    send(Method::PUT, json!({"code": code(secret, 0)})).await.refused_field("code", "bad_credentials");
    let secret = begun["secret"].as_str().unwrap();
    let confirmed = send(Method::PUT, json!({"code": code(secret, 0)})).await.expect(200).body;
    let codes = confirmed["recovery_codes"].as_array().unwrap().clone();
    assert_eq!(codes.len(), 10);
    world.send(world.request(Method::POST, "/me/totp", &who)).await.refused(409, "conflict");
    assert_eq!(world.get("/session", &who).await.body["user"]["totp"], json!(true));

    sign_in(&world, &email, Value::Null).await.refused(401, "totp_required");
    sign_in(&world, &email, json!("")).await.refused(401, "totp_required");
    let wrong = world.post("/session", &Who::Nobody, json!({"email": email, "password": "wrong password"})).await;
    wrong.refused(401, "bad_credentials");
    sign_in(&world, &email, json!(code(secret, 0))).await.refused(401, "bad_credentials");
    let next = code(secret, 1);
    sign_in(&world, &email, json!(format!("{} {}", &next[..3], &next[3..]))).await.expect(200);
    sign_in(&world, &email, json!(next)).await.refused(401, "bad_credentials");
    sign_in(&world, &email, codes[0].clone()).await.expect(200);
    sign_in(&world, &email, codes[0].clone()).await.refused(401, "bad_credentials");
    sign_in(&world, &email, json!("zzzz-zzzz-zzzz-zzzz")).await.refused(401, "bad_credentials");

    send(Method::DELETE, json!({"code": codes[0]})).await.refused_field("code", "bad_credentials");
    let typed = codes[1].as_str().unwrap().to_uppercase().replace('-', " ");
    send(Method::DELETE, json!({"code": typed})).await.expect(204);
    world.sign_in(&email).await.expect(200);
    let left = world.database.value("SELECT count(*) FROM recovery_codes").await.unwrap();
    assert_eq!(left, json!(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_are_tried_slowly_and_an_owner_helps_who_lost_theirs() {
    let world = World::start().await;
    let boss = world.signed_in("owner", None).await;
    let email = world.person("operator", None).await;
    let session = world.sign_in(&email).await.expect(200);
    let who = Who::Cookie(session.cookie("__Host-tollgate_access"));
    let begun = world.send(world.request(Method::POST, "/me/totp", &who)).await.expect(200).body;
    let first = json!({"code": code(begun["secret"].as_str().unwrap(), 0)});
    world.send(world.request(Method::PUT, "/me/totp", &who).json(&first)).await.expect(200);
    let mut tries = 0;
    while sign_in(&world, &email, json!("123456")).await.status == 401 {
        tries += 1;
        assert!(tries < 20, "guesses are not slowed down");
    }
    assert_eq!(tries, 10);
    let path = format!("/users/{}", session.body["user"]["id"].as_str().unwrap());
    let change = |who: &Who, body: Value| world.send(world.request(Method::PATCH, &path, who).json(&body));
    change(&boss, json!({"totp": true})).await.refused_field("totp", "invalid");
    assert_eq!(change(&boss, json!({"totp": false})).await.expect(200).body["totp"], json!(false));
    world.sign_in(&email).await.expect(200);
    let own = format!("/users/{}", world.get("/session", &boss).await.body["user"]["id"].as_str().unwrap());
    world.send(world.request(Method::PATCH, &own, &boss).json(&json!({"totp": false}))).await.refused(409, "conflict");
}

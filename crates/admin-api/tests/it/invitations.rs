//! People come by invitation, and get back in by a mailed link.

use domain::TenantId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Answer, PASSWORD, Who, World, secret_key};

const ACCESS: &str = "__Host-tollgate_access";
const OTHER: &str = "another horse battery";

/// The token of the only mail of that kind that waits, as the mail would carry it.
async fn mailed(world: &World, purpose: &str) -> String {
    let sql = format!(
        "SELECT m.id, encode(m.sealed_secret, 'hex') AS sealed FROM mailed_tokens m JOIN mail_deliveries d ON d.token_id = m.id
         WHERE m.purpose = '{purpose}' AND d.state = 'pending'"
    );
    let rows = world.database.rows(&sql).await.unwrap();
    assert_eq!(rows.len(), 1, "mails with a token for {purpose}");
    let hex = rows[0]["sealed"].as_str().unwrap();
    let sealed: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    store::seal::Sealer::new(&secret_key()).open(rows[0]["id"].as_str().unwrap(), &sealed).unwrap()
}

async fn put(world: &World, path: &str, who: &Who, body: Value) -> Answer {
    world.send(world.request(Method::PUT, path, who).json(&body)).await
}

async fn patch(world: &World, path: &str, who: &Who, body: Value) -> Answer {
    world.send(world.request(Method::PATCH, path, who).json(&body)).await
}

async fn sign_in(world: &World, email: &str, password: &str) -> Answer {
    world.post("/session", &Who::Nobody, json!({"email": email, "password": password})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invited_person_sets_a_password_once_and_is_in() {
    let world = World::start().await;
    let owner = world.signed_in("owner", None).await;
    let tenant = world.tenant("Acme", "1").await.id();
    let body = json!({"email": "New@Example.com", "role": "tenant_owner", "tenant_id": tenant, "locale": "zh"});
    let made = world.post("/users", &owner, body.clone()).await.expect(201);
    assert_eq!(
        [&made.body["email"], &made.body["status"], &made.body["tenant_id"], &made.body["locale"]],
        ["new@example.com", "invited", &*tenant, "zh"]
    );
    let taken = world.post("/users", &owner, body).await.refused(409, "already_exists");
    assert_eq!(taken.body["errors"][0]["field"], "email");
    let token = mailed(&world, "invitation").await;
    let open = |path: &'static str, token: &str| {
        let body = json!({"token": token, "name": "New", "password": PASSWORD});
        let body = if path.ends_with("look-up") { json!({"token": token}) } else { body };
        world.request(Method::POST, path, &Who::Nobody).json(&body)
    };
    world.send(open("/invitations/look-up", "wrong")).await.refused(401, "bad_credentials");
    for _ in 0..2 {
        let shown = world.send(open("/invitations/look-up", &token)).await.expect(200).body;
        assert_eq!((&shown["email"], &shown["role"]), (&json!("new@example.com"), &json!("tenant_owner")));
    }
    sign_in(&world, "new@example.com", PASSWORD).await.refused(401, "bad_credentials");
    let short = json!({"token": token, "name": "New", "password": "short"});
    world.post("/invitations/accept", &Who::Nobody, short).await.refused_field("password", "too_short");
    let (one, two) =
        tokio::join!(world.send(open("/invitations/accept", &token)), world.send(open("/invitations/accept", &token)));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401], "{} {}", one.body, two.body);
    let session = sign_in(&world, "new@example.com", PASSWORD).await.expect(200).body;
    assert_eq!((&session["user"]["name"], &session["tenant_id"]), (&json!("New"), &json!(tenant)));
    let left = world.database.value("SELECT count(*) FROM mailed_tokens").await.unwrap();
    assert_eq!(left, json!(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_of_a_tenant_manages_its_people_alone() {
    let world = World::start().await;
    let (mine, theirs) = (world.tenant("mine", "1").await.id(), world.tenant("theirs", "1").await.id());
    let id = |text: &str| text.parse::<TenantId>().unwrap();
    let boss = world.signed_in("tenant_owner", Some(id(&mine))).await;
    let stranger = world.person("tenant_viewer", Some(id(&theirs))).await;
    let platform = world.person("operator", None).await;
    let invite = |role: &str, tenant: Option<&str>| json!({"email": format!("{role}x@example.com"), "role": role, "tenant_id": tenant});
    let made = world.post("/users", &boss, invite("tenant_viewer", None)).await.expect(201);
    assert_eq!(made.body["tenant_id"], json!(mine));
    world.post("/users", &boss, invite("tenant_owner", Some(&theirs))).await.refused_field("tenant_id", "not_found");
    world.post("/users", &boss, invite("owner", None)).await.refused_field("role", "invalid");
    let listed = world.get("/users", &boss).await.expect(200).body;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{listed}");
    world.get(&format!("/users?tenant_id={theirs}"), &boss).await.refused(404, "not_found");
    for email in [stranger, platform] {
        let uuid = world.database.value(&format!("SELECT id FROM users WHERE email = '{email}'")).await.unwrap();
        let user = domain::ids::UserId::from_uuid(uuid.as_str().unwrap().parse().unwrap());
        patch(&world, &format!("/users/{user}"), &boss, json!({"name": "x"})).await.refused(404, "not_found");
        world.delete(&format!("/users/{user}"), &boss).await.refused(404, "not_found");
    }
    let path = format!("/users/{}", made.id());
    patch(&world, &path, &boss, json!({"role": "viewer"})).await.refused_field("role", "invalid");
    patch(&world, &path, &boss, json!({"status": "invited"})).await.refused_field("status", "invalid");
    let changed = patch(&world, &path, &boss, json!({"role": "tenant_owner", "locale": "zh"})).await.expect(200).body;
    assert_eq!((&changed["role"], &changed["locale"]), (&json!("tenant_owner"), &json!("zh")));
    world.delete(&path, &boss).await.expect(204);
    // The invitation went with the person.
    assert_eq!(world.database.value("SELECT count(*) FROM mail_deliveries").await.unwrap(), json!(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_owner_stays_one() {
    let world = World::start().await;
    let one = world.signed_in("owner", None).await;
    let me = world.get("/session", &one).await.body["user"]["id"].as_str().unwrap().to_owned();
    let path = format!("/users/{me}");
    for change in [json!({"role": "viewer"}), json!({"status": "disabled"})] {
        patch(&world, &path, &one, change).await.refused(409, "conflict");
    }
    world.delete(&path, &one).await.refused(409, "conflict");
    // Two owners who demote each other at the same time: one remains.
    let two = world.signed_in("owner", None).await;
    let other = world.get("/session", &two).await.body["user"]["id"].as_str().unwrap().to_owned();
    let other = format!("/users/{other}");
    let (a, b) = tokio::join!(
        patch(&world, &other, &one, json!({"role": "viewer"})),
        patch(&world, &path, &two, json!({"role": "viewer"}))
    );
    let done = [a.status.as_u16(), b.status.as_u16()].iter().filter(|status| **status == 200).count();
    assert_eq!(done, 1, "{} {}", a.body, b.body);
    let owners = world.database.value("SELECT count(*) FROM users WHERE role = 'owner'").await.unwrap();
    assert_eq!(owners, json!(1));
    // A tenant's last owner may be removed by the platform, not by themselves.
    let tenant: TenantId = world.tenant("t", "1").await.id().parse().unwrap();
    let boss = world.signed_in("tenant_owner", Some(tenant)).await;
    let boss_path = format!("/users/{}", world.get("/session", &boss).await.body["user"]["id"].as_str().unwrap());
    world.delete(&boss_path, &boss).await.refused(409, "conflict");
    let third = world.signed_in("owner", None).await;
    patch(&world, &boss_path, &third, json!({"status": "disabled"})).await.expect(200);
    world.get("/session", &boss).await.refused(401, "unauthenticated");
    patch(&world, &boss_path, &third, json!({"status": "active"})).await.expect(200);
    world.get("/session", &boss).await.refused(401, "unauthenticated");
    world.delete(&boss_path, &third).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_password_is_replaced_by_a_mailed_link() {
    let world = World::start().await;
    let email = world.person("operator", None).await;
    let session = Who::Cookie(sign_in(&world, &email, PASSWORD).await.expect(200).cookie(ACCESS));
    let ask =
        |email: &str| world.request(Method::POST, "/password-resets", &Who::Nobody).json(&json!({"email": email}));
    let began = std::time::Instant::now();
    let (known, unknown) = tokio::join!(world.send(ask(&email.to_uppercase())), world.send(ask("nobody@example.com")));
    assert_eq!((known.status.as_u16(), unknown.status.as_u16()), (202, 202));
    assert_eq!(known.body, unknown.body);
    assert!(began.elapsed().as_millis() >= 250, "time tells nothing");
    world.send(ask(&email)).await.expect(202);
    let token = mailed(&world, "password_reset").await;
    let reset = |token: &str, password: &str| json!({"token": token, "password": password});
    put(&world, "/password-resets", &Who::Nobody, reset("wrong", OTHER)).await.refused(401, "bad_credentials");
    put(&world, "/password-resets", &Who::Nobody, reset(&token, "short")).await.refused_field("password", "too_short");
    put(&world, "/password-resets", &Who::Nobody, reset(&token, OTHER)).await.expect(200);
    put(&world, "/password-resets", &Who::Nobody, reset(&token, OTHER)).await.refused(401, "bad_credentials");
    world.get("/session", &session).await.refused(401, "unauthenticated");
    sign_in(&world, &email, PASSWORD).await.refused(401, "bad_credentials");
    sign_in(&world, &email, OTHER).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_end() {
    let world = World::start().await;
    let email = world.person("operator", None).await;
    let ask = world.request(Method::POST, "/password-resets", &Who::Nobody).json(&json!({"email": email}));
    world.send(ask).await.expect(202);
    let token = mailed(&world, "password_reset").await;
    let wrong_purpose = json!({"token": token});
    world.post("/invitations/look-up", &Who::Nobody, wrong_purpose).await.refused(401, "bad_credentials");
    world.database.execute("UPDATE mailed_tokens SET expires_at = now() - interval '1 second'").await.unwrap();
    let body = json!({"token": token, "password": OTHER});
    put(&world, "/password-resets", &Who::Nobody, body).await.refused(401, "bad_credentials");
    sign_in(&world, &email, PASSWORD).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_password_ends_the_other_sessions() {
    let world = World::start().await;
    let email = world.person("tenant_viewer", Some(world.tenant("t", "1").await.id().parse().unwrap())).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(Who::Cookie(sign_in(&world, &email, PASSWORD).await.expect(200).cookie(ACCESS)));
    }
    let listed = world.get("/me/sessions", &sessions[2]).await.expect(200).body;
    let listed = listed["items"].as_array().unwrap();
    assert_eq!(listed.len(), 3);
    assert_eq!((&listed[0]["current"], &listed[1]["current"]), (&json!(true), &json!(false)));
    assert_eq!(listed[0]["address"], "127.0.0.1");
    // The session in the middle is ended by hand.
    let middle = format!("/me/sessions/{}", listed[1]["id"].as_str().unwrap());
    world.delete(&middle, &sessions[2]).await.expect(204);
    world.delete(&middle, &sessions[2]).await.refused(404, "not_found");
    world.get("/session", &sessions[1]).await.refused(401, "unauthenticated");
    let change = |current: &str, new: &str| json!({"current": current, "new": new});
    put(&world, "/me/password", &sessions[2], change("wrong", OTHER)).await.refused_field("current", "bad_credentials");
    put(&world, "/me/password", &sessions[2], change(PASSWORD, "short")).await.refused_field("new", "too_short");
    put(&world, "/me/password", &sessions[2], change(PASSWORD, OTHER)).await.expect(200);
    world.get("/session", &sessions[0]).await.refused(401, "unauthenticated");
    world.get("/session", &sessions[2]).await.expect(200);
    sign_in(&world, &email, PASSWORD).await.refused(401, "bad_credentials");
}

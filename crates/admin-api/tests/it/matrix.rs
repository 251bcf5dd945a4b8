//! Every operation of the OpenAPI document, called by every kind of caller.

use domain::api_key::{KeyKind, KeyText};
use reqwest::Method;
use serde_json::Value;

use crate::samples::{Sample, body, prepare, prepare_person};
use crate::world::{Answer, Who, World, all_scopes};

/// An operation of the document.
struct Operation {
    id: String,
    method: Method,
    path: String,
    callers: Value,
}

impl Operation {
    fn roles(&self) -> Vec<&str> {
        self.callers["roles"].as_array().unwrap().iter().map(|role| role.as_str().unwrap()).collect()
    }

    fn scopes(&self) -> Vec<String> {
        self.callers["scopes"].as_array().unwrap().iter().map(|scope| scope.as_str().unwrap().to_owned()).collect()
    }

    fn platform(&self) -> bool {
        self.callers["platform"].as_bool().unwrap()
    }

    /// True where the path names something of a tenant.
    fn of_tenant(&self) -> bool {
        // The key that usage is charged to stands in the body.
        let parts = ["{t}", "{p}", "{k}", "{g}", "{req}", "{w}", "{usr}", "{ses}"];
        self.id == "ingest_usage" || parts.iter().any(|part| self.path.contains(part))
    }

    /// True where it is about the caller, who is changed by it.
    fn of_caller(&self) -> bool {
        self.id == "sign_out" || self.path.starts_with("/me/")
    }

    /// One entry says who did what, from where, and how it was or is: before a change, after a creation, both in between.
    async fn assert_audited(&self, world: &World, last: i64) {
        let entries = world.database.rows(&format!("SELECT * FROM audit_log WHERE id > {last}")).await.unwrap();
        let entries: Vec<_> = entries.iter().filter(|entry| entry["actor"] != "reconciler").collect();
        let [entry] = entries.as_slice() else { panic!("{}: {entries:?}", self.id) };
        assert_eq!(entry["address"], "127.0.0.1", "{}", self.id);
        for field in ["actor", "action", "target", "request_id"] {
            assert!(entry[field].as_str().is_some_and(|text| !text.is_empty()), "{} {field}: {entry}", self.id);
        }
        let (before, after) = (!entry["before"].is_null(), !entry["after"].is_null());
        let said = match self.method {
            Method::DELETE => before,
            Method::PATCH => before && after,
            _ => after,
        };
        assert!(said, "{}: before {before}, after {after}", self.id);
    }

    async fn call(&self, world: &World, sample: &Sample, who: &Who) -> Answer {
        self.call_with(world, sample, who, body(&self.id, sample)).await
    }

    async fn call_with(&self, world: &World, sample: &Sample, who: &Who, body: Option<Value>) -> Answer {
        let request = world.request(self.method.clone(), &sample.path(&self.path), who);
        let request = request.header("idempotency-key", uuid::Uuid::now_v7().to_string()).header("if-match", "*");
        world
            .send(match body {
                Some(body) => request.json(&body),
                None => request,
            })
            .await
    }
}

/// The number of the audit log's last entry.
async fn last_entry(world: &World) -> i64 {
    world.database.value("SELECT coalesce(max(id), 0) FROM audit_log").await.unwrap().as_i64().unwrap()
}

async fn operations(world: &World) -> (Vec<Operation>, Vec<String>) {
    let document = world.get("/openapi.json", &Who::Nobody).await.expect(200).body;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["title"], "Tollgate admin API");
    assert!(document["info"].get("contact").is_none(), "{}", document["info"]);
    let (mut guarded, mut open) = (Vec::new(), Vec::new());
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let (id, callers) = (operation["operationId"].as_str().unwrap().to_owned(), operation["x-callers"].clone());
            if callers["anyone"] == true {
                open.push(id);
                continue;
            }
            assert!(callers.is_object(), "{id} does not say who may call it");
            let path = path.strip_prefix("/api/v1").unwrap().to_owned();
            guarded.push(Operation { id, method: method.to_uppercase().parse().unwrap(), path, callers });
        }
    }
    (guarded, open)
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_and_strangers_get_401() {
    let world = World::start().await;
    let sample = Sample::make(&world).await;
    let (guarded, mut open) = operations(&world).await;
    open.sort();
    assert_eq!(
        open,
        [
            "accept_invitation",
            "look_up_invitation",
            "read_setup",
            "refresh_session",
            "request_password_reset",
            "reset_password",
            "set_up",
            "sign_in"
        ],
        "an operation that anyone may call must be meant so"
    );
    assert!(guarded.len() >= 40, "{}", guarded.len());
    let project = format!("/projects/{}/keys", sample.project);
    let api_key =
        world.post(&project, &world.system, serde_json::json!({"name": "x"})).await.expect(201).body["secret"].clone();
    let made_up = KeyText::generate(KeyKind::Service, &[3; 32]);
    let strangers = [
        Who::Nobody,
        Who::Bearer(String::new()),
        Who::Bearer("tgs_short".to_owned()),
        Who::Bearer(made_up.expose().to_owned()),
        Who::Bearer(api_key.as_str().unwrap().to_owned()),
        Who::Cookie("a.b.c".to_owned()),
    ];
    for operation in &guarded {
        for who in &strangers {
            let answer = operation.call(&world, &sample, who).await;
            assert_eq!(answer.status, 401, "{} by {who:?}: {}", operation.id, answer.body);
            answer.refused(401, "unauthenticated");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_need_one_of_the_roles() {
    let world = World::start().await;
    let (guarded, _) = operations(&world).await;
    let shared = Sample::make(&world).await;
    for role in ["owner", "operator", "viewer", "tenant_owner", "tenant_viewer"] {
        let of_tenant = role.starts_with("tenant_");
        let foreign = if of_tenant { Some(world.tenant("other", "1").await.id().parse().unwrap()) } else { None };
        let stranger = world.signed_in(role, foreign).await;
        for operation in &guarded {
            if !operation.roles().contains(&role) {
                let answer = operation.call(&world, &shared, &stranger).await;
                assert_eq!(answer.status, 403, "{} by {role}: {}", operation.id, answer.body);
                answer.refused(403, "forbidden");
                continue;
            }
            if of_tenant && operation.of_tenant() {
                let answer = operation.call(&world, &shared, &stranger).await;
                assert_eq!(answer.status, 404, "{} by a foreign {role}: {}", operation.id, answer.body);
                answer.refused(404, "not_found");
            }
            let mut sample = Sample::make(&world).await;
            let own = of_tenant.then(|| sample.tenant_id());
            let who =
                if of_tenant || operation.of_caller() { world.signed_in(role, own).await } else { stranger.clone() };
            prepare(&world, &operation.id, &sample).await;
            let prepared = prepare_person(&world, &operation.id, &mut sample, &who).await;
            let body = prepared.or_else(|| body(&operation.id, &sample));
            let last = last_entry(&world).await;
            let answer = operation.call_with(&world, &sample, &who, body).await;
            assert!(answer.status.is_success(), "{} by {role}: {}", operation.id, answer.body);
            if role == "owner" && operation.method != Method::GET {
                operation.assert_audited(&world, last).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn service_tokens_need_one_of_the_scopes() {
    let world = World::start().await;
    let (guarded, _) = operations(&world).await;
    let shared = Sample::make(&world).await;
    let other = Sample::make(&world).await;
    for operation in &guarded {
        let needed = operation.scopes();
        let others: Vec<String> = all_scopes().into_iter().filter(|scope| !needed.contains(scope)).collect();
        let answer = operation.call(&world, &shared, &world.token(&others, None).await).await;
        assert_eq!(answer.status, 403, "{} with every other scope: {}", operation.id, answer.body);
        for scope in &needed {
            let only = [scope.clone()];
            let limited = world.token(&only, Some(&[other.tenant_id()])).await;
            let answer = operation.call(&world, &shared, &limited).await;
            let expected = if operation.platform() {
                403
            } else if operation.id == "create_webhook" {
                // Of the only tenant that the token may see.
                201
            } else if operation.of_tenant() {
                404
            } else {
                200
            };
            assert_eq!(answer.status, expected, "{} with {scope} for another tenant: {}", operation.id, answer.body);
            let sample = Sample::make(&world).await;
            prepare(&world, &operation.id, &sample).await;
            let answer = operation.call(&world, &sample, &world.token(&only, None).await).await;
            assert!(answer.status.is_success(), "{} with {scope}: {}", operation.id, answer.body);
            if !operation.platform() {
                let sample = Sample::make(&world).await;
                prepare(&world, &operation.id, &sample).await;
                let answer =
                    operation.call(&world, &sample, &world.token(&only, Some(&[sample.tenant_id()])).await).await;
                assert!(answer.status.is_success(), "{} with {scope} for its tenant: {}", operation.id, answer.body);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_by_cookie_need_our_own_page() {
    let world = World::start().await;
    let (guarded, _) = operations(&world).await;
    let sample = Sample::make(&world).await;
    let Who::Cookie(token) = world.signed_in("owner", None).await else { unreachable!("a cookie") };
    for operation in guarded.iter().filter(|operation| operation.method != Method::GET) {
        let answer = operation.call(&world, &sample, &Who::BareCookie(token.clone())).await;
        assert_eq!(answer.status, 403, "{} without X-Tollgate-Csrf: {}", operation.id, answer.body);
        let request =
            world.request(operation.method.clone(), &sample.path(&operation.path), &Who::Cookie(token.clone()));
        let answer = world.send(request.header("origin", "https://evil.example")).await;
        assert_eq!(answer.status, 403, "{} from another origin: {}", operation.id, answer.body);
    }
}

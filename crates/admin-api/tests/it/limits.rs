//! Limits of tenants, projects and keys: read field by field, in force at return, kept out of what they do not name.

use domain::{KeyId, Level, PeriodLabel, ProjectId, RequestId, Scope, TenantId};
use quota::{Admission, Ask, Quota};
use serde_json::{Value, json};

use crate::world::World;

fn none() -> Value {
    json!({"rpm": null, "rpd": null, "tpm": null, "tpd": null, "in_flight": null, "max_per_request": null})
}

/// `none` with these over it.
fn limits(some: Value) -> Value {
    let mut all = none();
    all.as_object_mut().unwrap().extend(some.as_object().unwrap().clone());
    all
}

struct Ids {
    tenant: String,
    project: String,
    key: String,
}

async fn chain(world: &World) -> Ids {
    let tenant = world.tenant("a", "5").await.id();
    let project = world.post(&format!("/tenants/{tenant}/projects"), &world.system, json!({"name": "p"})).await;
    let project = project.expect(201).id();
    let key = world.post(&format!("/projects/{project}/keys"), &world.system, json!({"name": "k"})).await;
    Ids { tenant, project, key: key.expect(201).id() }
}

impl Ids {
    fn ask(&self) -> Ask {
        let (tenant_id, project_id, key_id): (TenantId, ProjectId, KeyId) =
            (self.tenant.parse().unwrap(), self.project.parse().unwrap(), self.key.parse().unwrap());
        let period = PeriodLabel::none;
        Ask {
            request_id: RequestId::generate(),
            tenant_id,
            project_id,
            key_id,
            scopes: vec![Scope::Key(key_id, period()), Scope::Project(project_id, period()), Scope::Tenant(tenant_id)],
            want: domain::Amount::new(100).unwrap(),
            need: domain::Amount::new(100).unwrap(),
            tokens_want: 80,
            tokens_need: 30,
            model: "m".to_owned(),
            outage: Vec::new().into(),
        }
    }
}

async fn gateway(world: &World, name: &str) -> Quota {
    let mut config = quota::Config::new(name, world.redis.url());
    config.recovery_wait = std::time::Duration::from_millis(300);
    config.ledger.command_timeout = std::time::Duration::from_secs(2);
    Quota::start(config, world.store.clone()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_in_force_on_every_gateway_at_return() {
    let world = World::start().await;
    let ids = chain(&world).await;
    let gateways = [gateway(&world, "one").await, gateway(&world, "two").await];
    let mut running = Vec::new();
    for gateway in &gateways {
        match gateway.admit(ids.ask()).await.unwrap() {
            Admission::Admitted(freeze) => running.push(freeze),
            other => panic!("{other:?}"),
        }
    }
    let (tenant, project, key) =
        (format!("/tenants/{}", ids.tenant), format!("/projects/{}", ids.project), format!("/keys/{}", ids.key));
    for (level, path, body, lifted) in [
        (Level::Key, &key, json!({"limits": {"in_flight": 2}}), json!({"limits": {"in_flight": null}})),
        (Level::Project, &project, json!({"limits": {"in_flight": 2}}), json!({"limits": null})),
        (
            Level::Tenant,
            &tenant,
            json!({"settings": {"limits": {"in_flight": 1}}}),
            json!({"settings": {"limits": {"in_flight": null}}}),
        ),
        (
            Level::Project,
            &project,
            json!({"limits": {"max_per_request": "0.00000099"}}),
            json!({"limits": {"max_per_request": null}}),
        ),
    ] {
        let changed = world.patch(path, &world.system, "*", body).await.expect(200);
        assert_eq!(changed.body["in_force"], true);
        for gateway in &gateways {
            match gateway.admit(ids.ask()).await.unwrap() {
                Admission::Refused(refusal) => assert_eq!(refusal.level, level, "{refusal:?}"),
                other => panic!("{level}: {other:?}"),
            }
        }
        assert_eq!(world.patch(path, &world.system, "*", lifted).await.expect(200).body["in_force"], true);
        for gateway in &gateways {
            match gateway.admit(ids.ask()).await.unwrap() {
                Admission::Admitted(freeze) => drop(freeze),
                other => panic!("{level}: {other:?}"),
            }
        }
    }
    drop(running);
    for gateway in gateways {
        assert_eq!(gateway.shutdown(std::time::Duration::from_secs(10)).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_read_shown_and_patched() {
    let world = World::start().await;
    let settings = json!({"limits": {"rpm": 60, "max_per_request": "0.5"}});
    let body = json!({"name": "a", "plan": {"amount": "5"}, "settings": settings});
    let tenant = world.post("/tenants", &world.system, body).await.expect(201);
    assert_eq!(tenant.body["settings"]["limits"], limits(json!({"rpm": 60, "max_per_request": "0.50000000"})));
    let path = format!("/tenants/{}", tenant.id());
    let patch = json!({"settings": {"limits": {"rpm": null, "tpd": 7}, "hard_stop": true}});
    let changed = world.patch(&path, &world.system, "*", patch).await.expect(200);
    assert_eq!(changed.body["settings"]["limits"], limits(json!({"tpd": 7, "max_per_request": "0.50000000"})));
    let changed = world.patch(&path, &world.system, "*", json!({"name": "b"})).await.expect(200);
    assert_eq!(changed.body["settings"]["limits"]["tpd"], 7, "what a patch does not name stays");

    let body = json!({"name": "p", "limits": {"in_flight": 3}, "budget": {"amount": "3", "period": "month"}});
    let project = world.post(&format!("{path}/projects"), &world.system, body).await.expect(201);
    assert_eq!(project.body["limits"], limits(json!({"in_flight": 3})));
    let place = format!("/projects/{}", project.id());
    let etag = project.headers["etag"].to_str().unwrap().to_owned();
    let changed =
        world.patch(&place, &world.system, &etag, json!({"name": "q", "limits": {"rpd": 9}})).await.expect(200);
    assert_eq!(
        (&changed.body["name"], &changed.body["limits"]),
        (&json!("q"), &limits(json!({"in_flight": 3, "rpd": 9})))
    );
    world.patch(&place, &world.system, &etag, json!({"name": "r"})).await.refused(412, "precondition_failed");

    let body = json!({"name": "k", "limits": {"tpm": 100}});
    let key = world.post(&format!("{place}/keys"), &world.system, body).await.expect(201);
    let place = format!("/keys/{}", key.id());
    let patch = json!({"limits": {"rpm": 5}, "ip_ranges": ["192.0.2.7"], "safety_factor": "1.2", "expires_at": "2099-01-01T00:00:00Z"});
    let changed = world.patch(&place, &world.system, "*", patch).await.expect(200).body;
    assert_eq!(changed["limits"], limits(json!({"rpm": 5, "tpm": 100})));
    assert_eq!(
        (&changed["ip_ranges"], &changed["expires_at"]),
        (&json!(["192.0.2.7/32"]), &json!("2099-01-01T00:00:00Z"))
    );
    let cleared = world
        .patch(&place, &world.system, "*", json!({"ip_ranges": null, "expires_at": null, "limits": {"rpm": 5}}))
        .await;
    let cleared = cleared.expect(200).body;
    assert_eq!(
        (&cleared["ip_ranges"], &cleared["expires_at"], &cleared["name"]),
        (&json!(null), &json!(null), &json!("k"))
    );
    let read = world.get(&place, &world.system).await.expect(200).body;
    let windows: Vec<_> = read["windows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|window| (&window["name"], &window["limit"], &window["used"]))
        .collect();
    assert_eq!(windows, [(&json!("rpm"), &json!("5"), &json!("0")), (&json!("tpm"), &json!("100"), &json!("0"))]);
    for (place, first) in [(&path, ("tpd", "7")), (&format!("/projects/{}", project.id()), ("rpd", "9"))] {
        let windows = world.get(place, &world.system).await.expect(200).body["windows"].clone();
        assert_eq!((&windows[0]["name"], &windows[0]["limit"]), (&json!(first.0), &json!(first.1)), "{place}");
    }

    // The accounts of later periods begin with them too.
    let stored = world.database.rows("SELECT limits FROM accounts WHERE level = 'project'").await.unwrap();
    assert_eq!(stored[0]["limits"], ",9,,,3,");
    let audit = world
        .database
        .rows("SELECT action FROM audit_log WHERE action IN ('project.change', 'key.change')")
        .await
        .unwrap();
    assert_eq!(audit.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_field_says_what_is_wrong() {
    let world = World::start().await;
    let ids = chain(&world).await;
    let (project, key) = (format!("/projects/{}", ids.project), format!("/keys/{}", ids.key));
    let projects = format!("/tenants/{}/projects", ids.tenant);
    for (limits, field, code) in [
        (json!({"rpm": 0}), "limits.rpm", "out_of_range"),
        (json!({"tpm": -1}), "limits.tpm", "invalid"),
        (json!({"tpd": 1.5}), "limits.tpd", "invalid"),
        (json!({"in_flight": "many"}), "limits.in_flight", "invalid"),
        (json!({"rpd": 9_007_199_254_740_992_u64}), "limits.rpd", "out_of_range"),
        (json!({"max_per_request": "-1"}), "limits.max_per_request", "out_of_range"),
        (json!({"max_per_request": 0.5}), "limits.max_per_request", "invalid"),
        (json!({"rps": 1}), "limits.rps", "unknown"),
        (json!([]), "limits", "invalid"),
        (json!("x"), "limits", "invalid"),
    ] {
        let body = json!({"name": "x", "limits": limits});
        world.post(&projects, &world.system, body.clone()).await.refused_field(field, code);
        world.patch(&project, &world.system, "*", body.clone()).await.refused_field(field, code);
        world.patch(&key, &world.system, "*", body).await.refused_field(field, code);
        let settings = json!({"name": "x", "settings": {"limits": limits}});
        let field = format!("settings.{field}");
        world.post("/tenants", &world.system, settings).await.refused_field(&field, code);
    }
    world.patch(&key, &world.system, "*", json!({"models": ["nothing"]})).await.refused_field("models", "not_found");
    world.patch(&key, &world.system, "*", json!({"budget": null})).await.refused_field("budget", "unknown_field");
}

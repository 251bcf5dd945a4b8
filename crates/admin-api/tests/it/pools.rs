//! Shared pools by the API: members, their guarantees, joining and leaving.

use domain::{KeyId, PeriodLabel, PoolId, ProjectId, RequestId, Scope, TenantId};
use quota::{Admission, Ask, Freeze, Quota};
use serde_json::{Value, json};

use crate::world::World;

/// A tenant with a project and a key.
struct Chain {
    tenant: TenantId,
    project: ProjectId,
    key: KeyId,
}

async fn chain(world: &World, name: &str) -> Chain {
    let tenant = world.tenant(name, "100").await.id();
    let project =
        world.post(&format!("/tenants/{tenant}/projects"), &world.system, json!({"name": "p"})).await.expect(201).id();
    let key =
        world.post(&format!("/projects/{project}/keys"), &world.system, json!({"name": "k"})).await.expect(201).id();
    Chain { tenant: tenant.parse().unwrap(), project: project.parse().unwrap(), key: key.parse().unwrap() }
}

async fn gateway(world: &World) -> Quota {
    let mut config = quota::Config::new("g", world.redis.url());
    config.recovery_wait = std::time::Duration::from_millis(300);
    config.ledger.command_timeout = std::time::Duration::from_secs(2);
    Quota::start(config, world.store.clone()).await.unwrap()
}

async fn freeze(quota: &Quota, of: &Chain, pool: Option<PoolId>, units: i64) -> Freeze {
    let label = PeriodLabel::none;
    let mut scopes = vec![Scope::Key(of.key, label()), Scope::Project(of.project, label()), Scope::Tenant(of.tenant)];
    if let Some(pool) = pool {
        scopes.extend([Scope::Member(pool, of.tenant, label()), Scope::Pool(pool, label())]);
    }
    let amount = domain::Amount::new(units).unwrap();
    let ask = Ask {
        request_id: RequestId::generate(),
        tenant_id: of.tenant,
        project_id: of.project,
        key_id: of.key,
        scopes,
        want: amount,
        need: amount,
        tokens_want: 0,
        tokens_need: 0,
        model: "m".to_owned(),
        outage: Vec::new().into(),
    };
    match quota.admit(ask).await.unwrap() {
        Admission::Admitted(freeze) => freeze,
        other => panic!("{other:?}"),
    }
}

async fn put(world: &World, path: &str, body: Value) -> crate::world::Answer {
    world.send(world.request(reqwest::Method::PUT, path, &world.system).json(&body)).await
}

async fn pool(world: &World, body: Value) -> String {
    world.post("/pools", &world.system, body).await.expect(201).id()
}

#[tokio::test(flavor = "multi_thread")]
async fn members_share_a_budget_and_each_keeps_its_guarantee() {
    let world = World::start().await;
    let (one, two) = (chain(&world, "one").await, chain(&world, "two").await);
    let made = json!({"name": " Small ones ", "unit": "credit", "guaranteed_percent": 60, "budget": {"amount": "10"}});
    let made = world.post("/pools", &world.system, made).await.expect(201);
    let (id, path) = (made.id(), format!("/pools/{}", made.id()));
    assert_eq!(made.headers["location"], format!("/api/v1{path}"));
    assert_eq!(
        (&made.body["name"], &made.body["quota"]["total"], &made.body["time_zone"], &made.body["members"]),
        (&json!("Small ones"), &json!("10.00000000"), &json!("UTC"), &json!([]))
    );
    put(&world, &format!("{path}/members/{}", one.tenant), json!({"weight": 2})).await.expect(200);
    let joined = put(&world, &format!("{path}/members/{}", two.tenant), json!({"weight": 1})).await.expect(200).body;
    assert_eq!(joined["in_force"], true);
    let guaranteed = |body: &Value| -> Vec<Value> {
        body["members"].as_array().unwrap().iter().map(|member| member["guaranteed"].clone()).collect()
    };
    assert_eq!(guaranteed(&joined), ["4.00000000", "2.00000000"]);

    let (quota, pool_id): (_, PoolId) = (gateway(&world).await, id.parse().unwrap());
    let running = freeze(&quota, &one, Some(pool_id), 500_000_000).await;
    let read = world.get(&path, &world.system).await.expect(200).body;
    assert_eq!((&read["quota"]["frozen"], &read["quota"]["remaining"]), (&json!("5.00000000"), &json!("5.00000000")));
    let of_one = &read["members"][0];
    assert_eq!(
        (&of_one["used"], &of_one["frozen"], &of_one["borrowed"]),
        (&json!("0.00000000"), &json!("5.00000000"), &json!("1.00000000"))
    );
    // Another weight, another part and a larger budget are in force at return.
    put(&world, &format!("{path}/members/{}", one.tenant), json!({"weight": 1})).await.expect(200);
    let change = json!({"budget": "20", "guaranteed_percent": 50});
    let changed = world.patch(&path, &world.system, "*", change).await.expect(200).body;
    assert_eq!((&changed["in_force"], &changed["quota"]["total"]), (&json!(true), &json!("20.00000000")));
    assert_eq!(guaranteed(&changed), ["5.00000000", "5.00000000"]);
    let second = freeze(&quota, &two, Some(pool_id), 1_500_000_000).await;
    drop((running, second));
    world.patch(&path, &world.system, "*", json!({"budget": "1"})).await.refused(409, "conflict");
    world.patch(&path, &world.system, "\"77\"", json!({"name": "x"})).await.refused(412, "precondition_failed");
    let listed = world.get("/pools", &world.system).await.expect(200).body;
    assert_eq!((&listed["items"][0]["id"], listed["items"][0].get("members")), (&json!(id), None));
    let members = world.get(&format!("/tenants?pool_id={id}&sort=created_at"), &world.system).await.expect(200).body;
    assert_eq!(members["items"].as_array().unwrap().len(), 2);
    assert_eq!(members["items"][0]["settings"]["pool"], json!({"id": id, "weight": 1}));
    quota.shutdown(std::time::Duration::from_secs(10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_is_refused_by_its_field() {
    let world = World::start().await;
    let tenant = world.tenant("t", "5").await.id();
    for (body, field) in [
        (json!({"name": ""}), "name"),
        (json!({"budget": {"amount": "0"}}), "budget.amount"),
        (json!({"guaranteed_percent": 101}), "guaranteed_percent"),
        (json!({"time_zone": "Mars"}), "time_zone"),
    ] {
        let mut whole = json!({"name": "p", "unit": "credit", "budget": {"amount": "1"}});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        let refused = world.post("/pools", &world.system, whole).await.refused(422, "invalid_field").body;
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
    let credits = pool(&world, json!({"name": "p", "unit": "credit", "budget": {"amount": "1"}})).await;
    let tokens = pool(&world, json!({"name": "p", "unit": "token", "budget": {"amount": "1"}})).await;
    let member = |pool: &str| format!("/pools/{pool}/members/{tenant}");
    put(&world, &member(&credits), json!({"weight": 0})).await.refused_field("weight", "out_of_range");
    put(&world, &member(&tokens), json!({"weight": 1})).await.refused_field("unit", "differs");
    let unknown = PoolId::generate().to_string();
    put(&world, &member(&unknown), json!({"weight": 1})).await.refused(404, "not_found");
    world.delete(&member(&credits), &world.system).await.refused(404, "not_found");
    let settings = json!({"settings": {"pool": {"id": unknown, "weight": 1}}});
    let body = json!({"name": "n", "settings": settings["settings"]});
    world.post("/tenants", &world.system, body).await.refused_field("settings.pool.id", "not_found");
    world.patch(&format!("/tenants/{tenant}"), &world.system, "*", settings).await.refused(404, "not_found");
    let read = world.get(&format!("/tenants/{tenant}"), &world.system).await.expect(200).body;
    assert_eq!((&read["settings"]["pool"], &read["status"]), (&Value::Null, &json!("active")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_moves_only_while_nothing_of_it_runs() {
    let world = World::start().await;
    let of = chain(&world, "t").await;
    let quota = gateway(&world).await;
    let id = pool(&world, json!({"name": "p", "unit": "credit", "budget": {"amount": "9", "period": "day"}})).await;
    let running = freeze(&quota, &of, None, 1_000).await;
    let tenant = format!("/tenants/{}", of.tenant);
    let join = json!({"settings": {"pool": {"id": id, "weight": 7}}});
    let refused = world.patch(&tenant, &world.system, "*", join.clone()).await.refused(409, "conflict").body;
    assert_eq!(refused["running"], 1, "{refused}");
    // It was undone: calls are admitted as before.
    drop((running, freeze(&quota, &of, None, 1_000).await));
    quota.shutdown(std::time::Duration::from_secs(10)).await;
    let joined = world.patch(&tenant, &world.system, "*", join).await.expect(200).body;
    assert_eq!((&joined["settings"]["pool"]["weight"], &joined["in_force"]), (&json!(7), &json!(true)));
    let refused = world.post(&format!("{tenant}/close"), &world.system, json!({"reason": "r"})).await;
    assert_eq!(refused.refused(409, "conflict").body["pool_id"], json!(id));
    world.delete(&format!("/pools/{id}/members/{}", of.tenant), &world.system).await.expect(204);
    let read = world.get(&tenant, &world.system).await.expect(200).body;
    assert_eq!(read["settings"]["pool"], Value::Null);
    world.post(&format!("{tenant}/close"), &world.system, json!({"reason": "r"})).await.expect(200);
    let again = put(&world, &format!("/pools/{id}/members/{}", of.tenant), json!({"weight": 1})).await;
    again.refused(409, "conflict");
}

/// A token that may see one member only charges the pool by the weights of all.
#[tokio::test(flavor = "multi_thread")]
async fn usage_metered_elsewhere_is_charged_to_the_pool_too() {
    let world = World::start().await;
    let id = pool(&world, json!({"name": "p", "unit": "credit", "budget": {"amount": "8", "period": "month"}})).await;
    let mut keys = Vec::new();
    for weight in [1, 3] {
        let body = json!({"name": format!("t{weight}"), "plan": {"amount": "5"}, "settings": {"pool": {"id": id, "weight": weight}}});
        let made = world.post("/tenants", &world.system, body).await.expect(201);
        assert_eq!(made.body["settings"]["pool"]["weight"], weight);
        let project = format!("/tenants/{}/projects", made.id());
        let project = world.post(&project, &world.system, json!({"name": "p"})).await.expect(201).id();
        let key = world.post(&format!("/projects/{project}/keys"), &world.system, json!({"name": "k"})).await;
        keys.push((made.id(), key.expect(201).id()));
    }
    let (tenant, key) = &keys[0];
    let limited = world.token(&["usage:write".to_owned()], Some(&[tenant.parse().unwrap()])).await;
    let body =
        json!({"key_id": key, "model": "m", "charge": "1.5", "reference": "r", "occurred_at": "2026-01-01T00:00:00Z"});
    world.post("/usage/ingest", &limited, body).await.expect(201);
    let read = world.get(&format!("/pools/{id}"), &world.system).await.expect(200).body;
    assert_eq!(read["quota"]["used"], "1.50000000");
    let member =
        read["members"].as_array().unwrap().iter().find(|member| member["tenant_id"] == json!(tenant)).unwrap();
    assert_eq!(
        (&member["guaranteed"], &member["used"], &member["borrowed"]),
        (&json!("1.00000000"), &json!("1.50000000"), &json!("0.50000000"))
    );
    let share = world.database.value("SELECT share FROM accounts WHERE level = 'pool'").await.unwrap();
    assert_eq!(share.as_i64(), Some(300_000_000), "all of the other's guarantee, nothing of this one's");
    let mut snapshot = world.store.snapshot().await.unwrap();
    assert_eq!(store::verify::sums(&mut snapshot, None).await.unwrap(), []);
}

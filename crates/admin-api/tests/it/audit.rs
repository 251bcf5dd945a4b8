//! The audit log is read, filtered and exported, by those whom it concerns.

use domain::TenantId;
use serde_json::{Value, json};

use crate::world::World;

fn actions(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_found_by_who_what_and_when() {
    let world = World::start().await;
    let owner = world.signed_in("owner", None).await;
    let me = world.get("/session", &owner).await.body["user"]["id"].as_str().unwrap().to_owned();
    let (mine, theirs) = (world.tenant("mine", "1").await.id(), world.tenant("theirs", "1").await.id());
    let created = world.post(&format!("/tenants/{mine}/projects"), &owner, json!({"name": "p"})).await.expect(201);
    let patched = json!({"name": "q"});
    world.patch(&format!("/projects/{}", created.id()), &owner, "*", patched).await.expect(200);
    let get = async |query: &str| world.get(&format!("/audit{query}"), &owner).await.expect(200).body;
    assert_eq!(actions(&get(&format!("?actor={me}")).await), ["project.change", "project.create", "session.create"]);
    assert_eq!(actions(&get(&format!("?target={}", created.id())).await), ["project.change", "project.create"]);
    assert_eq!(actions(&get(&format!("?tenant_id={theirs}")).await), ["tenant.create"]);
    assert_eq!(actions(&get("?action=tenant.create&limit=1").await), ["tenant.create"]);
    assert!(actions(&get("?to=2020-01-01T00:00:00Z").await).is_empty());
    let all = get("").await;
    assert_eq!(actions(&get("?from=2020-01-01T00:00:00Z").await), actions(&all));
    let change = &all["items"][0];
    assert_eq!((&change["before"]["name"], &change["after"]["name"]), (&json!("p"), &json!("q")));
    assert_eq!((&change["address"], &change["tenant_id"]), (&json!("127.0.0.1"), &json!(mine)));
    // Page by page.
    let mut paged = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = get(&query).await;
        paged.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={next}");
    }
    assert_eq!(json!(paged), all["items"]);
    for (query, field) in
        [("?cursor=x", "cursor"), ("?sort=created_at", "sort"), ("?from=now", "from"), ("?who=me", "who")]
    {
        let answer = world.get(&format!("/audit{query}"), &owner).await.refused(422, "invalid_field");
        assert_eq!(answer.body["errors"][0]["field"], field);
    }
    // A tenant's owner sees what concerns the tenant.
    let boss = world.signed_in("tenant_owner", Some(mine.parse::<TenantId>().unwrap())).await;
    let seen = world.get("/audit", &boss).await.expect(200).body;
    assert_eq!(actions(&seen), ["session.create", "project.change", "project.create", "tenant.create"]);
    world.get(&format!("/audit?tenant_id={theirs}"), &boss).await.refused(404, "not_found");
    assert!(actions(&world.get("/audit?action=service_token.create", &boss).await.body).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_hold_every_entry_in_both_forms() {
    let world = World::start().await;
    let owner = world.signed_in("owner", None).await;
    // More than two pages, with what CSV has to quote.
    let sql = "INSERT INTO audit_log (actor, action, target, after)
               SELECT 'cli', 'test.write', 'x, \"' || n || '\"', jsonb_build_object('n', n, 'text', E'a\\nb') FROM generate_series(1, 2500) n";
    world.database.execute(sql).await.unwrap();
    let answer = world.get("/audit/export?format=jsonl&action=test.write", &owner).await.expect(200);
    assert_eq!(answer.headers["content-type"], "application/jsonl");
    let lines: Vec<Value> =
        answer.body.as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2500);
    let numbers: Vec<i64> = lines.iter().map(|line| line["after"]["n"].as_i64().unwrap()).collect();
    assert!(numbers.iter().rev().copied().eq(1..=2500), "newest first, each once");
    let answer = world.get("/audit/export?action=test.write", &owner).await.expect(200);
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(answer.headers["content-disposition"], "attachment; filename=\"audit.csv\"");
    let text = answer.body.as_str().unwrap().to_owned();
    let rows: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(rows[0], "id,at,actor,action,target,tenant_id,before,after,address,request_id");
    assert_eq!(rows.len(), 2502, "head, entries, and the end");
    assert!(
        rows[1].contains(",\"x, \"\"2500\"\"\",,,\"{\"\"n\"\":2500,\"\"text\"\":\"\"a\\nb\"\"}\",,"),
        "{}",
        rows[1]
    );
    world.get("/audit/export?format=xml", &owner).await.refused(422, "invalid_field");
}

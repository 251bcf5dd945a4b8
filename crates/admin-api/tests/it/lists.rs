//! Lists: cursors, order, filters.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::samples::record;
use crate::world::World;

/// Reads a list page by page.
async fn all(world: &World, path: &str, limit: usize) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), None::<String>);
    let separator = if path.contains('?') { '&' } else { '?' };
    loop {
        let after = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = world.get(&format!("{path}{separator}limit={limit}{after}"), &world.system).await.expect(200).body;
        let part = page["items"].as_array().unwrap().clone();
        assert!(part.len() <= limit);
        items.extend(part);
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return items,
        }
    }
}

fn texts(items: &[Value], field: &str) -> Vec<String> {
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_hold_every_tenant_once_in_order() {
    let world = World::start().await;
    let mut made = Vec::new();
    for index in 0..7 {
        made.push(world.tenant(&format!("tenant {index}"), &format!("{}", index % 3 + 1)).await.id());
    }
    let newest: Vec<String> = made.iter().rev().cloned().collect();
    for limit in [1, 2, 3, 7, 8] {
        assert_eq!(texts(&all(&world, "/tenants", limit).await, "id"), newest, "limit {limit}");
        assert_eq!(texts(&all(&world, "/tenants?sort=created_at", limit).await, "id"), made, "limit {limit}");
        for sort in ["used", "-used", "remaining_percent", "-remaining_percent"] {
            let ids: BTreeSet<String> =
                texts(&all(&world, &format!("/tenants?sort={sort}"), limit).await, "id").into_iter().collect();
            assert_eq!(ids.len(), 7, "{sort}, limit {limit}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_are_sorted_by_what_is_left() {
    let world = World::start().await;
    for (name, used) in [("full", 0), ("half", 50_000_000), ("dry", 100_000_000)] {
        let id: domain::TenantId = world.tenant(name, "1").await.id().parse().unwrap();
        let sql = format!("UPDATE accounts SET used = {used}, version = version + 1 WHERE tenant_id = '{}'", id.uuid());
        world.database.execute(&sql).await.unwrap();
    }
    assert_eq!(texts(&all(&world, "/tenants?sort=remaining_percent", 1).await, "name"), ["dry", "half", "full"]);
    let dry = &all(&world, "/tenants?sort=-used", 2).await[0];
    assert_eq!((&dry["name"], &dry["quota"]["remaining"]), (&json!("dry"), &json!("0.00000000")));
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_are_found() {
    let world = World::start().await;
    let acme = world
        .post("/tenants", &world.system, json!({"name": "Acme 100%", "external_id": "cust_1"}))
        .await
        .expect(201)
        .id();
    world.tenant("other", "1").await;
    for query in ["q=acme", "q=100%25", "q=CUST_1", &format!("q={acme}"), "external_id=cust_1", "q=acme&status=active"]
    {
        assert_eq!(
            texts(&all(&world, &format!("/tenants?{query}"), 9).await, "id"),
            std::slice::from_ref(&acme),
            "{query}"
        );
    }
    for query in
        ["q=%25%25", "q=cust%5C_1", "external_id=cust", "q=acme&status=suspended", "q='; DROP TABLE tenants; --"]
    {
        assert!(all(&world, &format!("/tenants?{query}"), 9).await.is_empty(), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_parameters_are_named() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let by_used = {
        world.tenant("b", "1").await;
        world.get("/tenants?sort=used&limit=1", &world.system).await.body["next_cursor"].clone()
    };
    let by_used = by_used.as_str().unwrap();
    for (path, field) in [
        ("/tenants?limit=0".to_owned(), "limit"),
        ("/tenants?limit=201".to_owned(), "limit"),
        ("/tenants?limit=x".to_owned(), "limit"),
        ("/tenants?cursor=x".to_owned(), "cursor"),
        (format!("/tenants?cursor={by_used}"), "cursor"),
        ("/tenants?sort=name".to_owned(), "sort"),
        ("/tenants?status=dead".to_owned(), "status"),
        ("/tenants?colour=red".to_owned(), "colour"),
        (format!("/tenants/{tenant}/grants?sort=amount"), "sort"),
        ("/requests?from=yesterday".to_owned(), "from"),
        ("/requests?tenant_id=7".to_owned(), "tenant_id"),
        ("/requests?min_charge=1e3".to_owned(), "min_charge"),
        ("/requests?sort=created_at".to_owned(), "sort"),
    ] {
        let answer = world.get(&path, &world.system).await.refused(422, "invalid_field");
        assert_eq!(answer.body["errors"][0]["field"], field, "{path}: {}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_lists_page_too() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let mut projects = Vec::new();
    for index in 0..5 {
        let body = json!({"name": format!("p{index}")});
        projects.push(world.post(&format!("/tenants/{tenant}/projects"), &world.system, body).await.expect(201).id());
        world
            .post(&format!("/tenants/{tenant}/grants"), &world.system, json!({"kind": "gift", "amount": "1"}))
            .await
            .expect(201);
    }
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(
            world
                .post(&format!("/projects/{}/keys", projects[0]), &world.system, json!({"name": "k"}))
                .await
                .expect(201)
                .id(),
        );
    }
    let newest: Vec<String> = projects.iter().rev().cloned().collect();
    assert_eq!(texts(&all(&world, &format!("/tenants/{tenant}/projects"), 2).await, "id"), newest);
    assert_eq!(texts(&all(&world, &format!("/tenants/{tenant}/projects?sort=created_at"), 2).await, "id"), projects);
    assert_eq!(all(&world, &format!("/tenants/{tenant}/grants"), 2).await.len(), 6);
    assert_eq!(texts(&all(&world, &format!("/projects/{}/keys?sort=created_at", projects[0]), 1).await, "id"), keys);
    let mut requests = Vec::new();
    for _ in 0..5 {
        requests.insert(0, record(&world, &tenant, &projects[0], &keys[0]).await);
    }
    assert_eq!(texts(&all(&world, "/requests", 2).await, "request_id"), requests);
    assert_eq!(
        all(&world, &format!("/requests?tenant_id={tenant}&key_id={}&outcome=final&min_charge=0.07", keys[0]), 2)
            .await
            .len(),
        5
    );
    assert!(all(&world, &format!("/requests?tenant_id={tenant}&min_charge=0.08"), 2).await.is_empty());
    assert!(all(&world, &format!("/requests?key_id={}", keys[1]), 2).await.is_empty());
    let request = world.get(&format!("/requests/{}", requests[0]), &world.system).await.expect(200).body;
    assert_eq!((&request["freeze"], &request["charge"]), (&json!("0.10000000"), &json!("0.07000000")));
    assert_eq!(request["allocations"][0]["amount"], "0.07000000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_sees_its_own_rows_alone() {
    let world = World::start().await;
    let (mine, theirs) = (crate::samples::Sample::make(&world).await, crate::samples::Sample::make(&world).await);
    let limited = world.token(&crate::world::all_scopes(), Some(&[mine.tenant_id()])).await;
    for who in [world.signed_in("tenant_viewer", Some(mine.tenant_id())).await, limited] {
        let tenants = world.get("/tenants", &who).await.expect(200).body;
        assert_eq!(texts(tenants["items"].as_array().unwrap(), "id"), std::slice::from_ref(&mine.tenant));
        let requests = world.get("/requests", &who).await.expect(200).body;
        assert_eq!(texts(requests["items"].as_array().unwrap(), "request_id"), std::slice::from_ref(&mine.request));
        world.get(&format!("/requests?tenant_id={}", theirs.tenant), &who).await.refused(404, "not_found");
        let none = world.get(&format!("/requests?key_id={}", theirs.key), &who).await.expect(200).body;
        assert_eq!(none["items"], json!([]));
    }
}

//! The second wall between tenants: what Postgres itself hides from callers that may see some tenants only.

use domain::TenantId;
use serde_json::json;

use crate::samples::Sample;
use crate::world::World;

/// What is the same for every tenant or concerns none; the flag: tenants may read it.
const COMMON: [(&str, bool); 13] = [
    ("_sqlx_migrations", false),
    ("gateway_beats", false),
    ("ledger_incarnation", true),
    ("models", true),
    ("platform_settings", true),
    ("prices", true),
    ("retired_service_token_secrets", false),
    ("service_reports", false),
    ("service_tokens", false),
    ("setup_tokens", false),
    ("spent_refresh_tokens", false),
    ("targets", false),
    ("upstreams", false),
];

/// What a transaction for these tenants begins with.
fn confined(tenants: &[TenantId]) -> String {
    let ids: Vec<String> = tenants.iter().map(|id| id.uuid().to_string()).collect();
    format!("SET ROLE tollgate_tenant; SET tollgate.tenants = '{{{}}}'", ids.join(","))
}

async fn count(world: &World, before: &str, table: &str, condition: &str) -> i64 {
    let sql = format!("SELECT count(*) AS n FROM {table} WHERE {condition}");
    world.database.rows_after(before, &sql).await.unwrap()[0]["n"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_is_guarded_or_known_to_be_common() {
    let world = World::start().await;
    let rows = world
        .database
        .rows(
            "SELECT relname AS name, has_table_privilege('tollgate_tenant', oid, 'SELECT') AS readable,
                    has_table_privilege('tollgate_tenant', oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AS writable
             FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
               AND NOT relrowsecurity ORDER BY relname",
        )
        .await
        .unwrap();
    let found: Vec<_> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), row["readable"].as_bool().unwrap())).collect();
    assert_eq!(found, COMMON, "a new table: guard_tenant_rows in its migration, or name it here");
    assert!(rows.iter().all(|row| row["writable"] == false), "{rows:?}");
    let partitions =
        "SELECT relname FROM pg_class WHERE relispartition AND has_table_privilege('tollgate_tenant', oid, 'SELECT')";
    assert_eq!(world.database.rows(partitions).await.unwrap(), Vec::<serde_json::Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_others_are_neither_seen_nor_changed() {
    let world = World::start().await;
    let (one, other) = (Sample::make(&world).await, Sample::make(&world).await);
    let (a, b) = (one.tenant_id(), other.tenant_id());
    let tables = world
        .database
        .rows(
            "SELECT relname AS name, EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id') AS direct
             FROM pg_class c WHERE relrowsecurity ORDER BY relname",
        )
        .await
        .unwrap();
    let mut seen = 0;
    for table in &tables {
        let name = table["name"].as_str().unwrap();
        let of_a = count(&world, &confined(&[a]), name, "true").await;
        let of_b = count(&world, &confined(&[b]), name, "true").await;
        let of_both = count(&world, &confined(&[a, b]), name, "true").await;
        assert_eq!(of_both, of_a + of_b, "{name}: a row of two tenants");
        for nobody in ["SET ROLE tollgate_tenant", &confined(&[]), &confined(&[TenantId::generate()])] {
            assert_eq!(count(&world, nobody, name, "true").await, 0, "{name} with {nobody}");
        }
        if table["direct"] == true {
            let own = format!("tenant_id = '{}'", a.uuid());
            assert_eq!(count(&world, "", name, &own).await, of_a, "{name}");
            assert_eq!(count(&world, &confined(&[a]), name, &format!("{own} IS NOT TRUE")).await, 0, "{name}");
        }
        seen += usize::from(of_a > 0);
    }
    assert!(seen >= 14, "the sample fills {seen} tables of {}", tables.len());

    let before = fingerprint(&world, b).await;
    let change = "UPDATE api_keys SET name = 'taken'; UPDATE accounts SET used = 0, refunded = 1; UPDATE users SET name = 'taken';
                  UPDATE sessions SET ended_at = now(); UPDATE tenants SET name = 'taken'; DELETE FROM webhook_endpoints;
                  UPDATE usage_records SET estimated = true; UPDATE grant_balances SET priority = 1";
    world.database.execute(&format!("{}; {change}", confined(&[a]))).await.unwrap();
    assert_eq!(fingerprint(&world, b).await, before);
    assert_ne!(fingerprint(&world, a).await, fingerprint(&world, b).await);
    let own = world.database.rows(&format!("SELECT name FROM tenants WHERE id = '{}'", a.uuid())).await.unwrap();
    assert_eq!(own, [json!({"name": "taken"})], "one's own can be changed");

    for refused in [
        format!("INSERT INTO projects (id, tenant_id, name) VALUES (gen_random_uuid(), '{}', 'x')", b.uuid()),
        format!("UPDATE projects SET tenant_id = '{}'", b.uuid()),
        "SELECT * FROM upstreams".to_owned(),
        "SELECT * FROM service_tokens".to_owned(),
        "UPDATE prices SET input = 0".to_owned(),
        "UPDATE settlements SET amount = 0".to_owned(),
    ] {
        let outcome = world.database.execute(&format!("{}; {refused}", confined(&[a]))).await;
        let why = format!("{:?}", outcome.expect_err(&refused));
        assert!(why.contains("row-level security") || why.contains("permission denied"), "{refused}: {why}");
    }
}

/// Everything of a tenant that the attempt would have changed.
async fn fingerprint(world: &World, tenant: TenantId) -> String {
    let sql = format!(
        "SELECT (SELECT jsonb_agg(to_jsonb(x)) FROM (SELECT k.name, k.status FROM api_keys k WHERE tenant_id = t.id) x) AS keys,
                (SELECT jsonb_agg(to_jsonb(x)) FROM (SELECT scope, used, refunded FROM accounts WHERE tenant_id = t.id) x) AS accounts,
                (SELECT jsonb_agg(to_jsonb(x)) FROM (SELECT u.name, s.ended_at FROM users u JOIN sessions s ON s.user_id = u.id
                    WHERE tenant_id = t.id) x) AS people,
                (SELECT count(*) FROM webhook_endpoints WHERE tenant_id = t.id) AS webhooks,
                (SELECT count(*) FROM usage_records WHERE tenant_id = t.id AND estimated) AS estimated,
                (SELECT sum(priority) FROM grant_balances WHERE tenant_id = t.id) AS priorities, t.name
         FROM tenants t WHERE id = '{}'",
        tenant.uuid()
    );
    world.database.rows(&sql).await.unwrap()[0].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_with_a_limited_reach_are_behind_the_wall() {
    let world = World::start().await;
    let sample = Sample::make(&world).await;
    let tenant = sample.tenant_id();
    let owner = world.signed_in("tenant_owner", Some(tenant)).await;
    let viewer = world.signed_in("viewer", None).await;
    let limited = world.token(&["projects:read".to_owned(), "usage:read".to_owned()], Some(&[tenant])).await;
    let path = format!("/tenants/{tenant}/projects");
    for who in [&owner, &limited, &viewer] {
        world.get(&path, who).await.expect(200);
        world.get("/requests/export?format=csv", who).await.expect(200);
    }
    // What the role may not read fails for them, and for them alone: it is by that role that they read.
    world.database.execute("REVOKE SELECT ON projects, usage_records FROM tollgate_tenant").await.unwrap();
    for who in [&owner, &limited] {
        world.get(&path, who).await.refused(500, "internal");
        world.get("/requests/export?format=csv", who).await.refused(500, "internal");
    }
    world.get(&path, &viewer).await.expect(200);
    world.get("/requests/export?format=csv", &viewer).await.expect(200);
}

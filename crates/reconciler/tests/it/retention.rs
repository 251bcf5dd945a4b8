//! What is old goes by the platform's settings; the books stay.

use domain::record::Outcome;
use serde_json::json;
use tollgate_reconciler::retention::{Removed, pass};

use crate::world::World;

#[tokio::test]
async fn what_is_old_goes_and_the_books_stay() {
    let world = World::start().await;
    let tenant = world.tenant(1_000).await;
    let rows: Vec<_> = (0..3).map(|_| tenant.row(domain::RequestId::generate(), Outcome::Final, 300)).collect();
    let mut transaction = world.store.begin().await.unwrap();
    store::load::load(&mut transaction, tenant.id, &tenant.scopes).await.unwrap();
    store::record::record(&mut transaction, &rows).await.unwrap();
    transaction.commit().await.unwrap();
    // Another, 40 days ago; and events: two told long ago, one of them still being delivered, and the newest.
    let sql = format!(
        "SELECT ensure_partitions(now() - interval '3 months', 3);
         INSERT INTO usage_records SELECT (jsonb_populate_record(u, jsonb_build_object('request_id',
             overlay(uuid_v7_floor(now() - interval '40 days')::text placing 'abc' from 30)))).* FROM usage_records u LIMIT 1;
         DELETE FROM outbox;
         INSERT INTO outbox (event_id, type, tenant_id, data, at, position, payload)
         SELECT gen_random_uuid(), 'quota.low', '{0}', '{{}}', now() - make_interval(days => 100 - i), i, '{{}}' FROM generate_series(1, 4) i;
         INSERT INTO webhook_endpoints (id, url, event_types, sealed_secret) VALUES ('{0}', 'https://example.com', '{{quota.low}}', '');
         INSERT INTO webhook_deliveries (id, webhook_id, event_id, state, next_at)
         SELECT event_id, '{0}', event_id, CASE position WHEN 1 THEN 'delivered' ELSE 'pending' END, CASE position WHEN 1 THEN NULL ELSE now() END
         FROM outbox WHERE position <= 2;
         INSERT INTO snapshots (scope, at, tenant_id, version, used, spent_sum, frozen, verdict)
         SELECT 'x', now() - make_interval(days => d), '{0}', 1, 0, 0, 0, 'equal' FROM unnest(ARRAY[80, 100]) d",
        tenant.id.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    let left = async || {
        let counts =
            "SELECT jsonb_build_array((SELECT count(*) FROM usage_records), (SELECT count(*) FROM settlements),
            (SELECT jsonb_agg(position ORDER BY position) FROM outbox), (SELECT count(*) FROM webhook_deliveries),
            (SELECT sum(requests) FROM usage_quarters))";
        world.database.value(counts).await.unwrap()
    };
    assert_eq!(left().await, json!([4, 3, [1, 2, 3, 4], 2, 3]));
    // Unless set otherwise records stay for ever, and events and snapshots for 90 days.
    assert_eq!(pass(&world.store).await.unwrap(), Removed { events: 2, snapshots: 1, ..Removed::default() });
    assert_eq!(left().await, json!([4, 3, [2, 4], 1, 3]), "neither the one still being told nor the newest");
    world.database.execute("UPDATE platform_settings SET keep_usage_records_days = 30").await.unwrap();
    assert_eq!(pass(&world.store).await.unwrap(), Removed { usage_records: 1, ..Removed::default() });
    assert_eq!(left().await, json!([3, 3, [2, 4], 1, 3]));
    assert_eq!(pass(&world.store).await.unwrap(), Removed::default());
    assert_eq!(world.database.value("SELECT count(*) FROM snapshots").await.unwrap(), json!(1));
}

//! The books agree with what was granted.

use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn grants_and_accounts_add_up() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1.1").await.id();
    for amount in ["0.00000001", "2.2", "3"] {
        world
            .post(&format!("/tenants/{tenant}/grants"), &world.system, json!({"kind": "gift", "amount": amount}))
            .await
            .expect(201);
    }
    let sums = "SELECT a.total = (SELECT sum(amount) FROM grants) AND a.total = (SELECT sum(delta) FROM grant_events)
                AND a.granted_sum = a.total AND a.total = 630000001 FROM accounts a";
    assert_eq!(world.database.value(sums).await.unwrap(), json!(true));
}

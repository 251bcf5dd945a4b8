//! A project's soft budget.

use serde_json::json;

use crate::bodies;
use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_soft_budget_warns_or_downgrades() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    world.post("/models", &world.system, bodies::model("small")).await.expect(201);
    let projects = format!("/tenants/{tenant}/projects");
    let budget = json!({"amount": "1", "period": "month"});
    let soft = json!({"percent": 80, "action": "downgrade", "model": "small"});
    let body = json!({"name": "p", "budget": budget, "soft_budget": soft});
    let project = world.post(&projects, &world.system, body).await.expect(201);
    assert_eq!(project.body["soft_budget"], soft);
    let place = format!("/projects/{}", project.id());
    let change = async |body| world.patch(&place, &world.system, "*", body).await;
    let changed = change(json!({"name": "q"})).await.expect(200).body;
    assert_eq!(changed["soft_budget"], soft, "what a patch does not name stays");
    let changed = change(json!({"soft_budget": {"percent": 99, "action": "warn"}})).await.expect(200).body;
    assert_eq!(changed["soft_budget"], json!({"percent": 99, "action": "warn", "model": null}));
    assert_eq!(change(json!({"soft_budget": null})).await.expect(200).body["soft_budget"], json!(null));
    for (soft, field, code) in [
        (json!({"percent": 0, "action": "warn"}), "soft_budget.percent", "out_of_range"),
        (json!({"percent": 100, "action": "warn"}), "soft_budget.percent", "out_of_range"),
        (json!({"percent": 80, "action": "warn", "model": "small"}), "soft_budget.model", "invalid"),
        (json!({"percent": 80, "action": "downgrade"}), "soft_budget.model", "required"),
        (json!({"percent": 80, "action": "downgrade", "model": "nothing"}), "soft_budget.model", "not_found"),
    ] {
        change(json!({"soft_budget": soft})).await.refused_field(field, code);
        let body = json!({"name": "x", "budget": budget, "soft_budget": soft});
        world.post(&projects, &world.system, body).await.refused_field(field, code);
    }
    change(json!({"soft_budget": {"percent": 80, "action": "stop"}})).await.refused(422, "invalid_field");
    let free = json!({"name": "free", "soft_budget": {"percent": 80, "action": "warn"}});
    world.post(&projects, &world.system, free).await.refused_field("soft_budget", "needs_budget");
}

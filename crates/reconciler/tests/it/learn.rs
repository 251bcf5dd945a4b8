//! What is learnt of models' answers, and soft budgets told once a period.

use domain::record::Outcome;
use domain::usage::Usage;
use domain::{ModelId, PeriodLabel, RequestId, Scope};
use store::record::{OutcomeRow, record};

use crate::world::{Tenant, World};

async fn book(world: &World, tenant: &Tenant, rows: &[OutcomeRow]) {
    let mut transaction = world.store.begin().await.unwrap();
    store::load::load(&mut transaction, tenant.id, &tenant.scopes).await.unwrap();
    record(&mut transaction, rows).await.unwrap();
    transaction.commit().await.unwrap();
}

fn answers(tenant: &Tenant, count: u64, estimated: bool, output: impl Fn(u64) -> u64) -> Vec<OutcomeRow> {
    let row = |at| {
        let mut row = tenant.row(RequestId::generate(), Outcome::Final, 1);
        row.record.usage = Usage { reasoning: 1, ..Usage::of_tokens(5, output(at) - 1) };
        row.record.estimated = estimated;
        row
    };
    (1..=count).map(row).collect()
}

#[tokio::test]
async fn ninety_percent_of_a_models_answers_stay_below_what_is_learnt() {
    let world = World::start().await;
    let tenant = world.tenant(10_000).await;
    let id = ModelId::generate();
    let sql = format!(
        "INSERT INTO models (id, name, mode, tokenizer, context_window, max_output_tokens)
         VALUES ('{}', 'm', 'chat', 'o200k_base', 1000, 100)",
        id.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    let learn = async || {
        let mut connection = world.store.acquire().await.unwrap();
        let changed = store::models::learn_outputs(&mut connection).await.unwrap();
        let model = store::models::get(&mut connection, id).await.unwrap();
        assert_eq!(model.version, 1, "no setting has changed");
        (changed, model.p90_output_tokens)
    };
    assert_eq!(learn().await, (0, None));
    book(&world, &tenant, &answers(&tenant, 19, false, |at| at * 10)).await;
    // Neither what was only estimated counts, nor what was rolled back.
    book(&world, &tenant, &answers(&tenant, 50, true, |_| 9_000)).await;
    let failed: Vec<_> = (0..50).map(|_| tenant.row(RequestId::generate(), Outcome::RolledBack, 0)).collect();
    book(&world, &tenant, &failed).await;
    assert_eq!(learn().await, (0, None), "too few");
    book(&world, &tenant, &answers(&tenant, 21, false, |at| 190 + at * 10)).await;
    assert_eq!(learn().await, (1, Some(360)));
    assert_eq!(learn().await, (0, Some(360)));
}

#[tokio::test]
async fn a_soft_budget_is_told_once_a_period() {
    let world = World::start().await;
    let mut tenant = world.tenant_with(10_000, Some(1_000), None).await;
    let soft = r#"{"percent": 60, "action": "warn"}"#;
    world.database.execute(&format!("UPDATE projects SET soft_budget = '{soft}'")).await.unwrap();
    let told = async || {
        let rows = world.database.rows(
            "SELECT scope, data ->> 'threshold_percent' AS percent, data ->> 'used' AS used, data -> 'scope' ->> 'period' AS period
             FROM outbox WHERE type = 'budget.soft_reached' ORDER BY id",
        );
        let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
        let rows = rows.await.unwrap();
        rows.iter().map(|row| (text(row, "percent"), text(row, "used"), text(row, "period"))).collect::<Vec<_>>()
    };
    let mut expected = Vec::new();
    for period in ["2026-11", "2026-12"] {
        tenant.scopes[1] = Scope::Project(tenant.project, PeriodLabel::try_from(period.to_owned()).unwrap());
        let spend = |units| vec![tenant.row(RequestId::generate(), Outcome::Final, units)];
        book(&world, &tenant, &spend(599)).await;
        assert_eq!(told().await, expected);
        book(&world, &tenant, &spend(2)).await;
        book(&world, &tenant, &spend(300)).await;
        expected.push(("60".to_owned(), "601".to_owned(), period.to_owned()));
        assert_eq!(told().await, expected);
    }
    world.assert_sums(&tenant).await;
}

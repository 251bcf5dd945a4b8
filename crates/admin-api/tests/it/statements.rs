//! Statements add up to their settlements, to the last unit.

use std::time::Instant;

use domain::record::Outcome;
use domain::{Amount, Unit, Usage};
use serde_json::{Value, json};

use crate::samples::this_month;
use crate::spend::{Payer, book};
use crate::world::World;

fn units(value: &Value) -> i64 {
    Amount::parse(value.as_str().unwrap(), Unit::Credit).unwrap().units()
}

/// closing = opening + granted - charged - ended.
fn adds_up(statement: &Value) -> bool {
    let [opening, granted, charged, ended, closing] =
        ["opening", "granted", "charged", "ended", "closing"].map(|field| units(&statement[field]));
    closing == opening + granted - charged - ended
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_settlements_add_up_in_every_period() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "1000000").await;
    let (tenant, project, key) = (payer.tenant.uuid(), payer.project.uuid(), payer.key.uuid());
    // One a minute over the last 69 days, of 5 models, of amounts that no round number sums up to.
    let sql = format!(
        "UPDATE tenants SET created_at = now() - interval '80 days', time_zone = 'America/New_York' WHERE id = '{tenant}';
         INSERT INTO settlements (request_id, kind, tenant_id, project_id, key_id, scopes, amount, outcome, model, recorded_at)
         SELECT overlay(uuid_v7_floor(now())::text placing lpad(to_hex(i), 12, '0') from 25)::uuid, 0, '{tenant}', '{project}', '{key}',
                '{{}}', (i::bigint * 7919) % 1000003, 'final', 'm' || i % 5, now() - make_interval(mins => i)
         FROM generate_series(1, 100000) i"
    );
    world.database.execute(&sql).await.unwrap();
    let asked = Instant::now();
    let list = world.get(&format!("/tenants/{}/statements", payer.tenant), &world.system).await.expect(200).body;
    let statements = list["items"].as_array().unwrap();
    assert!((3..=4).contains(&statements.len()), "{list}");
    let mut sum = 0;
    for (index, statement) in statements.iter().enumerate() {
        let path = format!("/tenants/{}/statements/{}", payer.tenant, statement["period"].as_str().unwrap());
        let one = world.get(&path, &world.system).await.expect(200).body;
        assert!(adds_up(&one), "{one}");
        assert_eq!((&one["charged"], &one["closing"]), (&statement["charged"], &statement["closing"]));
        let lines = one["lines"].as_array().unwrap();
        assert_eq!(lines.iter().map(|line| units(&line["charge"])).sum::<i64>(), units(&one["charged"]));
        let (from, to) = (one["from"].as_str().unwrap(), one["to"].as_str().unwrap());
        let rows = format!(
            "SELECT jsonb_build_array(coalesce(sum(amount), 0), count(*)) FROM settlements
             WHERE tenant_id = '{tenant}' AND recorded_at >= '{from}' AND recorded_at < '{to}'"
        );
        let truth = world.database.value(&rows).await.unwrap();
        assert_eq!(truth, json!([units(&one["charged"]), one["settlements"]]), "{path}");
        assert_eq!(one["closed"], json!(index > 0));
        if let Some(before) = statements.get(index + 1) {
            assert_eq!((&one["opening"], &one["from"]), (&before["closing"], &before["to"]));
        }
        sum += units(&one["charged"]);
    }
    assert_eq!(sum, (1..=100_000_i64).map(|i| i * 7919 % 1_000_003).sum::<i64>());
    let took = asked.elapsed();
    assert!(took.as_secs() < 5, "all of it took {took:?}");
    // One page after the other, and a foreign one.
    let page =
        world.get(&format!("/tenants/{}/statements?limit=1", payer.tenant), &world.system).await.expect(200).body;
    let next = format!("/tenants/{}/statements?limit=1&cursor={}", payer.tenant, page["next_cursor"].as_str().unwrap());
    assert_eq!(world.get(&next, &world.system).await.expect(200).body["items"][0], statements[1]);
    for period in ["m20200101", "2020-01", "m20261345", "x", "2999-01", "-"] {
        world
            .get(&format!("/tenants/{}/statements/{period}", payer.tenant), &world.system)
            .await
            .refused(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_balance_is_the_accounts() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "5").await;
    let tenant = payer.tenant;
    let overdraft = json!({"settings": {"overdraft": {"enabled": true, "limit": "2"}, "credit_limit": "1"}});
    world.patch(&format!("/tenants/{tenant}"), &world.system, "*", overdraft).await.expect(200);
    let gift = json!({"kind": "gift", "amount": "1.5"});
    let gift = world.post(&format!("/tenants/{tenant}/grants"), &world.system, gift).await.expect(201).id();
    let pay = async |units, version| {
        let mut row = payer.row("fast", Outcome::Final, units, Usage::of_tokens(10, 5));
        row.version = version;
        book(&world, &row).await;
    };
    let balance = async |charged: &str, ended: &str, overdraft: &str| {
        let path = format!("/tenants/{tenant}/statements/{}", this_month());
        let statement = world.get(&path, &world.system).await.expect(200).body;
        assert!(adds_up(&statement), "{statement}");
        assert_eq!((&statement["charged"], &statement["ended"]), (&json!(charged), &json!(ended)), "{statement}");
        assert_eq!(statement["overdraft"], overdraft);
        let account = "SELECT jsonb_build_array(total - used, version) FROM accounts WHERE level = 'tenant'";
        let account = world.database.value(account).await.unwrap();
        assert_eq!(json!(units(&statement["closing"])), account[0], "{statement}");
        (statement, account[1].as_i64().unwrap())
    };
    pay(50_000_000, i64::MAX).await;
    let (_, version) = balance("0.50000000", "0.00000000", "0.00000000").await;
    world.post(&format!("/grants/{gift}/end"), &world.system, json!({"reason": "x"})).await.expect(200);
    balance("0.50000000", "1.00000000", "0.00000000").await;
    // Frozen before the end: what was left of the gift bears it after all.
    pay(30_000_000, version).await;
    balance("0.80000000", "0.70000000", "0.00000000").await;
    let change = json!({"delta": "-2", "reason": "x"});
    world.post(&format!("/tenants/{tenant}/quota-changes"), &world.system, change).await.expect(201);
    pay(450_000_000, i64::MAX).await;
    let (statement, _) = balance("5.30000000", "0.70000000", "0.50000000").await;
    assert_eq!((&statement["granted"], &statement["closing"]), (&json!("4.50000000"), &json!("-1.50000000")));
    let line = &statement["lines"][0];
    assert_eq!((&line["requests"], &line["tokens"], &line["key_id"]), (&json!(3), &json!(45), &json!(payer.key)));
}

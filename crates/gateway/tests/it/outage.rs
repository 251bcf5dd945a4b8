//! Redis away: what each outage step does, on real gateways, and that everything adds up afterwards without a restart.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::proxy::{Mode, TcpProxy};

use crate::house::{House, NewModel, cost, events, request_id};

/// The status, the error's code and the seconds of `Retry-After` of a call at a fixed price of 0.10.
async fn fixed(house: &House, url: &str) -> (u16, String, Option<String>) {
    let response = house.chat_at(url, "fixed", "[[sim out=5]]", json!({})).send().await.unwrap();
    let after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    (status, body["error"]["code"].as_str().unwrap_or_default().to_owned(), after)
}

fn unavailable() -> (u16, String, Option<String>) {
    (503, "ledger_unavailable".to_owned(), Some("1".to_owned()))
}

/// So many calls at once: how many were admitted; the others were told that the ledger is unavailable.
async fn admitted_of(house: &House, url: &str, calls: usize) -> usize {
    let all = futures_util::future::join_all((0..calls).map(|_| fixed(house, url))).await;
    let (admitted, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(|(status, ..)| *status == 200);
    assert!(refused.iter().all(|answer| *answer == unavailable()), "{refused:?}");
    admitted.len()
}

async fn set_outage(house: &House, steps: Value) {
    let settings = json!({"outage": steps});
    house
        .sql(&format!(
            "UPDATE tenants SET settings = settings || '{settings}'::jsonb WHERE id = '{}'",
            house.tenant_id.uuid()
        ))
        .await;
    tokio::time::sleep(Duration::from_millis(400)).await; // the gateways are told
}

/// Redis and Postgres agree to the unit, every request has its one outcome, and no trace of the outage is left.
async fn assert_agreement(house: &House) -> i64 {
    let numbers = house.settled().await;
    let used = numbers.used;
    let sum = house.database.value("SELECT sum(actual)::bigint FROM usage_records").await.unwrap();
    assert_eq!((used, numbers.frozen), (sum.as_i64().unwrap(), 0), "Redis");
    let sums = format!(
        "SELECT (SELECT used FROM accounts WHERE scope = '{}') AS used, (SELECT sum(amount)::bigint FROM settlements) AS settled,
                (SELECT count(*) FROM opened_requests) AS opened",
        domain::Scope::Tenant(house.tenant_id)
    );
    let row = house.database.rows(&sums).await.unwrap().remove(0);
    assert_eq!(row, json!({"used": used, "settled": used, "opened": 0}), "Postgres");
    let mut snapshot = store::Store::connect(&store::Config::new(house.database.owner_url(), "test"))
        .await
        .unwrap()
        .snapshot()
        .await
        .unwrap();
    let wrong = store::verify::sums(&mut snapshot, None).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
    used
}

/// A call is decided by Redis again, at the latest after so long.
async fn until_back(house: &House, url: &str) {
    testkit::wait::until_async("a call after the outage", Duration::from_secs(15), || async {
        let quota = house.chat_at(url, "sim-small", "[[sim out=1]]", json!({})).send().await?;
        Ok(quota.headers().contains_key("x-ratelimit-limit-requests").then_some(()))
    })
    .await
    .unwrap();
}

/// A rate that nothing reaches: its headers tell that Redis decided.
async fn with_rate(house: &House) {
    house
        .sql(&format!(
            "UPDATE accounts SET limits = '100000,,,,,', version = version + 1 WHERE scope = '{}'",
            domain::Scope::Tenant(house.tenant_id)
        ))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_hand_out_one_bounded_part_between_them() {
    let mut house = House::with("10.00").await;
    with_rate(&house).await;
    let second = house.another_gateway(&[]).await;
    let urls = [house.url.clone(), format!("http://{}", second.address)];
    for url in &urls {
        assert_eq!(fixed(&house, url).await.0, 200);
    }
    tokio::time::sleep(Duration::from_millis(500)).await; // both have beaten since both are there
    house.redis.kill().unwrap();
    // 10 % of about 9.90, half of it each: 0.49, four calls of 0.10.
    let (first, other) = tokio::join!(admitted_of(&house, &urls[0], 9), admitted_of(&house, &urls[1], 9));
    assert_eq!((first, other), (4, 4));
    let began = Instant::now();
    assert_eq!(fixed(&house, &urls[0]).await, unavailable());
    assert!(began.elapsed() < Duration::from_millis(500), "nobody waits for a Redis that is away");
    assert!(house.http.get(format!("{}/readyz", house.url)).send().await.unwrap().status().is_success());
    house.redis.restart().unwrap();
    for url in &urls {
        until_back(&house, url).await;
    }
    assert_agreement(&house).await;
    let fixed_calls =
        house.database.value("SELECT count(*) FROM usage_records WHERE model = 'fixed' AND outcome = 'final'");
    assert_eq!(fixed_calls.await.unwrap(), 10);
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_alone_is_cut_off_hands_out_its_share_and_the_other_goes_on() {
    let house = House::with("10.00").await;
    with_rate(&house).await;
    let proxy = TcpProxy::start(house.redis.address()).await.unwrap();
    let second = house.gateway_on(format!("redis://{}/", proxy.address()), &[]).await;
    let cut_off = format!("http://{}", second.address);
    for url in [&house.url, &cut_off] {
        assert_eq!(fixed(&house, url).await.0, 200);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    proxy.set_mode(Mode::BlackHole); // nothing is closed, nothing answers
    let (alone, with_redis) = tokio::join!(admitted_of(&house, &cut_off, 9), admitted_of(&house, &house.url, 9));
    assert_eq!((alone, with_redis), (4, 9));
    proxy.set_mode(Mode::Forward);
    until_back(&house, &cut_off).await;
    assert_eq!(admitted_of(&house, &cut_off, 9).await, 9);
    assert_agreement(&house).await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_refuses_for_its_time_and_bypass_admits_beyond_the_quota() {
    let mut house = House::with("0.25").await;
    with_rate(&house).await;
    house.start_gateway(&["--outage-in-flight", "3"]).await;
    set_outage(&house, json!([{"mode": "deny", "for_s": 3}, {"mode": "bypass"}])).await;
    assert_eq!(fixed(&house, &house.url).await.0, 200);
    house.settled().await;
    house.redis.freeze().unwrap(); // nothing is refused, nothing answers
    let began = Instant::now();
    assert_eq!(fixed(&house, &house.url).await, unavailable());
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    while began.elapsed() < Duration::from_millis(2_500) {
        assert_eq!(fixed(&house, &house.url).await, unavailable());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    // 0.15 are left: bypass does not ask, but no more than three at once.
    house.sim.book().hold(0);
    let calls: Vec<_> = (0..5).map(|_| tokio::spawn(house.chat("fixed", "[[sim out=5]]", json!({})).send())).collect();
    testkit::wait::until_async("two calls to be refused and three to be held", Duration::from_secs(5), || async {
        let ended = calls.iter().filter(|call| call.is_finished()).count();
        Ok((ended == 2 && house.sim.book().active().held == 3).then_some(()))
    })
    .await
    .unwrap();
    house.sim.book().release();
    let mut statuses = Vec::new();
    for call in calls {
        statuses.push(call.await.unwrap().unwrap().status().as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 503, 503]);
    house.redis.thaw().unwrap();
    testkit::wait::until_async("Redis to refuse what is beyond the quota", Duration::from_secs(10), || async {
        Ok((fixed(&house, &house.url).await.1 == "payment_required").then_some(()))
    })
    .await
    .unwrap();
    let used = assert_agreement(&house).await;
    // One before, three at once, and those that asked before Redis was back.
    let count = "SELECT count(*) FROM usage_records WHERE outcome = 'final'";
    let calls = house.database.value(count).await.unwrap().as_i64().unwrap();
    assert!(calls >= 4, "{calls}");
    assert_eq!(used, calls * 10_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_stream_grows_within_the_share_and_is_charged_to_the_token() {
    let mut house = House::with("0.00200000").await; // some 950 tokens of answer
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    house.make_model(NewModel { name: "stepping", freeze_output_tokens: 50, ..NewModel::default() }, &[upstream]).await;
    with_rate(&house).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let more = json!({"stream": true, "max_tokens": 900});
    let short = house.chat("stepping", "[[sim out=50 chunks=50 delay_ms=50]]", more.clone()).send().await.unwrap();
    let long = house.chat("stepping", "[[sim out=900 chunks=900 delay_ms=10]]", more).send().await.unwrap();
    let ids = [request_id(&short), request_id(&long)];
    house.redis.kill().unwrap();
    let (short, long) = tokio::join!(short.text(), long.text());
    assert!(!short.unwrap().contains("x_tollgate"), "what its freeze pays goes on");
    let stopped = events(&long.unwrap()).into_iter().find(|event| event.contains("\"stopped\":\"quota\""));
    assert!(stopped.is_some(), "the share does not pay 900 tokens");
    house.redis.restart().unwrap();
    until_back(&house, &house.url).await;
    let (mut used, mut outputs) = (0, Vec::new());
    for id in &ids {
        let record = house.record(id).await;
        let tokens = |kind: &str| record["usage"][kind].as_u64().unwrap();
        used += cost(tokens("input"), tokens("output"));
        outputs.push(tokens("output"));
        assert_eq!(record["overrun"], false, "{record}");
    }
    assert_eq!(outputs[0], 50);
    // 50 frozen, and at most 10 % of what 850 tokens cost.
    assert!((55..=150).contains(&outputs[1]), "{outputs:?}");
    let all = assert_agreement(&house).await;
    let rest = house.database.value("SELECT sum(actual)::bigint FROM usage_records WHERE model = 'sim-small'");
    assert_eq!(all, used + rest.await.unwrap().as_i64().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_never_here_is_refused() {
    let mut house = House::with("1.00").await;
    house.redis.kill().unwrap();
    assert_eq!(fixed(&house, &house.url).await, unavailable());
    assert_eq!(fixed(&house, &house.url).await, unavailable());
    house.redis.restart().unwrap();
    testkit::wait::until_async("Redis to decide again", Duration::from_secs(10), || async {
        Ok((fixed(&house, &house.url).await.0 == 200).then_some(()))
    })
    .await
    .unwrap();
    assert_eq!(assert_agreement(&house).await, 10_000_000);
}

//! Limits beside the quota, from outside: every metered route refuses at each of them, in its own dialect, and says when.

use std::time::{Duration, Instant};

use domain::{Level, LimitName, LimitSet, PeriodLabel, Scope, Shard};
use futures_util::StreamExt;
use serde_json::{Value, json};
use testkit::redis::Reply;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tollgate_gateway::router::METERED;

use crate::house::{House, request_id};

impl House {
    fn scope(&self, level: Level) -> Scope {
        match level {
            Level::Key => Scope::Key(self.key_id, PeriodLabel::none()),
            Level::Project => Scope::Project(self.project_id, PeriodLabel::none()),
            _ => Scope::Tenant(self.tenant_id),
        }
    }

    /// Sets the packed limits of a level and pushes them, as the admin API does.
    async fn limit(&self, level: Level, packed: &str) {
        let store = store::Store::connect(&store::Config::new(self.database.owner_url(), "test")).await.unwrap();
        let scopes = [Level::Key, Level::Project, Level::Tenant].map(|level| self.scope(level));
        let limits = Some(LimitSet::parse(packed).unwrap());
        let change = store::accounts::Change { limits, ..store::accounts::Change::default() };
        let mut transaction = store.begin().await.unwrap();
        store::load::load(&mut transaction, self.tenant_id, &scopes).await.unwrap();
        store::accounts::change(&mut transaction, &self.scope(level), &change).await.unwrap();
        transaction.commit().await.unwrap();
        let quota = quota::Quota::observe(quota::Config::new("admin", self.redis.url()), store).await.unwrap();
        assert!(quota.push(self.tenant_id, &[self.scope(level)]).await.unwrap().in_force);
    }

    /// Lets so many ms pass for what is counted in a rate.
    fn age(&self, level: Level, name: &str, ms: i64) {
        let shard = Shard::of(self.tenant_id).index();
        let key = format!("tg:{{q{shard:04}}}:r:{}", self.scope(level).id());
        let Reply::Text(packed) = self.redis.command(&["HGET", &key, name]).unwrap() else { return };
        let aged = |entry: &str| {
            let (at, count) = entry.split_once(':').unwrap();
            format!("{}:{count}", at.parse::<i64>().unwrap() - ms)
        };
        let (head, list) = packed.rsplit_once(' ').unwrap();
        let entries: Vec<String> = list.split_terminator(',').map(aged).collect();
        self.redis.command(&["HSET", &key, name, &format!("{head} {},", entries.join(","))]).unwrap();
    }

    /// One limit as `GET /v1/quota` shows it.
    async fn limit_use(&self, level: &str, name: &str) -> Value {
        let quota = self.get("/v1/quota").await;
        let mut limits = quota["limits"].as_array().unwrap().iter();
        limits.find(|limit| limit["level"] == level && limit["name"] == name).unwrap().clone()
    }
}

fn header<'a>(response: &'a reqwest::Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

/// A small body for a metered route.
fn body(path: &str) -> Value {
    let text = "Hello [[sim out=5]]";
    let messages = json!([{"role": "user", "content": text}]);
    match path {
        "/v1/chat/completions" => json!({"model": "sim-small", "messages": messages}),
        "/v1/completions" => json!({"model": "sim-small", "prompt": text}),
        "/v1/responses" => json!({"model": "sim-small", "input": text}),
        "/v1/messages" => json!({"model": "sim-small", "max_tokens": 50, "messages": messages}),
        "/v1/embeddings" => json!({"model": "emb", "input": "Hello"}),
        "/v1/images/generations" => json!({"model": "draw", "prompt": text}),
        "/v1/audio/speech" => json!({"model": "speak", "input": text, "voice": "alloy"}),
        "/v1/rerank" => json!({"model": "rank", "query": "Hello", "documents": ["a", "b"]}),
        other => unreachable!("the route {other} is new: give it a body that it takes"),
    }
}

async fn house(credits: &str) -> House {
    let house = House::with(credits).await;
    house.make_other_models().await;
    house
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metered_route_refuses_at_every_limit_of_every_level() {
    let house = house("1.00").await;
    let limits = [
        ("1,,,,,", LimitName::Rpm),
        (",1,,,,", LimitName::Rpd),
        (",,1,,,", LimitName::Tpm),
        (",,,1,,", LimitName::Tpd),
        (",,,,1,", LimitName::InFlight),
        (",,,,,1", LimitName::MaxPerRequest),
    ];
    for level in [Level::Key, Level::Project, Level::Tenant] {
        for (packed, name) in limits {
            // One stream runs meanwhile: it is what is in flight.
            let running = house.chat("sim-small", "[[sim out=300 chunks=300 delay_ms=100]]", json!({"stream": true}));
            let running = running.send().await.unwrap();
            assert_eq!(running.status(), 200, "{level} {packed}");
            house.limit(level, packed).await;
            if matches!(name, LimitName::Rpm | LimitName::Rpd) {
                let first = house.chat("sim-small", "Hello [[sim out=5]]", json!({})).send().await.unwrap();
                assert_eq!(first.status(), 200, "{level} {packed}");
            }
            let served = house.sim.book().ledger(0, 10_000).len();
            for (path, _) in METERED {
                let route = path.trim_start_matches("/v1");
                let call = match path {
                    "/v1/audio/transcriptions" => house.form(route, &[("model", "hear")], &[0; 400]),
                    _ => house.post(route, &body(path)),
                };
                let response = call.send().await.unwrap();
                let context = format!("{path} {level} {packed}");
                assert_eq!(response.status(), 429, "{context}");
                let retry_after = header(&response, "retry-after").map(|seconds| seconds.parse::<u64>().unwrap());
                let should_retry = header(&response, "x-should-retry").map(str::to_owned);
                let body: Value = response.json().await.unwrap();
                let detail = &body["error"]["tollgate"];
                assert_eq!((&detail["level"], &detail["limit"]), (&json!(level), &json!(name.as_str())), "{context}");
                let alone = matches!(name, LimitName::Tpm | LimitName::Tpd | LimitName::MaxPerRequest);
                // No SDK waits for a day: its retries would be of its own timing, and in vain.
                let in_vain = alone || name == LimitName::Rpd;
                assert_eq!(should_retry.as_deref(), Some(if in_vain { "false" } else { "true" }), "{context}");
                match name {
                    LimitName::Rpm => assert!((40..=60).contains(&retry_after.unwrap()), "{context}"),
                    LimitName::Rpd => assert!((86_380..=86_400).contains(&retry_after.unwrap()), "{context}"),
                    LimitName::InFlight => assert_eq!(retry_after, Some(1), "{context}"),
                    _ => assert_eq!(retry_after, None, "no waiting helps: {context}"),
                }
                let code = if name == LimitName::MaxPerRequest { "insufficient_quota" } else { "rate_limit_exceeded" };
                assert_eq!(body["error"]["code"], code, "{context}");
                let anthropic = path == "/v1/messages";
                let kind = if anthropic || name != LimitName::MaxPerRequest { "rate_limit_error" } else { code };
                assert_eq!((body["type"] == "error", &body["error"]["type"]), (anthropic, &json!(kind)), "{context}");
            }
            assert_eq!(house.sim.book().ledger(0, 10_000).len(), served, "the provider sees none of them");
            drop(running);
            house.limit(level, "").await;
        }
    }
}

/// A call as it is written on the wire; its status. Clients put paths in order before they send them.
async fn raw(house: &House, path: &str) -> u16 {
    let (authority, body) = (house.url.trim_start_matches("http://"), body("/v1/chat/completions").to_string());
    let mut socket = TcpStream::connect(authority).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {authority}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        house.key,
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    socket.read_to_end(&mut reply).await.unwrap();
    let status = reply.strip_prefix(b"HTTP/1.1 ").unwrap().get(..3).unwrap();
    std::str::from_utf8(status).unwrap().parse().unwrap()
}

/// Case 38: however a path is written, and over HTTP/2, what reaches the provider was counted.
#[tokio::test]
async fn no_spelling_of_a_path_escapes_a_limit() {
    let house = House::with("1.00").await;
    house.limit(Level::Key, "1,,,,,").await;
    let plain = "/v1/chat/completions";
    assert_eq!(raw(&house, plain).await, 200);
    let absolute = format!("{}{plain}", house.url);
    for (path, is_route) in [
        (plain, true),
        ("/v1/chat/completions?api-version=1", true),
        (absolute.as_str(), true),
        ("/v1/chat/completions/", false),
        ("/v1/chat%2Fcompletions", false),
        ("/v1/chat/%63ompletions", false),
        ("//v1/chat/completions", false),
        ("/v1//chat/completions", false),
        ("/v1/./chat/completions", false),
        ("/v1/models/../chat/completions", false),
        ("/v1/chat/completions;x=1", false),
        ("/V1/chat/completions", false),
    ] {
        let status = raw(&house, path).await;
        let is_refused = status == 429 || (!is_route && matches!(status, 404 | 405));
        assert!(is_refused, "{path}: {status}");
    }
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    let response = client.post(format!("{}{plain}", house.url)).bearer_auth(&house.key).json(&body(plain)).send();
    let response = response.await.unwrap();
    assert_eq!((response.version(), response.status().as_u16()), (http::Version::HTTP_2, 429));
    assert_eq!(house.served(1).await.len(), 1, "the provider saw none of them");
}

#[tokio::test]
async fn a_rate_says_when_and_keeps_its_word() {
    let house = House::with("1.00").await;
    house.limit(Level::Key, "2,50,,,,").await;
    house.limit(Level::Tenant, "9,,100000,,,").await;
    let hello = || house.chat("sim-small", "Hello [[sim out=5]]", json!({"max_tokens": 50})).send();
    let first = hello().await.unwrap();
    assert_eq!(
        (header(&first, "x-ratelimit-limit-requests"), header(&first, "x-ratelimit-remaining-requests")),
        (Some("2"), Some("1"))
    );
    assert_eq!(
        (header(&first, "x-ratelimit-limit-tokens"), header(&first, "x-ratelimit-reset-tokens")),
        (Some("100000"), Some("1m0s"))
    );
    assert_eq!(header(&hello().await.unwrap(), "x-ratelimit-remaining-requests"), Some("0"));
    let refused = hello().await.unwrap();
    assert_eq!((refused.status().as_u16(), header(&refused, "x-ratelimit-remaining-requests")), (429, Some("0")));
    let seconds: u64 = header(&refused, "retry-after").unwrap().parse().unwrap();
    let ms: u64 = header(&refused, "retry-after-ms").unwrap().parse().unwrap();
    assert!((50..=60).contains(&seconds) && ms.div_ceil(1000) == seconds, "{seconds} {ms}");
    let refused: Value = refused.json().await.unwrap();
    let detail = &refused["error"]["tollgate"];
    assert_eq!(
        (&detail["total"], &detail["used"], &detail["remaining"], &detail["frozen"]),
        (&json!("2"), &json!("2"), &json!("0"), &json!(null))
    );
    assert!(detail["resets_at"].is_string());
    let shown = house.limit_use("key", "rpm").await;
    assert_eq!((&shown["limit"], &shown["used"], &shown["remaining"]), (&json!(2), &json!(2), &json!(0)));
    assert!(shown["resets_at"].is_string());
    // Two seconds before the first of the two slides out:
    house.age(Level::Key, "rpm", i64::try_from(ms).unwrap() - 2_000);
    let refused = hello().await.unwrap();
    let left = Duration::from_millis(header(&refused, "retry-after-ms").unwrap().parse().unwrap());
    assert!(left <= Duration::from_secs(2), "{left:?}");
    tokio::time::sleep(left.saturating_sub(Duration::from_millis(200))).await;
    let began = Instant::now();
    let refused = hello().await.unwrap();
    let rest = Duration::from_millis(header(&refused, "retry-after-ms").unwrap().parse().unwrap());
    tokio::time::sleep_until((began + rest + Duration::from_millis(5)).into()).await;
    assert_eq!(hello().await.unwrap().status(), 200);
}

/// Case 2 of the catalogue.
#[tokio::test(flavor = "multi_thread")]
async fn of_five_calls_of_eighty_tokens_against_a_hundred_a_minute_one_is_admitted() {
    let house = House::with("1.00").await;
    for stream in [false, true] {
        house.limit(Level::Tenant, ",,100,,,").await;
        house.sim.book().hold(0);
        let ask = json!({"max_tokens": 60, "stream": stream});
        let calls: Vec<_> =
            (0..5).map(|_| tokio::spawn(house.chat("sim-small", "Hello [[sim out=60]]", ask.clone()).send())).collect();
        testkit::wait::until_async("every call to be decided", Duration::from_secs(30), || async {
            let ended = calls.iter().filter(|call| call.is_finished()).count();
            Ok((house.sim.book().active().held + ended == 5).then_some(()))
        })
        .await
        .unwrap();
        house.sim.book().release();
        let mut admitted = 0;
        for call in calls {
            let response = call.await.unwrap().unwrap();
            let remaining: i64 = header(&response, "x-ratelimit-remaining-tokens").unwrap().parse().unwrap();
            assert!((0..100).contains(&remaining), "{remaining}");
            if response.status() == 200 {
                admitted += 1;
                let id = request_id(&response);
                response.bytes().await.unwrap();
                house.record(&id).await;
                house.settled().await;
            } else {
                assert_eq!(response.status(), 429);
                let seconds: u64 = header(&response, "retry-after").unwrap().parse().unwrap();
                assert!((1..=60).contains(&seconds), "{seconds}");
            }
        }
        assert_eq!(admitted, 1);
        house.limit(Level::Tenant, "").await;
        house.age(Level::Tenant, "tpm", 60_000);
    }
}

#[tokio::test]
async fn a_settle_replaces_the_estimate_by_the_true_number_of_tokens() {
    let house = House::with("1.00").await;
    house.limit(Level::Project, ",,5000,,,").await;
    let used = async || house.limit_use("project", "tpm").await["used"].as_i64().unwrap();
    let response = house.chat("sim-small", "Hello [[sim out=40]]", json!({})).send().await.unwrap();
    let reserved = 5_000 - header(&response, "x-ratelimit-remaining-tokens").unwrap().parse::<i64>().unwrap();
    assert!(reserved > 4_000, "the whole maximum was reserved: {reserved}");
    let record = house.record(&request_id(&response)).await;
    let true_tokens = record["usage"]["input"].as_i64().unwrap() + 40;
    house.settled().await;
    assert_eq!(used().await, true_tokens);
    // A call that fails takes nothing.
    let failed = house.chat("sim-small", "[[sim fault=status:500]]", json!({})).send().await.unwrap();
    assert_eq!(failed.status(), 502);
    house.settled().await;
    assert_eq!(used().await, true_tokens);
    // A stream that goes on beyond its reservation counts in full; what is left is never negative.
    house.limit(Level::Project, ",,1300,,,").await;
    let ask = json!({"stream": true});
    let stream = house.chat("sim-small", "Hello [[sim out=2000 chunks=20]]", ask).send().await.unwrap();
    let id = request_id(&stream);
    stream.bytes().await.unwrap();
    house.record(&id).await;
    house.settled().await;
    let shown = house.limit_use("project", "tpm").await;
    assert!(shown["used"].as_i64().unwrap() > 2_000, "{shown}");
    assert_eq!(shown["remaining"], 0);
    let refused = house.chat("sim-small", "Hello", json!({"max_tokens": 20})).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), header(&refused, "x-ratelimit-remaining-tokens")), (429, Some("0")));
}

/// Case 31 of the catalogue.
#[tokio::test]
async fn each_limit_below_the_default_estimate_lets_a_small_first_request_pass() {
    let house = House::with("1.00").await;
    for (packed, name) in [
        ("1,,,,,", "rpm"),
        (",1,,,,", "rpd"),
        (",,100,,,", "tpm"),
        (",,,100,,", "tpd"),
        (",,,,1,", "in_flight"),
        (",,,,,20000", "max_per_request"),
    ] {
        for level in [Level::Key, Level::Project, Level::Tenant] {
            for stream in [false, true] {
                house.limit(level, packed).await;
                let ask = json!({"stream": stream});
                let response = house.chat("sim-small", "Hello [[sim out=5]]", ask).send().await.unwrap();
                assert_eq!(response.status(), 200, "{name} of {level}");
                let lowers = !stream && ["tpm", "tpd", "max_per_request"].contains(&name);
                assert_eq!(response.headers().contains_key("x-tollgate-max-tokens"), lowers, "{name}");
                let id = request_id(&response);
                response.bytes().await.unwrap();
                house.record(&id).await;
                house.settled().await;
                for name in ["rpm", "rpd", "tpm", "tpd"] {
                    house.age(level, name, 86_400_000);
                }
                house.limit(level, "").await;
            }
        }
    }
}

/// Case 6 of the catalogue.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_aborted_streams_leak_no_place_in_flight() {
    let house = House::with("5.00").await;
    house.limit(Level::Key, ",,,,10,").await;
    let stop = tokio_util::sync::CancellationToken::new();
    let steady: Vec<_> = (0..2)
        .map(|_| {
            let (stop, request) = (stop.clone(), house.chat("sim-small", "Hello [[sim out=5]]", json!({})));
            tokio::spawn(async move {
                let mut answers = 0;
                while !stop.is_cancelled() {
                    let response = request.try_clone().unwrap().send().await.unwrap();
                    assert!([200, 429].contains(&response.status().as_u16()));
                    answers += usize::from(response.status() == 200);
                    response.bytes().await.unwrap();
                }
                answers
            })
        })
        .collect();
    let aborting: Vec<_> = (0..5)
        .map(|_| {
            let script = "[[sim out=400 chunks=400 delay_ms=20]]";
            let request = house.chat("sim-small", script, json!({"stream": true, "max_tokens": 32_000}));
            tokio::spawn(async move {
                let mut aborted = 0;
                while aborted < 40 {
                    let response = request.try_clone().unwrap().send().await.unwrap();
                    if response.status() != 200 {
                        assert_eq!(response.status(), 429);
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                    let mut stream = response.bytes_stream();
                    stream.next().await.unwrap().unwrap();
                    aborted += 1;
                }
            })
        })
        .collect();
    for task in aborting {
        task.await.unwrap();
    }
    stop.cancel();
    for task in steady {
        assert!(task.await.unwrap() > 0, "steady traffic went on");
    }
    testkit::wait::until_async("nothing to be in flight", Duration::from_secs(5), || async {
        Ok((house.limit_use("key", "in_flight").await["used"] == 0).then_some(()))
    })
    .await
    .unwrap();
    house.sim.book().hold(0);
    let ten: Vec<_> =
        (0..10).map(|_| tokio::spawn(house.chat("sim-small", "Hello [[sim out=5]]", json!({})).send())).collect();
    testkit::wait::until_async("all ten to be admitted", Duration::from_secs(10), || async {
        Ok((house.sim.book().active().held == 10).then_some(()))
    })
    .await
    .unwrap();
    let eleventh = house.chat("sim-small", "Hello", json!({})).send().await.unwrap();
    assert_eq!((eleventh.status().as_u16(), header(&eleventh, "retry-after")), (429, Some("1")));
    house.sim.book().release();
    for call in ten {
        assert_eq!(call.await.unwrap().unwrap().status(), 200);
    }
    house.settled().await;
}

#[tokio::test]
async fn a_stream_ends_cleanly_at_the_most_for_one_request() {
    let house = House::with("1.00").await;
    // 100 000 units pay some 470 tokens of the answer.
    house.limit(Level::Project, ",,,,,100000").await;
    let ask = json!({"stream": true});
    let response = house.chat("sim-small", "Hello [[sim out=3000 chunks=600]]", ask).send().await.unwrap();
    let id = request_id(&response);
    let text = response.text().await.unwrap();
    assert!(text.contains(r#""x_tollgate":{"stopped":"ceiling"}"#) && text.contains("data: [DONE]"), "{text}");
    let record = house.record(&id).await;
    assert!(record["charged"].as_i64().unwrap() <= 100_000, "{record}");
}

//! Images and rerank: charged to the unit, whatever the provider reports.

use serde_json::{Value, json};

use crate::house::{House, NewModel, cost, request_id};

async fn house() -> House {
    let house = House::with("1.00").await;
    house.make_other_models().await;
    house
}

#[tokio::test]
async fn images_priced_each_cost_their_number() {
    let house = house().await;
    let upstream = house.make_upstream("images", &house.sim.url()).await;
    let each =
        |name, prices| NewModel { name, mode: "image", prices, upstream_model: "dall-e-3", ..NewModel::default() };
    house.make_model(each("painter", json!({"image": "0.04"})), &[upstream]).await;
    house.make_model(each("bundle", json!({"per_request": "0.05"})), &[upstream]).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let ask = |model: &str, n: u32| json!({"model": model, "prompt": "A cat", "n": n, "x_unknown": [1.5]});
    let response = house.post("/images/generations", &ask("painter", 2)).send().await.unwrap();
    assert_eq!(response.headers()["x-tollgate-model"], "painter");
    let record = house.record(&request_id(&response)).await;
    let reply: Value = response.json().await.unwrap();
    assert_eq!(reply["data"].as_array().unwrap().len(), 2);
    assert_eq!((&record["charged"], &record["frozen"]), (&json!(8_000_000), &json!(8_000_000)), "known beforehand");
    assert_eq!((&record["usage"]["images"], &record["estimated"]), (&json!(2), &json!(false)));
    let response = house.post("/images/generations", &ask("bundle", 3)).send().await.unwrap();
    assert_eq!(house.record(&request_id(&response)).await["charged"], 5_000_000);
    let line = house.served(2).await.remove(0);
    assert_eq!((line.path.as_str(), line.model.as_str()), ("/v1/images/generations", "dall-e-3"));
    assert!(line.body.unwrap().contains(r#""x_unknown":[1.5]"#), "unknown fields ride along");
    // 30 more cost 1.20: the whole price is needed.
    let refused = house.post("/images/generations", &ask("painter", 30)).send().await.unwrap();
    assert_eq!(refused.status(), 429);
    house.served(2).await;
}

#[tokio::test]
async fn images_priced_by_tokens_cost_what_is_reported() {
    let house = house().await;
    let ask = |script: &str, more: Value| {
        let mut body = json!({"model": "draw", "prompt": format!("A cat {script}"), "size": "1024x1024"});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        body
    };
    let body = ask("[[sim out=900]]", json!({"n": 2, "quality": "medium"}));
    let response = house.post("/images/generations", &body).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    let reply: Value = response.json().await.unwrap();
    let prompt = reply["usage"]["input_tokens"].as_u64().unwrap();
    assert_eq!((&reply["usage"]["output_tokens"], &record["charged"]), (&json!(1_800), &json!(cost(prompt, 1_800))));
    assert_eq!((&record["usage"]["images"], &record["overrun"]), (&json!(2), &json!(false)));
    // Two images of 1 058 tokens at most each, and the safety factor.
    let frozen = record["frozen"].as_u64().unwrap();
    assert!((u64::try_from(cost(prompt, 2_116)).unwrap()..460_000).contains(&frozen), "{frozen}");
    // Nothing reported: the bound is charged, and said so.
    let response =
        house.post("/images/generations", &ask("[[sim usage=none]]", json!({"quality": "low"}))).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    let input = record["usage"]["input"].as_u64().unwrap();
    assert_eq!((&record["estimated"], &record["charged"]), (&json!(true), &json!(cost(input, 273))));
    // Errors cost nothing.
    let before = house.settled().await.used;
    for script in ["[[sim fault=status:500]]", "[[sim fault=error200]]", "[[sim fault=garbage]]", "[[sim fault=html]]"]
    {
        let response = house.post("/images/generations", &ask(script, json!({}))).send().await.unwrap();
        assert_eq!(response.status(), 502, "{script}");
    }
    assert_eq!(house.settled().await.used, before);
    for (body, param) in [(json!({"model": "draw"}), "prompt"), (json!({"model": "draw", "prompt": "a", "n": 0}), "n")]
    {
        let response = house.post("/images/generations", &body).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), response.json::<Value>().await.unwrap()["error"]["param"].as_str()),
            (400, Some(param))
        );
    }
}

#[tokio::test]
async fn rerank_costs_its_tokens() {
    let house = house().await;
    let ask = |script: &str| json!({"model": "rank", "query": format!("the cat {script}"), "documents": ["a cat", {"text": "the dog"}], "top_n": 1});
    let response = house.post("/rerank", &ask("")).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    let reply: Value = response.json().await.unwrap();
    assert_eq!(reply["results"].as_array().unwrap().len(), 1);
    let tokens = reply["usage"]["total_tokens"].as_u64().unwrap();
    assert_eq!((&record["charged"], &record["estimated"]), (&json!(cost(tokens, 0)), &json!(false)));
    assert!(record["frozen"].as_i64().unwrap() >= cost(tokens, 0), "{record}");
    let response = house.post("/rerank", &ask("[[sim usage=none]]")).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    assert_eq!(record["estimated"], true);
    assert_eq!(record["charged"], cost(record["usage"]["input"].as_u64().unwrap(), 0));
    let response =
        house.post("/rerank", &json!({"model": "rank", "query": "a", "documents": []})).send().await.unwrap();
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["param"], "documents");
    let response =
        house.post("/rerank", &json!({"model": "emb", "query": "a", "documents": ["a"]})).send().await.unwrap();
    assert_eq!(response.status(), 404, "an embedding model ranks nothing");
}

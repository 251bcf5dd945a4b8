//! A caller.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tollgate_sim_upstream::{Config, Entry, Running};

/// A running provider and a client.
pub struct World {
    pub sim: Running,
    pub http: reqwest::Client,
}

/// One event of a stream.
#[derive(Debug)]
pub struct Event {
    pub name: Option<String>,
    pub data: String,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

impl World {
    pub async fn new() -> Self {
        Self { sim: Running::start(Config::default()).await.unwrap(), http: reqwest::Client::new() }
    }

    pub fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.post(format!("{}{path}", self.sim.url())).header("anthropic-version", "2023-06-01")
    }

    pub async fn json(&self, path: &str, body: Value) -> Value {
        let response = self.post(path).json(&body).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    pub async fn events(&self, path: &str, body: Value) -> Vec<Event> {
        let response = self.post(path).json(&body).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        events(&response.text().await.unwrap())
    }

    pub async fn chat(&self, script: &str) -> reqwest::Response {
        self.post("/v1/chat/completions").json(&chat(script)).send().await.unwrap()
    }

    /// The only line of the ledger, once it is there.
    pub async fn line(&self) -> Entry {
        for _ in 0..200 {
            if let Some(line) = self.sim.book().ledger(0, 10).pop() {
                return line;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no answer ended within two seconds");
    }

    /// Waits until that many answers are being served, and as many of them held.
    pub async fn active(&self, held: usize, running: usize) {
        for _ in 0..500 {
            let active = self.sim.book().active();
            if (active.held, active.running) == (held, running) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{held} held and {running} running did not come about: {:?}", self.sim.book().active());
    }
}

/// A chat that is not streamed.
pub fn chat(script: &str) -> Value {
    json!({"model": "sim-small", "messages": [{"role": "user", "content": format!("hello {script}")}]})
}

/// A streamed chat.
pub fn streamed(script: &str) -> Value {
    let mut body = chat(script);
    body["stream"] = true.into();
    body
}

/// Events of a stream with LF line ends and one data line each.
pub fn events(text: &str) -> Vec<Event> {
    text.split_terminator("\n\n")
        .map(|block| {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            Event { name: field("event: "), data: field("data: ").unwrap() }
        })
        .collect()
}

/// Reads a body until it ends or breaks; what came, and whether it broke.
pub async fn read_all(response: reqwest::Response) -> (Vec<u8>, bool) {
    let mut stream = response.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(_) => return (bytes, true),
        }
    }
    (bytes, false)
}

//! The catcher from outside: a real SMTP client, raw sockets and HTTP.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    message::{Attachment, MultiPart, SinglePart, header::ContentType},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};
use tollgate_mail_catcher::{Config, Running};

fn sender(catcher: &Running) -> AsyncSmtpTransport<Tokio1Executor> {
    AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1").port(catcher.smtp_address().port()).build()
}

async fn json(url: String) -> Value {
    reqwest::get(url).await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn a_message_is_kept_with_its_parts() {
    let catcher = Running::start(Config::default()).await.unwrap();
    let body = MultiPart::mixed()
        .multipart(MultiPart::alternative_plain_html("Grüße\n.a line with a dot".to_owned(), "<b>Grüße</b>".to_owned()))
        .singlepart(
            Attachment::new("a.csv".to_owned()).body("1,2".to_owned(), ContentType::parse("text/csv").unwrap()),
        );
    let message = Message::builder()
        .from("Tollgate <noreply@example.com>".parse().unwrap())
        .to("owner@example.com".parse().unwrap())
        .cc("second@example.com".parse().unwrap())
        .subject("Das Kontingent ist fast verbraucht – ü")
        .multipart(body)
        .unwrap();
    sender(&catcher).send(message).await.unwrap();

    let list = json(format!("{}/messages", catcher.url())).await;
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["id"], 1);
    assert_eq!(list[0]["from"], "noreply@example.com");
    assert_eq!(list[0]["to"], serde_json::json!(["owner@example.com", "second@example.com"]));
    assert_eq!(list[0]["subject"], "Das Kontingent ist fast verbraucht – ü");

    let whole = json(format!("{}/messages/1", catcher.url())).await;
    assert_eq!(whole["text"].as_str().unwrap().replace("\r\n", "\n").trim_end(), "Grüße\n.a line with a dot");
    assert_eq!(whole["html"].as_str().unwrap().trim_end(), "<b>Grüße</b>");
    assert_eq!(whole["attachments"][0]["name"], "a.csv");
    assert_eq!(whole["attachments"][0]["content_type"], "text/csv");
    assert_eq!(whole["attachments"][0]["size_bytes"], 3);
    assert!(whole["headers"].as_array().unwrap().iter().any(|header| header[0] == "Subject"));
}

#[tokio::test]
async fn a_plain_message_has_no_html_and_markup_is_shown_as_text() {
    let catcher = Running::start(Config::default()).await.unwrap();
    let message = Message::builder()
        .from("a@example.com".parse().unwrap())
        .to("b@example.com".parse().unwrap())
        .subject("<script>alert(1)</script>")
        .singlepart(SinglePart::plain("only text".to_owned()))
        .unwrap();
    sender(&catcher).send(message).await.unwrap();
    let whole = json(format!("{}/messages/1", catcher.url())).await;
    assert_eq!(whole["text"].as_str().unwrap().trim_end(), "only text");
    assert_eq!(whole["html"], Value::Null);
    let page = reqwest::get(catcher.url()).await.unwrap();
    assert_eq!(page.headers()["content-security-policy"], "default-src 'none'");
    let page = page.text().await.unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(!page.contains("<script>"), "{page}");
}

#[tokio::test]
async fn messages_are_found_by_recipient_and_forgotten_together() {
    let catcher = Running::start(Config { max_messages: 3, ..Config::default() }).await.unwrap();
    for number in 1..=4 {
        let message = Message::builder()
            .from("a@example.com".parse().unwrap())
            .to(format!("to{}@example.com", number % 2).parse().unwrap())
            .subject(format!("number {number}"))
            .body(String::new())
            .unwrap();
        sender(&catcher).send(message).await.unwrap();
    }
    let all = json(format!("{}/messages", catcher.url())).await;
    let subjects: Vec<_> = all.as_array().unwrap().iter().map(|message| message["subject"].clone()).collect();
    assert_eq!(subjects, ["number 2", "number 3", "number 4"]);
    let even = json(format!("{}/messages?to=TO0@example.com", catcher.url())).await;
    assert_eq!(even.as_array().unwrap().len(), 2);

    let deleted = reqwest::Client::new().delete(format!("{}/messages", catcher.url())).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(json(format!("{}/messages", catcher.url())).await, serde_json::json!([]));
    assert_eq!(reqwest::get(format!("{}/messages/4", catcher.url())).await.unwrap().status(), 404);
    assert_eq!(reqwest::get(format!("{}/messages/x", catcher.url())).await.unwrap().status(), 404);
}

/// A client that says exactly what it is told.
struct Raw(BufReader<TcpStream>);

impl Raw {
    async fn connect(catcher: &Running) -> Self {
        let mut raw = Self(BufReader::new(TcpStream::connect(catcher.smtp_address()).await.unwrap()));
        assert!(raw.reply().await.starts_with("220 "));
        raw
    }

    /// The last line of a reply.
    async fn reply(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await.unwrap();
            if line.as_bytes().get(3) != Some(&b'-') {
                return line;
            }
        }
    }

    async fn say(&mut self, line: &str) -> String {
        self.send(&format!("{line}\r\n")).await;
        self.reply().await
    }

    async fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn commands_out_of_order_are_refused() {
    let catcher = Running::start(Config::default()).await.unwrap();
    let mut raw = Raw::connect(&catcher).await;
    assert!(raw.say("MAIL FROM:<a@b.c>").await.starts_with("503"));
    assert!(raw.say("EHLO me").await.starts_with("250"));
    assert!(raw.say("RCPT TO:<a@b.c>").await.starts_with("503"));
    assert!(raw.say("DATA").await.starts_with("503"));
    assert!(raw.say("MAIL FROM:<a@b.c>").await.starts_with("250"));
    assert!(raw.say("MAIL FROM:<a@b.c>").await.starts_with("503"));
    assert!(raw.say("DATA").await.starts_with("503"));
    assert!(raw.say("RSET").await.starts_with("250"));
    assert!(raw.say("RCPT TO:<a@b.c>").await.starts_with("503"));
    assert!(raw.say("NOOP").await.starts_with("250"));
    assert!(raw.say("STARTTLS").await.starts_with("502"));
    assert!(raw.say(&"x".repeat(9_000)).await.starts_with("500"));
    assert!(raw.say("QUIT").await.starts_with("221"));
    assert_eq!(raw.reply().await, "", "the connection is closed after QUIT");
}

#[tokio::test]
async fn a_message_above_the_size_is_refused_and_the_next_is_taken() {
    let catcher = Running::start(Config { max_message_bytes: 100, ..Config::default() }).await.unwrap();
    let mut raw = Raw::connect(&catcher).await;
    raw.say("EHLO me").await;
    assert!(raw.say("MAIL FROM:<a@b.c> SIZE=101").await.starts_with("552"));
    for (text, code) in [("x".repeat(200), "552"), ("short".to_owned(), "250")] {
        assert!(raw.say("MAIL FROM:<a@b.c> SIZE=100").await.starts_with("250"));
        assert!(raw.say("RCPT TO:<d@e.f>").await.starts_with("250"));
        assert!(raw.say("DATA").await.starts_with("354"));
        assert!(raw.say(&format!("{text}\r\n.")).await.starts_with(code));
    }
    assert_eq!(catcher.inbox().all().len(), 1);
    assert_eq!(catcher.inbox().all()[0].raw.as_ref(), b"short\r\n");
}

#[tokio::test]
async fn a_second_message_cannot_be_smuggled_in_behind_bare_line_ends() {
    let catcher = Running::start(Config::default()).await.unwrap();
    let mut raw = Raw::connect(&catcher).await;
    raw.say("EHLO me").await;
    raw.say("MAIL FROM:<a@b.c>").await;
    raw.say("RCPT TO:<d@e.f>").await;
    raw.say("DATA").await;
    raw.send("first\n.\nMAIL FROM:<x@y.z>\nRCPT TO:<d@e.f>\nDATA\nsecond\r\n").await;
    assert!(raw.say(".").await.starts_with("550"));
    assert!(catcher.inbox().all().is_empty());
}

#[tokio::test]
async fn dots_are_unstuffed_and_pipelined_commands_answered_in_order() {
    let catcher = Running::start(Config::default()).await.unwrap();
    let mut raw = Raw::connect(&catcher).await;
    raw.say("EHLO me").await;
    raw.send("MAIL FROM:<>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n").await;
    for code in ["250", "250", "354"] {
        assert!(raw.reply().await.starts_with(code));
    }
    assert!(raw.say("..one\r\n...\r\n.").await.starts_with("250"));
    let messages = catcher.inbox().all();
    assert_eq!(messages[0].from, "");
    assert_eq!(messages[0].raw.as_ref(), b".one\r\n..\r\n");
}

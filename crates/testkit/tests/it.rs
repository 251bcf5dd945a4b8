//! The kit itself, on real servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tollgate_testkit::postgres::{Database, Server};
use tollgate_testkit::process::Plan;
use tollgate_testkit::proxy::{Mode, TcpProxy};
use tollgate_testkit::redis::{Options, Redis, Reply};
use tollgate_testkit::{http, wait};

#[tokio::test]
async fn redis_answers_and_ends_on_drop() {
    let redis = Redis::start().await.unwrap();
    assert_eq!(redis.command(&["SET", "a", "1"]).unwrap(), Reply::Text("OK".into()));
    assert_eq!(redis.command(&["INCR", "a"]).unwrap(), Reply::Int(2));
    assert!(redis.command(&["DEBUG", "JMAP"]).is_err());
    let (address, directory) = (redis.address(), redis.directory().to_owned());
    drop(redis);
    assert!(TcpStream::connect(address).await.is_err());
    assert!(!directory.exists());
}

#[tokio::test]
async fn redis_with_aof_keeps_what_it_acknowledged_when_killed() {
    let options = Options { aof: true, debug_commands: true, ..Options::default() };
    let mut redis = Redis::start_with(options).await.unwrap();
    redis.command(&["SET", "a", "1"]).unwrap();
    redis.restart().unwrap();
    assert_eq!(redis.command(&["GET", "a"]).unwrap(), Reply::Text("1".into()));
    redis.command(&["DEBUG", "SLEEP", "0"]).unwrap();
}

#[tokio::test]
async fn databases_are_migrated_and_apart() {
    let (one, two) = tokio::join!(Database::create(), Database::create());
    let (one, two) = (one.unwrap(), two.unwrap());
    let insert = "INSERT INTO tenants (id, name, unit, time_zone, period_kind) VALUES (gen_random_uuid(), 'a', 'credit', 'UTC', 'month')";
    one.execute(insert).await.unwrap();
    assert_eq!(one.value("SELECT count(*) FROM tenants").await.unwrap(), 1);
    assert_eq!(two.value("SELECT count(*) FROM tenants").await.unwrap(), 0);
    assert_eq!(one.rows("SELECT name FROM tenants").await.unwrap()[0]["name"], "a");
}

#[tokio::test]
async fn the_services_role_has_few_rights() {
    let database = Database::create().await.unwrap();
    let mut app = <sqlx::PgConnection as sqlx::Connection>::connect(&database.app_url()).await.unwrap();
    sqlx::query("SELECT count(*) FROM tenants").execute(&mut app).await.unwrap();
    let refused = sqlx::query("DELETE FROM settlements").execute(&mut app).await.unwrap_err().to_string();
    assert!(refused.contains("permission denied"), "{refused}");
}

#[tokio::test]
async fn postgres_survives_an_immediate_stop() {
    let mut server = Server::start().await.unwrap();
    let database = Database::create_on(&server).await.unwrap();
    database.execute("CREATE TABLE kept AS SELECT 1 AS a").await.unwrap();
    server.stop_immediately().unwrap();
    assert!(database.value("SELECT a FROM kept").await.is_err());
    server.restart().unwrap();
    assert_eq!(database.value("SELECT a FROM kept").await.unwrap(), 1);
}

async fn echo() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                tokio::io::copy(&mut read, &mut write).await
            });
        }
    });
    address
}

async fn ping(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"ping").await?;
    stream.read_exact(&mut [0; 4]).await.map(drop)
}

#[tokio::test]
async fn the_proxy_forwards_counts_delays_and_cuts() {
    let proxy = TcpProxy::start(echo().await).await.unwrap();
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    for _ in 0..3 {
        ping(&mut stream).await.unwrap();
    }
    assert_eq!((proxy.round_trips(), proxy.bytes_sent(), proxy.bytes_received()), (3, 12, 12));

    proxy.set_mode(Mode::Delay(Duration::from_millis(50)));
    let start = Instant::now();
    ping(&mut stream).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100));

    proxy.set_mode(Mode::Forward);
    proxy.cut();
    assert!(ping(&mut stream).await.is_err());
    ping(&mut TcpStream::connect(proxy.address()).await.unwrap()).await.unwrap();
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn the_proxy_swallows_and_refuses() {
    let mut proxy = TcpProxy::start(echo().await).await.unwrap();
    let brief = Duration::from_millis(100);
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    ping(&mut stream).await.unwrap();
    let sent = proxy.bytes_sent();

    proxy.set_mode(Mode::BlackHole);
    assert!(tokio::time::timeout(brief, ping(&mut stream)).await.is_err());
    assert_eq!(proxy.bytes_sent(), sent);

    proxy.set_mode(Mode::LoseReplies);
    assert!(tokio::time::timeout(brief, ping(&mut stream)).await.is_err());
    assert_eq!(proxy.bytes_sent(), sent + 4);

    proxy.set_mode(Mode::Forward);
    proxy.refuse().await;
    assert!(TcpStream::connect(proxy.address()).await.is_err());
    assert!(ping(&mut stream).await.is_err());
    proxy.accept_again().await.unwrap();
    ping(&mut TcpStream::connect(proxy.address()).await.unwrap()).await.unwrap();
}

/// A service in Python: `/readyz` answers 200.
const SERVICE: &str = r"
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == '/readyz' else 404)
        self.end_headers()
host, port = sys.argv[1].split(':')
print('serving', flush=True)
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
";

fn service() -> Plan {
    Plan::new("/usr/bin/env".into()).arguments(["python3", "-c", SERVICE, "{listen}"])
}

#[tokio::test]
async fn a_service_is_started_killed_and_restarted() {
    let mut service = service().start().await.unwrap();
    let limit = Duration::from_secs(2);
    assert_eq!(http::get(&format!("{}/readyz", service.url()), limit).unwrap().status, 200);
    service.freeze().unwrap();
    assert!(http::get(&service.url(), Duration::from_millis(200)).is_err());
    service.thaw().unwrap();
    assert_eq!(http::get(&service.url(), limit).unwrap().status, 404);
    service.kill().unwrap();
    assert!(http::get(&service.url(), limit).is_err());
    service.restart().unwrap();
    assert!(!service.terminate(Duration::from_secs(5)).await.unwrap().success());
    assert!(service.log().contains("serving"));
}

#[tokio::test]
async fn a_service_that_ends_at_once_shows_its_log() {
    let plan = Plan::new("/bin/sh".into()).arguments(["-c", "echo no such setting >&2; exit 3"]);
    let error = format!("{:#}", plan.start().await.unwrap_err());
    assert!(error.contains("no such setting") && error.contains("exit status: 3"), "{error}");
}

/// The child of the next test: starts a Redis, says where, and waits to be killed.
#[tokio::test]
async fn child_that_gets_killed() {
    if std::env::var_os("TESTKIT_CHILD").is_none() {
        return;
    }
    let redis = Redis::start().await.unwrap();
    writeln!(std::io::stdout(), "\nredis {} {}", redis.pid().unwrap(), redis.directory().display()).unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn servers_end_when_the_test_process_is_killed() {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_gets_killed", "--nocapture"])
        .env("TESTKIT_CHILD", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let line = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .find(|line| line.starts_with("redis "))
        .unwrap();
    let words: Vec<_> = line.split(' ').collect();
    let runs = || Command::new("kill").args(["-s", "0", words[1]]).stderr(Stdio::null()).status().unwrap().success();
    assert!(runs());
    child.kill().unwrap();
    child.wait().unwrap();
    wait::until("the end of redis-server", Duration::from_secs(10), || Ok((!runs()).then_some(()))).unwrap();
    wait::until("its files to be removed", Duration::from_secs(5), || {
        Ok((!std::path::Path::new(words[2]).exists()).then_some(()))
    })
    .unwrap();
}

//! No name and no form of an address leads an attempt to where it may not go.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::destination::Allowed;
use tollgate_reconciler::deliver::connect::{Connector, Resolve};

use crate::receiver::{Receiver, Setup, crossing, endpoint, settled};
use crate::world::World;

fn resolver(answers: Vec<Vec<SocketAddr>>) -> (Resolve, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let resolve: Resolve = Arc::new(move |_, _| {
        let turn = count.fetch_add(1, Ordering::SeqCst);
        let answer = answers[turn.min(answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    });
    (resolve, asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_changes_its_address_is_not_followed() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let public = Receiver::start_on("127.0.0.1:0").await;
    let private = Receiver::start_on(&format!("127.0.0.2:{}", public.port)).await;
    let at = |host: &str| format!("{host}:{}", public.port).parse::<SocketAddr>().unwrap();
    // 127.0.0.1 stands for a public address. The name says it at first, then an inner one, then both.
    let answers = vec![vec![at("127.0.0.1")], vec![at("127.0.0.2")], vec![at("127.0.0.1"), at("127.0.0.2")]];
    let (resolve, asked) = resolver(answers);
    let allowed = Allowed::new(vec!["127.0.0.1/32".parse().unwrap()]);
    let connector = Connector::with_resolver(allowed, resolve).unwrap();
    let first = endpoint(&world, Some(tenant.id), "http://rebinding.example/fail").await;
    let _stop = Setup::default().start_with(&world, connector);
    crossing(&world, &tenant).await;
    let (attempts, last) = settled(&world, first, "failed").await;
    assert_eq!((attempts, asked.load(Ordering::SeqCst)), (3, 3), "one look-up for each attempt");
    assert_eq!(public.at("/fail").await.len(), 1, "the address that was checked was connected to");
    assert!(private.at("/fail").await.is_empty(), "the inner address never was");
    assert!(last["error"].as_str().unwrap().contains("127.0.0.2, which is loopback: not connected"), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inner_addresses_are_not_connected_to_in_any_form() {
    let inner = Receiver::start().await;
    let port = inner.port;
    let nothing_allowed = Connector::new(Allowed::default()).unwrap();
    for host in
        ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0", "[::1]", "[::ffff:127.0.0.1]", "[::]"]
    {
        for scheme in ["http", "https"] {
            let Ok(url) = format!("{scheme}://{host}:{port}/x").parse() else { continue };
            let refused = nothing_allowed.connect(&url).await.err().map(|error| format!("{error:#}"));
            let refused = refused.unwrap_or_else(|| panic!("{scheme}://{host} was connected to"));
            assert!(refused.contains("not connected") || refused.contains("has no address"), "{host}: {refused}");
        }
    }
    assert!(inner.at("/x").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_is_for_loopback_only() {
    let (resolve, _) = resolver(vec![vec!["10.1.2.3:80".parse().unwrap()]]);
    let allowed = Allowed::new(vec!["10.0.0.0/8".parse().unwrap()]);
    let connector = Connector::with_resolver(allowed, resolve).unwrap();
    let url = "http://inner.example/".parse().unwrap();
    let connects = connector.connect(&url);
    let connects = async { connects.await.err().map(|error| error.to_string()) };
    let refused = tokio::time::timeout(Duration::from_secs(2), connects).await.unwrap().unwrap();
    assert!(refused.contains("not https"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    // It speaks no TLS at all, which must not be taken for a reply either.
    let receiver = Receiver::start().await;
    let connector = Connector::new(Allowed::new(vec!["127.0.0.0/8".parse().unwrap()])).unwrap();
    let url = format!("https://localhost:{}/x", receiver.port).parse().unwrap();
    let refused = connector.connect(&url).await.err().map(|error| format!("{error:#}"));
    assert!(refused.is_some_and(|error| error.contains("no encrypted connection")));
}

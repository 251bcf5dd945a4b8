//! A service that starts before its Redis does.

use std::time::{Duration, Instant};

use testkit::redis::{Options, Redis};
use tollgate_ledger::{Config, Ledger, LedgerError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_waits_for_redis_and_then_works() {
    let mut redis = Redis::start().await.unwrap();
    let config = Config::new(redis.url());
    redis.kill().unwrap();
    let connecting = tokio::spawn(async move { Ledger::connect_waiting(&config).await });
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(!connecting.is_finished(), "nothing answers yet");
    redis.restart().unwrap();
    let ledger = tokio::time::timeout(Duration::from_secs(10), connecting).await.unwrap().unwrap().unwrap();
    ledger.ping().await.unwrap();
}

#[tokio::test]
async fn what_no_waiting_mends_is_said_at_once() {
    let start = Instant::now();
    let locked = Options { arguments: vec!["--maxmemory-policy".into(), "allkeys-lru".into()], ..Options::default() };
    let redis = Redis::start_with(locked).await.unwrap();
    let refused = Ledger::connect_waiting(&Config::new(redis.url())).await.unwrap_err();
    assert!(matches!(&refused, LedgerError::Configuration(why) if why.contains("noeviction")), "{refused:?}");

    let plain = Redis::start().await.unwrap();
    plain.command(&["CONFIG", "SET", "requirepass", "right"]).unwrap();
    for address in [format!("redis://{}/", plain.address()), format!("redis://:wrong@{}/", plain.address())] {
        let refused = Ledger::connect_waiting(&Config::new(address)).await.unwrap_err();
        assert!(refused.is_access(), "{refused:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

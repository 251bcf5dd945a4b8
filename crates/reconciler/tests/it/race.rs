//! Many callers at once on a quota that fits k.

use std::time::Duration;

use domain::Level;
use domain::record::Outcome;
use quota::{Admission, Quota};

use crate::life::{ask, config};
use crate::world::{World, amount};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_callers_over_two_gateways_exactly_k_are_admitted() {
    let world = World::start().await;
    for (total, price, fits) in [(10, 10, 1), (95, 10, 9), (1000, 7, 142)] {
        let tenant = world.tenant(total).await;
        world.open(&tenant).await;
        let gateways = [
            Quota::start(config(&world), world.store.clone()).await.unwrap(),
            Quota::start(config(&world), world.store.clone()).await.unwrap(),
        ];
        let calls = (0..200).map(|call| {
            let quota = gateways[call % 2].clone();
            let ask = ask(&tenant, price, price);
            tokio::spawn(async move { quota.admit(ask).await.unwrap() })
        });
        let mut admitted = Vec::new();
        for outcome in futures_util::future::join_all(calls).await {
            if let Admission::Admitted(freeze) = outcome.unwrap() {
                admitted.push(freeze);
            }
        }
        assert_eq!(admitted.len(), fits, "total {total}, price {price}");
        let pending: Vec<_> = admitted
            .into_iter()
            .map(|freeze| {
                let record = tenant.record(freeze.request_id());
                freeze.finish(Outcome::Final, amount(price), record)
            })
            .collect();
        for pending in pending {
            pending.recorded().await.unwrap();
        }
        for gateway in gateways {
            assert_eq!(gateway.shutdown(Duration::from_secs(10)).await, 0);
        }
        world.assert_books(&tenant).await;
        let spent =
            world.database.value(&format!("SELECT used FROM accounts WHERE scope = '{}'", tenant.id)).await.unwrap();
        assert_eq!(spent.as_i64(), Some(i64::try_from(fits).unwrap() * price));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_callers_over_two_gateways_exactly_as_many_as_the_rate_allows_are_admitted() {
    let world = World::start().await;
    for (level, limits, fits) in
        [(Level::Key, "17,,,,,", 17), (Level::Tenant, ",,1000,,,", 12), (Level::Project, ",,,,9,", 9)]
    {
        let tenant = world.tenant(1_000_000).await;
        world.limit(&tenant, level, limits).await;
        world.open(&tenant).await;
        let gateways = [
            Quota::start(config(&world), world.store.clone()).await.unwrap(),
            Quota::start(config(&world), world.store.clone()).await.unwrap(),
        ];
        let calls = (0..200).map(|call| {
            let quota = gateways[call % 2].clone();
            let ask = quota::Ask { tokens_want: 80, tokens_need: 50, ..ask(&tenant, 10, 10) };
            tokio::spawn(async move { quota.admit(ask).await.unwrap() })
        });
        let (mut admitted, mut refused) = (Vec::new(), 0);
        for outcome in futures_util::future::join_all(calls).await {
            match outcome.unwrap() {
                Admission::Admitted(freeze) => admitted.push(freeze),
                Admission::Refused(refusal) => {
                    refused += 1;
                    assert_eq!(refusal.level, level);
                    assert!(refusal.retry_after.is_some_and(|after| after <= Duration::from_secs(60)), "{refusal:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((admitted.len(), refused), (fits, 200 - fits), "{limits}");
        let pending: Vec<_> = admitted
            .into_iter()
            .map(|freeze| {
                let record = tenant.record(freeze.request_id());
                freeze.finish(Outcome::Final, amount(10), record)
            })
            .collect();
        for pending in pending {
            pending.recorded().await.unwrap();
        }
        for gateway in gateways {
            assert_eq!(gateway.shutdown(Duration::from_secs(10)).await, 0);
        }
        world.assert_books(&tenant).await;
    }
}

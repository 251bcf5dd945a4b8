//! Mail arrives in the languages of its readers, and a mail server that stalls harms nothing.

use std::time::{Duration, Instant};

use domain::TenantId;
use store::mailed_tokens::{NewMailedToken, Purpose};
use store::users::{NewInvited, NewUser};
use tokio::net::TcpListener;
use tollgate_mail_catcher::{Config, Running};

use crate::receiver::{Receiver, Setup, crossing, endpoint};
use crate::world::World;

async fn person(world: &World, email: &str, role: &str, tenant_id: Option<TenantId>, locale: &str) {
    let new = NewUser { email, name: "", role, tenant_id, password_hash: "x", locale };
    let mut connection = world.store.acquire().await.unwrap();
    store::users::create(&mut connection, &new).await.unwrap();
}

/// Recipient and whole message of each mail, once so many came.
async fn mails(catcher: &Running, count: usize) -> Vec<(String, String)> {
    for _ in 0..300 {
        if catcher.inbox().all().len() >= count {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let all = catcher.inbox().all();
    assert_eq!(all.len(), count);
    all.into_iter().map(|mail| (mail.to[0].clone(), String::from_utf8_lossy(&mail.raw).into_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_are_told_in_their_language() {
    let world = World::start().await;
    let (tenant, alone) = (world.tenant(100_000_000).await, world.tenant(1).await);
    person(&world, "en@example.com", "tenant_owner", Some(tenant.id), "en").await;
    person(&world, "zh@example.com", "tenant_owner", Some(tenant.id), "zh").await;
    person(&world, "reader@example.com", "tenant_viewer", Some(tenant.id), "en").await;
    person(&world, "platform@example.com", "owner", None, "en").await;
    let catcher = Running::start(Config::default()).await.unwrap();
    let setup = Setup { smtp_url: Some(format!("smtp://{}", catcher.smtp_address())), ..Setup::default() };
    let _stop = setup.start(&world);
    crossing(&world, &tenant).await;
    let mut got = mails(&catcher, 2).await;
    got.sort();
    assert_eq!((got[0].0.as_str(), got[1].0.as_str()), ("en@example.com", "zh@example.com"));
    assert!(got[0].1.contains("Subject: T: 90 % of the quota is used"), "{}", got[0].1);
    assert!(got[0].1.contains("text/plain") && got[0].1.contains("text/html"));
    assert!(got[0].1.contains("Remaining: 0.10000000"), "{}", got[0].1);
    let list = reqwest(&format!("{}/messages", catcher.url())).await;
    assert!(list.contains("额度已使用 90%"), "{list}");
    // A tenant without owners of its own.
    crossing(&world, &alone).await;
    let got = mails(&catcher, 3).await;
    assert_eq!(got[2].0, "platform@example.com");
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(catcher.inbox().all().len(), 3, "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_come_in_both_languages_and_their_tokens_are_forgotten() {
    let world = World::start().await;
    let tenant = world.tenant(1).await;
    let catcher = Running::start(Config::default()).await.unwrap();
    let mut connection = world.store.acquire().await.unwrap();
    let mut send = async |email: &str, role: &str, tenant_id, locale: &str, purpose, token: &str| {
        let new = NewInvited { email, role, tenant_id, locale };
        let user = store::users::invite(&mut connection, &new).await.unwrap();
        let id = uuid::Uuid::now_v7();
        let sealed = crate::receiver::sealer().seal(&id.to_string(), token).unwrap();
        let new = NewMailedToken {
            id,
            user_id: user.id,
            purpose,
            secret_hash: id.as_bytes(),
            sealed_secret: &sealed,
            expires_at: time::macros::datetime!(2099-12-07 12:30:15 UTC),
        };
        store::mailed_tokens::send(&mut connection, &new).await.unwrap();
    };
    send("a@example.com", "tenant_owner", Some(tenant.id), "en", Purpose::Invitation, "tokenA").await;
    send("b@example.com", "operator", None, "zh", Purpose::Invitation, "tokenB").await;
    send("c@example.com", "viewer", None, "en", Purpose::PasswordReset, "tokenC").await;
    send("d@example.com", "viewer", None, "zh", Purpose::PasswordReset, "tokenD").await;
    let setup = Setup { smtp_url: Some(format!("smtp://{}", catcher.smtp_address())), ..Setup::default() };
    let _stop = setup.start(&world);
    mails(&catcher, 4).await;
    for (to, words) in [
        ("a@example.com", ["You are invited to T as owner", "https://console.example.com/invitation#tokenA"]),
        ("b@example.com", ["您被邀请加入 Tollgate,角色为平台操作员", "https://console.example.com/invitation#tokenB"]),
        ("c@example.com", ["Somebody asked for another password", "https://console.example.com/password-reset#tokenC"]),
        ("d@example.com", ["有人请求重置您的密码", "https://console.example.com/password-reset#tokenD"]),
    ] {
        let list: serde_json::Value =
            serde_json::from_str(&reqwest(&format!("{}/messages?to={to}", catcher.url())).await).unwrap();
        let mail = reqwest(&format!("{}/messages/{}", catcher.url(), list[0]["id"])).await;
        for word in words.into_iter().chain(["2099-12-07 12:30 UTC"]) {
            assert!(mail.contains(word), "{word} in {mail}");
        }
    }
    let kept = "SELECT count(*) FROM mailed_tokens m JOIN mail_deliveries d ON d.token_id = m.id
                WHERE m.sealed_secret IS NOT NULL OR d.state <> 'delivered'";
    for _ in 0..100 {
        if world.database.value(kept).await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a token whose mail was sent is kept");
}

async fn reqwest(url: &str) -> String {
    let url = url.to_owned();
    let get = move || testkit::http::get(&url, Duration::from_secs(5)).unwrap().text();
    tokio::task::spawn_blocking(get).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_server_that_stalls_harms_nothing_and_the_mail_comes_when_it_is_back() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    for number in 0..10 {
        person(&world, &format!("owner{number}@example.com"), "tenant_owner", Some(tenant.id), "en").await;
    }
    let stalled = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = stalled.local_addr().unwrap();
    let held = tokio::spawn(async move {
        let mut connections = Vec::new();
        while let Ok((connection, _)) = stalled.accept().await {
            connections.push(connection);
        }
    });
    let receiver = Receiver::start().await;
    endpoint(&world, Some(tenant.id), &receiver.url("/ok")).await;
    let url = Some(format!("smtp://{address}"));
    let within = Duration::from_millis(500);
    let stop =
        Setup { smtp_url: url, within, schedule: "0,1s,1s,1s,1s,1s,1s,1s,1s,1s", ..Setup::default() }.start(&world);
    for number in 1..=3 {
        let began = Instant::now();
        crossing(&world, &tenant).await;
        receiver.wait("/ok", number, Duration::from_secs(5)).await;
        assert!(began.elapsed() < Duration::from_secs(2), "webhooks go on: {:?}", began.elapsed());
    }
    let failed = "SELECT count(*) FROM mail_deliveries WHERE attempts -> 0 ->> 'error' LIKE 'not sent within%'";
    for _ in 0..300 {
        if world.database.value(failed).await.unwrap().as_i64().unwrap() > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(world.database.value(failed).await.unwrap().as_i64().unwrap() > 0);
    held.abort();
    drop(stop);
    let catcher = Running::start(Config::default()).await.unwrap();
    let setup = Setup { smtp_url: Some(format!("smtp://{}", catcher.smtp_address())), ..Setup::default() };
    world.database.execute("UPDATE mail_deliveries SET next_at = now() WHERE state = 'pending'").await.unwrap();
    let _stop = setup.start(&world);
    for _ in 0..500 {
        if catcher.inbox().all().len() >= 30 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(catcher.inbox().all().len(), 30);
}

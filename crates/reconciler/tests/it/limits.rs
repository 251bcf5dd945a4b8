//! Limits beside the quota, decided in the freeze: what each refuses, when it has room again, what a settle corrects.

use std::time::Duration;

use domain::{Amount, FreezeState, Level, LimitName, Limits, PeriodLabel, RequestId, Scope, Shard, Unit};
use ledger::{Config, Delete, ExtendCall, ExtendOutcome, FreezeCall, FreezeOutcome, Ledger, Load, Refused};
use store::Reach;
use testkit::redis::Reply;

use crate::world::{Tenant, World, amount};

const LEVELS: [Level; 3] = [Level::Key, Level::Project, Level::Tenant];

struct Case {
    world: World,
    tenant: Tenant,
}

impl Case {
    async fn start() -> Self {
        let world = World::start().await;
        let tenant = world.tenant(1_000_000).await;
        world.open(&tenant).await;
        Self { world, tenant }
    }

    async fn fresh(&mut self) {
        self.tenant = self.world.tenant(1_000_000).await;
        self.world.open(&self.tenant).await;
    }

    fn shard(&self) -> Shard {
        Shard::of(self.tenant.id)
    }

    async fn call(&self, ledger: &Ledger, id: RequestId, units: i64, tokens: (i64, i64)) -> FreezeOutcome {
        let mut load = None;
        loop {
            let call = FreezeCall {
                request_id: id,
                tenant_id: self.tenant.id,
                scopes: &self.tenant.scopes,
                want: amount(units),
                need: amount(units.min(10)),
                tokens_want: tokens.0,
                tokens_need: tokens.1,
                priced: true,
                gateway: "g",
                model: "m",
                waited: None,
                load: load.as_ref(),
            };
            match ledger.freeze(&call).await.unwrap() {
                FreezeOutcome::NeedLoad(ticket) => {
                    let mut connection = self.world.store.acquire().await.unwrap();
                    let loaded = store::load::load(&mut connection, self.tenant.id, &self.tenant.scopes).await.unwrap();
                    load = Some(Load { ticket, snapshots: loaded.snapshots });
                }
                decided => return decided,
            }
        }
    }

    /// An admitted request of 10 units, and the tokens that it was granted.
    async fn admit(&self, tokens: (i64, i64)) -> (RequestId, i64) {
        let id = RequestId::generate();
        match self.call(&self.world.ledger, id, 10, tokens).await {
            FreezeOutcome::Frozen { tokens, again: false, .. } => (id, tokens),
            other => panic!("not admitted: {other:?}"),
        }
    }

    /// A refused one. It changed no byte of any key.
    async fn refuse(&self, units: i64, tokens: (i64, i64)) -> Refused {
        let before = self.world.digest();
        match self.call(&self.world.ledger, RequestId::generate(), units, tokens).await {
            FreezeOutcome::Refused(refused) => {
                assert_eq!(self.world.digest(), before, "a refusal changes no byte: {refused:?}");
                refused
            }
            other => panic!("not refused: {other:?}"),
        }
    }

    async fn settle(&self, id: RequestId, tokens: i64) {
        let mut entry = self.tenant.entry(id, FreezeState::Settled, 10, 10);
        entry.tokens = tokens;
        self.world.ledger.settle(self.shard(), &[entry]).await.unwrap();
    }

    async fn beat(&self, id: RequestId) {
        let entry = self.tenant.entry(id, FreezeState::Active, 10, 0);
        self.world.ledger.beat(self.shard(), &[entry]).await.unwrap();
    }

    async fn confirm(&self, id: RequestId) {
        let scopes = self.tenant.scopes.to_vec();
        let delete = Delete { request_id: id, tenant_id: self.tenant.id, scopes, expected: None };
        self.world.ledger.confirm(self.shard(), &[], &[delete]).await.unwrap();
    }

    async fn used(&self, name: LimitName) -> i64 {
        let held = self.world.ledger.read(self.tenant.id, &self.tenant.scopes).await.unwrap();
        held.iter().flat_map(|held| &held.limits).find(|limit| limit.name == name).unwrap().used
    }

    fn rates(&self, level: Level) -> String {
        let scope: &Scope = self.tenant.scopes.iter().find(|scope| scope.level() == level).unwrap();
        format!("tg:{{q{:04}}}:r:{}", self.shard().index(), scope.id())
    }

    /// The entries of a window, from its packed form `sum entries at:count,at:count,`.
    fn window(&self, level: Level, name: &str) -> Vec<(i64, i64)> {
        let Reply::Text(packed) = self.world.redis.command(&["HGET", &self.rates(level), name]).unwrap() else {
            return Vec::new();
        };
        let parsed = packed
            .split([' ', ','])
            .filter_map(|entry| entry.split_once(':'))
            .map(|(at, count)| (at.parse(), count.parse()));
        let entries: Vec<(i64, i64)> = parsed.map(|(at, count)| (at.unwrap(), count.unwrap())).collect();
        let sum: i64 = entries.iter().map(|(_, count)| count).sum();
        assert!(packed.starts_with(&format!("{sum} {} ", entries.len())), "{packed}");
        entries
    }

    /// Lets so many ms pass for what is counted in a window.
    fn age(&self, level: Level, name: &str, ms: i64) {
        let entries = self.window(level, name);
        let sum: i64 = entries.iter().map(|(_, count)| count).sum();
        let list: String = entries.iter().map(|(at, count)| format!("{}:{count},", at - ms)).collect();
        let packed = format!("{sum} {} {list}", entries.len());
        self.world.redis.command(&["HSET", &self.rates(level), name, &packed]).unwrap();
    }
}

impl Case {
    /// Lets so many ms pass for the reservation of a freeze: the last part of its packed form, `at:tokens:marks`.
    fn age_freeze(&self, id: RequestId, ms: i64) {
        let key = format!("tg:{{q{:04}}}:f:{}", self.shard().index(), self.tenant.id);
        let Reply::Text(packed) = self.world.redis.command(&["HGET", &key, &id.to_string()]).unwrap() else {
            panic!("no such freeze")
        };
        let (rest, rate) = packed.rsplit_once('|').unwrap();
        let (at, reserved) = rate.split_once(':').unwrap();
        let aged = format!("{rest}|{}:{reserved}", at.parse::<i64>().unwrap() - ms);
        self.world.redis.command(&["HSET", &key, &id.to_string(), &aged]).unwrap();
    }
}

/// What makes a limit refuse, and what it says then: packed limits, name, limit, what is left of it.
const KINDS: [(&str, &str, i64, i64); 6] = [
    ("1,,,,,", "rpm", 1, 0),
    (",1,,,,", "rpd", 1, 0),
    (",,100,,,", "tpm", 100, 20),
    (",,,100,,", "tpd", 100, 20),
    (",,,,1,", "in_flight", 1, 0),
    (",,,,,5", "max_per_request", 5, 5),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_limit_of_each_level_refuses_and_a_refusal_changes_no_byte() {
    let mut case = Case::start().await;
    for level in LEVELS {
        for (packed, name, most, left) in KINDS {
            case.fresh().await;
            // Loaded and pushed: in force at once.
            case.admit((0, 0)).await;
            case.world.limit(&case.tenant, level, packed).await;
            if name == "in_flight" {
                // What was admitted before the limit counts as well: it is a set of requests, not a counter.
            } else if name != "max_per_request" {
                case.admit((80, 30)).await;
            }
            let refused = case.refuse(10, (80, 30)).await;
            assert_eq!((refused.scope.level(), refused.limit.as_str()), (level, name), "{refused:?}");
            assert_eq!((refused.most, refused.available), (Some(amount(most)), amount(left)), "{refused:?}");
            let retry_ms = refused.retry_after.map(|after| i64::try_from(after.as_millis()).unwrap());
            match name {
                "rpm" | "tpm" => assert!((50_000..=60_000).contains(&retry_ms.unwrap()), "{refused:?}"),
                "rpd" | "tpd" => assert!((86_390_000..=86_400_000).contains(&retry_ms.unwrap()), "{refused:?}"),
                "in_flight" => assert_eq!(retry_ms, Some(1_000)),
                _ => assert_eq!(retry_ms, None),
            }
            case.world.limit(&case.tenant, level, "").await;
            case.admit((80, 30)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_levels_the_second_lacks_and_the_first_is_byte_for_byte_as_before() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Key, "10,,1000,,10,").await;
    case.world.limit(&case.tenant, Level::Tenant, "10,,1000,,10,").await;
    case.world.limit(&case.tenant, Level::Project, "1,,,,,").await;
    case.admit((80, 30)).await;
    assert_eq!(case.refuse(10, (80, 30)).await.scope.level(), Level::Project);
    case.world.limit(&case.tenant, Level::Project, "").await;
    let budget = store::accounts::Change { budget: Some(Some(amount(15))), ..store::accounts::Change::default() };
    let mut transaction = case.world.store.begin().await.unwrap();
    let snapshot = store::accounts::change(&mut transaction, &case.tenant.scopes[1], &budget).await.unwrap();
    transaction.commit().await.unwrap();
    case.world.ledger.install(case.tenant.id, &[snapshot]).await.unwrap();
    let refused = case.refuse(10, (80, 30)).await;
    assert_eq!((refused.scope.level(), refused.limit.as_str()), (Level::Project, "quota"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_room_again_at_the_very_millisecond_that_was_named() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Key, "2,,100,,,").await;
    case.admit((60, 60)).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    case.admit((30, 30)).await;
    // Of the two reasons the one that takes longer: the first slot is free after 60 s, 100 tokens only after both.
    let first = case.refuse(10, (10, 10)).await;
    let both = case.refuse(10, (90, 90)).await;
    assert_eq!((first.limit.as_str(), both.limit.as_str()), ("rpm", "tpm"));
    assert!(both.retry_after.unwrap() - first.retry_after.unwrap() > Duration::from_millis(130));
    for name in ["rpm", "tpm"] {
        case.age(Level::Key, name, 59_000);
    }
    let left = case.refuse(10, (10, 10)).await.retry_after.unwrap();
    assert!(left < Duration::from_millis(1_000));
    tokio::time::sleep(left.saturating_sub(Duration::from_millis(60))).await;
    let rest = case.refuse(10, (10, 10)).await.retry_after.unwrap();
    tokio::time::sleep(rest).await;
    case.admit((10, 10)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_estimate_above_the_limit_itself_takes_what_is_left_but_never_less_than_it_needs() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Project, ",,100,,,").await;
    case.world.limit(&case.tenant, Level::Tenant, ",,,500,,").await;
    assert_eq!(case.admit((5_000, 30)).await.1, 100);
    assert_eq!(case.refuse(10, (5_000, 30)).await.available, Amount::ZERO);
    case.age(Level::Project, "tpm", 61_000);
    let (id, granted) = case.admit((70, 30)).await;
    assert_eq!(granted, 70);
    // The same call again finds what it was granted and counts nothing.
    let before = case.world.digest();
    let again = case.call(&case.world.ledger, id, 10, (70, 30)).await;
    assert!(matches!(again, FreezeOutcome::Frozen { tokens: 70, again: true, .. }), "{again:?}");
    assert_eq!(case.world.digest(), before);
    assert_eq!(case.admit((5_000, 30)).await.1, 30);
    let beyond = case.refuse(10, (5_000, 200)).await;
    assert_eq!((beyond.limit.as_str(), beyond.retry_after), ("tpm", None), "no waiting helps");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_settle_corrects_its_own_reservation_once() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Tenant, ",,200,1000,,").await;
    let (first, _) = case.admit((80, 30)).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    let (second, _) = case.admit((90, 30)).await;
    assert_eq!((case.used(LimitName::Tpm).await, case.used(LimitName::Tpd).await), (170, 170));
    case.settle(first, 10).await;
    assert_eq!((case.used(LimitName::Tpm).await, case.used(LimitName::Tpd).await), (100, 100));
    let counts: Vec<i64> = case.window(Level::Tenant, "tpm").into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [10, 90], "in the entry that took the reservation");
    for tokens in [10, 500] {
        case.settle(first, tokens).await;
        assert_eq!(case.used(LimitName::Tpm).await, 100, "a replay corrects nothing");
    }
    case.confirm(first).await;
    case.settle(first, 500).await;
    assert_eq!(case.used(LimitName::Tpm).await, 100, "nor does a late one, of a freeze that is gone");
    // More than was reserved counts as well, and what is left is not negative.
    case.settle(second, 400).await;
    assert_eq!(case.used(LimitName::Tpm).await, 410);
    let held = case.world.ledger.read(case.tenant.id, &case.tenant.scopes).await.unwrap();
    assert_eq!(held[2].limits[0].remaining(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reservation_that_is_gone_is_not_corrected() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Tenant, ",,200,,,").await;
    // Slid out of the minute.
    let (old, _) = case.admit((80, 30)).await;
    case.age(Level::Tenant, "tpm", 60_000);
    case.age_freeze(old, 60_000);
    case.admit((50, 30)).await;
    case.settle(old, 0).await;
    assert_eq!(case.used(LimitName::Tpm).await, 50);
    // Lost with Redis: a beat brings the freeze back, not its reservation.
    let (lost, _) = case.admit((80, 30)).await;
    case.world.redis.command(&["FLUSHALL"]).unwrap();
    case.beat(lost).await;
    case.world.open(&case.tenant).await;
    case.admit((60, 30)).await;
    case.settle(lost, 0).await;
    assert_eq!(case.used(LimitName::Tpm).await, 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_flight_ends_with_settle_confirm_or_the_lease() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Key, ",,,,2,").await;
    let (first, _) = case.admit((0, 0)).await;
    let (second, _) = case.admit((0, 0)).await;
    assert_eq!(case.refuse(10, (0, 0)).await.limit, "in_flight");
    case.settle(first, 0).await;
    let (third, _) = case.admit((0, 0)).await;
    case.beat(first).await; // late: it is settled already
    assert_eq!(case.used(LimitName::InFlight).await, 2);
    case.confirm(second).await;
    case.confirm(second).await;
    assert_eq!(case.used(LimitName::InFlight).await, 1);
    // A wiped Redis learns from beats who runs.
    case.world.redis.command(&["FLUSHALL"]).unwrap();
    case.beat(third).await;
    case.world.open(&case.tenant).await;
    case.admit((0, 0)).await;
    assert_eq!(case.refuse(10, (0, 0)).await.limit, "in_flight");
    // Each has a lease of its own: without a beat it counts no longer.
    let mut config = Config::new(case.world.redis.url());
    config.lease = Duration::from_millis(400);
    let ledger = Ledger::connect(&config).await.unwrap();
    case.world.limit(&case.tenant, Level::Key, ",,,,3,").await;
    let dead = case.call(&ledger, RequestId::generate(), 10, (0, 0)).await;
    assert!(matches!(dead, FreezeOutcome::Frozen { .. }), "{dead:?}");
    assert_eq!(case.refuse(10, (0, 0)).await.limit, "in_flight");
    tokio::time::sleep(Duration::from_millis(450)).await;
    case.admit((0, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extension_ends_at_the_most_for_one_request() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Project, ",,,,,100").await;
    let (id, _) = case.admit((0, 0)).await;
    let extend = async |want: i64, need: i64| {
        let call = ExtendCall {
            request_id: id,
            tenant_id: case.tenant.id,
            scopes: &case.tenant.scopes,
            want: amount(want),
            need: amount(need),
            waited: None,
            load: None,
        };
        case.world.ledger.extend(&call).await.unwrap()
    };
    let granted = |outcome: &ExtendOutcome, units: i64| matches!(outcome, ExtendOutcome::Extended { amount: now, .. } if now.units() == units);
    let outcome = extend(500, 50).await;
    assert!(granted(&outcome, 100), "{outcome:?}");
    let before = case.world.digest();
    match extend(500, 101).await {
        ExtendOutcome::Refused(refused) => {
            assert_eq!((refused.limit.as_str(), refused.most), ("max_per_request", Some(amount(100))));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(case.world.digest(), before);
    case.world.limit(&case.tenant, Level::Project, ",,,,,20").await;
    let outcome = extend(120, 15).await;
    assert!(granted(&outcome, 100), "a lowered limit takes nothing back: {outcome:?}");
    // At the freeze it cuts what is wanted.
    case.world.limit(&case.tenant, Level::Project, ",,,,,40").await;
    let outcome = case.call(&case.world.ledger, RequestId::generate(), 500, (0, 0)).await;
    assert!(matches!(outcome, FreezeOutcome::Frozen { amount: now, .. } if now.units() == 40), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_stays_small_expires_and_counts_right() {
    let case = Case::start().await;
    case.world.limit(&case.tenant, Level::Tenant, "100000,,,,,").await;
    for call in 1..=400 {
        case.admit((0, 0)).await;
        case.age(Level::Tenant, "rpm", 100);
        assert!(case.window(Level::Tenant, "rpm").len() <= 128);
        assert_eq!(case.used(LimitName::Rpm).await, call);
    }
    let Reply::Int(ttl) = case.world.redis.command(&["PTTL", &case.rates(Level::Tenant)]).unwrap() else {
        panic!("no time to live")
    };
    assert!((1..=60_000).contains(&ttl), "{ttl}");
    // 400 calls, 100 ms apart: after 60 s more, none counts.
    case.age(Level::Tenant, "rpm", 60_000);
    assert_eq!(case.used(LimitName::Rpm).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_period_opens_with_the_limits_of_its_project_however_they_change_meanwhile() {
    let world = World::start().await;
    let tenant = world.tenant_with(1_000, Some(500), None).await;
    let sql = "UPDATE projects SET limits = '{\"rpm\": 3, \"max_per_request\": \"0.00000050\"}'";
    world.database.execute(sql).await.unwrap();
    let mut connection = world.store.acquire().await.unwrap();
    let loaded = store::load::load(&mut connection, tenant.id, &tenant.scopes).await.unwrap();
    let packed: Vec<String> = loaded.snapshots.iter().map(|snapshot| snapshot.limits.packed()).collect();
    assert_eq!(packed, ["", "3,,,,,50", ""]);
    for round in 1..=40_u64 {
        let period = PeriodLabel::try_from(format!("r{round}")).unwrap();
        let scope = Scope::Project(tenant.project, period);
        let change = async {
            let mut transaction = world.store.begin().await.unwrap();
            let mut project = store::projects::get(&mut transaction, tenant.project, &Reach::All).await.unwrap();
            project.limits = Limits { rpm: Some(round), ..Limits::default() };
            store::projects::update(&mut transaction, &project).await.unwrap();
            let limits = project.limits.in_units(Unit::Credit).unwrap();
            let present = &tenant.scopes[1];
            store::accounts::set_limits(&mut transaction, tenant.id, present, &limits).await.unwrap();
            transaction.commit().await.unwrap();
        };
        let open = async {
            let mut connection = world.store.acquire().await.unwrap();
            store::load::load(&mut connection, tenant.id, std::slice::from_ref(&scope)).await.unwrap();
        };
        tokio::join!(change, open);
        let opened = store::accounts::snapshots(&mut connection, std::slice::from_ref(&scope)).await.unwrap();
        assert_eq!(opened[0].limits.packed(), format!("{round},,,,,"), "round {round}");
    }
}

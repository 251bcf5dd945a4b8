//! Random sequences of every verb on a real Redis and Postgres against a small pure model that predicts each reply.
//!
//! After every step: the predicted outcome, the predicted four numbers of each scope, and that what was charged and what is
//! frozen never pass what may be spent. Lost replies (a call made twice) and late copies are part of the sequences.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::ids::QuotaChangeId;
use domain::record::Outcome;
use domain::{Amount, FreezeState, Level, LimitName, RequestId, Shard};
use ledger::{Delete, ExtendCall, ExtendOutcome, FreezeCall, FreezeOutcome, Load, LowerCall, LowerOutcome};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use quota::outcomes;
use store::quota_changes::NewChange;

use crate::model_truth::{IN_FLIGHT, LIMITS, Model, Phase, RPM, Request, TOKENS, TPM, taken};
use crate::model_verbs::{Verb, verbs};
use crate::world::{Tenant, World, amount, grant};

struct Run<'a> {
    world: &'a World,
    tenant: Tenant,
    model: Model,
}

impl Run<'_> {
    fn shard(&self) -> Shard {
        Shard::of(self.tenant.id)
    }

    fn entry(&self, id: RequestId) -> domain::FreezeEntry {
        let request = &self.model.requests[&id];
        let state = if request.phase == Phase::Running { FreezeState::Active } else { FreezeState::Settled };
        let mut entry = self.tenant.entry(id, state, request.frozen, request.progress);
        (entry.want, entry.need, entry.version) = (amount(request.want), amount(request.need), request.version);
        if state == FreezeState::Settled {
            entry.progress = entry.amount;
            entry.tokens = taken(request.charge);
        }
        entry
    }

    async fn load(&self, ticket: ledger::Ticket) -> Load {
        let mut connection = self.world.store.acquire().await.unwrap();
        let loaded = store::load::load(&mut connection, self.tenant.id, &self.tenant.scopes).await.unwrap();
        Load { ticket, snapshots: loaded.snapshots }
    }

    async fn freeze(&mut self, id: RequestId, want: i64, need: i64) -> FreezeOutcome {
        let (mut waited, mut load) = (None, None);
        loop {
            let call = FreezeCall {
                request_id: id,
                tenant_id: self.tenant.id,
                scopes: &self.tenant.scopes,
                want: amount(want),
                need: amount(need),
                tokens_want: TOKENS * want,
                tokens_need: need,
                priced: true,
                gateway: "g",
                model: "m",
                waited: waited.as_ref(),
                load: load.as_ref(),
            };
            match self.world.ledger.freeze(&call).await.unwrap() {
                FreezeOutcome::NeedLoad(ticket) => {
                    assert!(self.model.copy.is_none(), "a loaded account is loaded again");
                    load = Some(self.load(ticket).await);
                }
                FreezeOutcome::Recovering(window) => {
                    self.beat_all().await;
                    (waited, load) = (Some(window), None);
                }
                decided => {
                    let truth = self.model.truth();
                    self.model.copy.get_or_insert(truth);
                    return decided;
                }
            }
        }
    }

    /// Within a window every live gateway beats all that it holds.
    async fn beat_all(&self) {
        let entries: Vec<_> = self.model.requests.keys().map(|id| self.entry(*id)).collect();
        self.world.ledger.beat(self.shard(), &entries).await.unwrap();
    }

    async fn apply(&mut self, verb: &Verb) {
        match verb {
            Verb::Freeze { want, need, twice } => self.apply_freeze(*want, *need, *twice).await,
            Verb::Extend { which, want, need, twice } => self.apply_extend(*which, *want, *need, *twice).await,
            Verb::Beat { which, progress } => {
                let Some(id) = self.model.pick(*which, Phase::Running) else { return };
                let request = self.model.requests.get_mut(&id).unwrap();
                request.progress = request.progress.max(request.frozen * progress / 100);
                let entry = self.entry(id);
                self.world.ledger.beat(self.shard(), &[entry]).await.unwrap();
            }
            Verb::Finish { which, percent, roll_back } => {
                let Some(id) = self.model.pick(*which, Phase::Running) else { return };
                let request = self.model.requests.get_mut(&id).unwrap();
                request.charge = if *roll_back { 0 } else { request.frozen * percent / 100 };
                if let Some(reserved) = request.reserved.take() {
                    self.model.counted.1 += taken(request.charge) - reserved;
                }
                self.model.overruns += (request.charge - request.frozen).max(0);
                request.outcome = if *roll_back { Outcome::RolledBack } else { Outcome::Final };
                (request.phase, request.frozen) = (Phase::Finished, request.charge);
                let entry = self.entry(id);
                self.world.ledger.settle(self.shard(), &[entry]).await.unwrap();
            }
            Verb::Record { which, twice } => {
                let Some(id) = self.model.pick(*which, Phase::Finished) else { return };
                self.record(id).await;
                if *twice {
                    self.record(id).await;
                }
                let request = self.model.requests.get_mut(&id).unwrap();
                request.phase = Phase::Recorded;
                self.model.spent += request.charge;
                self.model.grants.charge(request.version, request.charge);
            }
            Verb::Confirm { which, twice } => {
                let Some(id) = self.model.pick(*which, Phase::Recorded) else { return };
                self.confirm(id).await;
                if *twice {
                    self.confirm(id).await;
                }
                let request = self.model.requests.remove(&id).unwrap();
                self.model.over.push((id, request.version));
                self.model.copy = self.model.copy.map(|_| self.model.truth());
            }
            Verb::TopUp { units } => self.top_up(*units).await,
            Verb::End { which, units } => {
                if let Some(id) = self.model.grants.pick(*which) {
                    let mut transaction = self.world.store.begin().await.unwrap();
                    let ended = store::grants::end(&mut transaction, self.tenant.id, id, "test", "").await.unwrap();
                    transaction.commit().await.unwrap();
                    self.model.grants.end(id, ended.version);
                }
                self.top_up(*units).await;
            }
            Verb::Decrease { units } => self.decrease(*units).await,
            Verb::Push => {
                let mut connection = self.world.store.acquire().await.unwrap();
                let snapshots = store::accounts::snapshots(&mut connection, &self.tenant.scopes).await.unwrap();
                self.world.ledger.install(self.tenant.id, &snapshots).await.unwrap();
                self.model.copy = self.model.copy.map(|_| self.model.truth());
            }
            Verb::Wipe => {
                self.world.redis.command(&["FLUSHALL"]).unwrap();
                self.model.copy = None;
                self.model.ghosts.clear();
                self.model.counted = (0, 0);
                self.model.requests.values_mut().for_each(|request| request.reserved = None);
                self.beat_all().await;
            }
            Verb::GhostBeat { which } => {
                if self.model.over.is_empty() {
                    return;
                }
                let (id, version) = self.model.over[which % self.model.over.len()];
                let entry = domain::FreezeEntry { version, ..self.tenant.entry(id, FreezeState::Active, 1, 0) };
                self.world.ledger.beat(self.shard(), &[entry]).await.unwrap();
                self.model.ghosts.insert(id, (1, version));
            }
        }
    }

    async fn top_up(&mut self, units: i64) {
        let gift = grant(&self.tenant, units);
        self.model.grants.give(gift.id, units);
        self.world.give(gift).await;
    }

    async fn decrease(&mut self, units: i64) {
        if self.model.copy.is_none() {
            return;
        }
        let scope = &self.tenant.scopes[2];
        let change = NewChange {
            id: QuotaChangeId::generate(),
            tenant_id: self.tenant.id,
            scope: scope.clone(),
            delta: amount(-units),
            recurring: false,
            reason: String::new(),
            actor: "test".to_owned(),
        };
        let mut transaction = self.world.store.begin().await.unwrap();
        let snapshot = store::quota_changes::begin(&mut transaction, &change).await.unwrap();
        transaction.commit().await.unwrap();
        let none = ledger::Ticket { window: String::new(), evictions: String::new() };
        let load = Load { ticket: none, snapshots: vec![snapshot] };
        let call = LowerCall { home: self.tenant.id.into(), scope, by: amount(units), waited: None, load: &load };
        let outcome = self.world.ledger.lower(&call).await.unwrap();
        let fits = self.model.left_of_tenant(self.model.truth(), i64::MAX) >= units;
        let mut transaction = self.world.store.begin().await.unwrap();
        if fits {
            assert!(matches!(outcome, LowerOutcome::Fits(_)), "{outcome:?}");
            assert_eq!(store::quota_changes::commit(&mut transaction, &change).await.unwrap(), Ok(()));
            self.model.grants.decrease(units);
        } else {
            assert!(matches!(outcome, LowerOutcome::Below(_)), "{outcome:?}");
            store::quota_changes::cancel(&mut transaction, change.id).await.unwrap();
        }
        transaction.commit().await.unwrap();
        let mut connection = self.world.store.acquire().await.unwrap();
        let snapshots = store::accounts::snapshots(&mut connection, &self.tenant.scopes).await.unwrap();
        self.world.ledger.install(self.tenant.id, &snapshots).await.unwrap();
        self.model.copy = Some(self.model.truth());
    }

    async fn apply_freeze(&mut self, want: i64, need: i64, twice: bool) {
        let id = RequestId::generate();
        let outcome = self.freeze(id, want, need).await;
        let left = self.model.left(i64::MAX);
        if left < need {
            let FreezeOutcome::Refused(refused) = outcome else {
                panic!("expected a refusal ({left} left): {outcome:?}")
            };
            assert_eq!(refused.available.units().min(left), left, "the level that forbids is named with what it has");
            return;
        }
        let (forbidding, granted) = self.model.limited(TOKENS * want, need);
        if !forbidding.is_empty() {
            let FreezeOutcome::Refused(refused) = outcome else { panic!("expected {forbidding:?}: {outcome:?}") };
            assert!(forbidding.contains(&refused.limit.as_str()), "{forbidding:?}: {refused:?}");
            assert!(refused.retry_after.is_some_and(|after| after <= Duration::from_secs(60)), "{refused:?}");
            return;
        }
        let expected = want.min(left);
        let FreezeOutcome::Frozen { amount: frozen, tokens, again, version, .. } = outcome else {
            panic!("expected {expected}: {outcome:?}")
        };
        assert_eq!((frozen.units(), tokens, again), (expected, granted, false));
        self.model.counted = (self.model.counted.0 + 1, self.model.counted.1 + granted);
        let request = Request {
            phase: Phase::Running,
            want,
            need,
            frozen: expected,
            progress: 0,
            charge: 0,
            outcome: Outcome::Final,
            reserved: Some(granted),
            version,
        };
        self.model.requests.insert(id, request);
        if twice {
            let outcome = self.freeze(id, want, need).await;
            assert!(matches!(outcome, FreezeOutcome::Frozen { again: true, .. }), "{outcome:?}");
            assert_eq!(self.freeze(id, want + 1, need).await, FreezeOutcome::Conflict);
        }
    }

    async fn apply_extend(&mut self, which: usize, want: i64, need: i64, twice: bool) {
        let Some(id) = self.model.pick(which, Phase::Running) else { return };
        // In a window extend waits; the model extends only in an open shard.
        if self.model.copy.is_none() {
            return;
        }
        let before = self.model.requests[&id].frozen;
        for _ in 0..=usize::from(twice) {
            let call = ExtendCall {
                request_id: id,
                tenant_id: self.tenant.id,
                scopes: &self.tenant.scopes,
                want: amount(want),
                need: amount(need),
                waited: None,
                load: None,
            };
            let outcome = self.world.ledger.extend(&call).await.unwrap();
            let request = self.model.requests[&id].clone();
            let left = self.model.left(request.version);
            if want <= request.frozen {
                assert!(
                    matches!(outcome, ExtendOutcome::Extended { amount: now, .. } if now.units() == request.frozen),
                    "{outcome:?}"
                );
            } else if left < need - request.frozen {
                assert!(matches!(outcome, ExtendOutcome::Refused(_)), "{outcome:?}, left {left}");
            } else {
                let grown = request.frozen + (want - request.frozen).min(left).max(0);
                assert!(
                    matches!(outcome, ExtendOutcome::Extended { amount: now, .. } if now.units() == grown),
                    "{outcome:?}, expected {grown}"
                );
                self.model.requests.get_mut(&id).unwrap().frozen = grown;
            }
        }
        assert!(self.model.requests[&id].frozen >= before);
    }

    async fn record(&self, id: RequestId) {
        let request = &self.model.requests[&id];
        let mut row = self.tenant.row(id, request.outcome, request.charge);
        row.version = request.version;
        outcomes::record(&self.world.store, &[row]).await.unwrap();
    }

    async fn confirm(&self, id: RequestId) {
        let mut connection = self.world.store.acquire().await.unwrap();
        let snapshots = store::accounts::snapshots(&mut connection, &self.tenant.scopes).await.unwrap();
        let snapshots: Vec<_> = snapshots.into_iter().map(|snapshot| (self.tenant.home(), snapshot)).collect();
        let delete =
            Delete { request_id: id, tenant_id: self.tenant.id, scopes: self.tenant.scopes.to_vec(), expected: None };
        self.world.ledger.confirm(self.shard(), &snapshots, &[delete]).await.unwrap();
    }

    /// The invariants, after every step.
    async fn check(&self) {
        let model = &self.model;
        let mut connection = self.world.store.acquire().await.unwrap();
        let snapshots = store::accounts::snapshots(&mut connection, &self.tenant.scopes).await.unwrap();
        for snapshot in snapshots {
            let expected = if snapshot.scope.level() == Level::Tenant { model.grants.used() } else { model.spent };
            assert_eq!(snapshot.used.units(), expected, "Postgres, {}", snapshot.scope);
        }
        let freezes = self.world.ledger.freezes(self.tenant.id).await.unwrap();
        let sum: i64 = freezes.iter().map(|found| found.entry.amount.units()).sum();
        assert_eq!(sum, model.held(), "sum of freezes");
        let held = self.world.ledger.read(self.tenant.id, &self.tenant.scopes).await.unwrap();
        let uses: Vec<_> = held.iter().flat_map(|held| &held.limits).map(|limit| (limit.name, limit.used)).collect();
        if !uses.is_empty() {
            let (requests, tokens) = model.counted;
            let expected =
                [(LimitName::Rpm, requests), (LimitName::InFlight, model.in_flight()), (LimitName::Tpm, tokens)];
            assert_eq!(uses, expected, "use of limits");
        }
        for numbers in held.into_iter().filter_map(|held| held.numbers) {
            assert_eq!(numbers.frozen.units(), model.held(), "frozen of {}", numbers.scope);
            let remaining = numbers.remaining().map_or(0, Amount::units);
            assert_eq!(
                numbers.total.map_or(0, Amount::units),
                numbers.used.units() + numbers.frozen.units() + remaining
            );
            if let Some(copy) = model.copy {
                let expected = if numbers.scope.level() == Level::Tenant { copy.used } else { copy.spent };
                assert_eq!(numbers.used.units(), expected, "Redis' copy of {}", numbers.scope);
            }
        }
        let of = |phase: Phase| model.requests.values().filter(move |request| request.phase == phase);
        let running: i64 = of(Phase::Running).map(|request| request.frozen).sum();
        let unrecorded: i64 = of(Phase::Finished).map(|request| request.charge).sum();
        let within = running + unrecorded + model.spent - model.overruns;
        assert!(within <= LIMITS[0], "overshoot: {within} of {}", LIMITS[0]);
    }
}

async fn run(world: &World, verbs: &[Verb]) -> usize {
    let tenant = world.tenant_with(0, Some(LIMITS[1]), Some(LIMITS[0])).await;
    for (level, limits) in [
        (Level::Key, format!("{RPM},,,,,")),
        (Level::Project, format!(",,,,{IN_FLIGHT},")),
        (Level::Tenant, format!(",,{TPM},,,")),
    ] {
        world.limit(&tenant, level, &limits).await;
    }
    world.open(&tenant).await;
    let mut run = Run { world, tenant, model: Model::default() };
    run.top_up(LIMITS[2]).await;
    for verb in verbs {
        run.apply(verb).await;
        run.check().await;
    }
    world.assert_sums(&run.tenant).await;
    verbs.len()
}

#[test]
fn random_verbs_do_what_the_model_predicts() {
    let seed = jiff::Timestamp::now().as_nanosecond().unsigned_abs();
    let seed = u64::try_from(seed % u128::from(u64::MAX)).unwrap();
    println!("model: seed {seed}");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let world = runtime.block_on(World::start());
    let config = Config {
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let strategy = verbs();
    let steps = AtomicUsize::new(0);
    while steps.load(Ordering::Relaxed) < 2_000 {
        let tree = strategy.new_tree(&mut runner).unwrap();
        let outcome = runner.run_one(tree, |verbs: Vec<Verb>| {
            let world = &world;
            let checked =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(run(world, &verbs))));
            checked
                .map(|done| {
                    steps.fetch_add(done, Ordering::Relaxed);
                })
                .map_err(|_| TestCaseError::fail("the model and the ledger differ"))
        });
        outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    println!("model: {} steps as predicted", steps.into_inner());
}

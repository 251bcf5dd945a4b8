//! Tenants that share a pool: what each is guaranteed, what is first come, and joining and leaving while calls run.

use std::time::Duration;

use domain::pool::{guarantee, unused};
use domain::record::Outcome;
use domain::{Home, Level, PeriodLabel, PoolId, Scope, Shard};
use ledger::OpenOutcome;
use quota::{AccountState, Admission, Cleared, Extension, Freeze, Quota, Unavailable};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use testkit::redis::Reply;

use crate::life::{ask, config};
use crate::world::{Tenant, World, amount};

/// A pool without periods, and a member of each weight whose own quota is no obstacle.
async fn pool(world: &World, total: i64, percent: u32, weights: &[u32]) -> (PoolId, Vec<Tenant>) {
    let mut connection = world.store.acquire().await.unwrap();
    let pool =
        store::pools::create(&mut connection, "P", "credit", percent, amount(total), None, "UTC").await.unwrap().id;
    let mut members = Vec::new();
    for weight in weights {
        let mut tenant = world.tenant(1_000_000).await;
        store::pools::add_new_tenant(&mut connection, pool, tenant.id, *weight).await.unwrap();
        join(&mut tenant, pool);
        members.push(tenant);
    }
    let shard = Shard::of(Home::Pool(pool));
    if let OpenOutcome::Recovering(window) = world.ledger.open(shard, None).await.unwrap() {
        world.ledger.open(shard, Some(&window)).await.unwrap();
    }
    (pool, members)
}

fn join(tenant: &mut Tenant, pool: PoolId) {
    tenant.scopes.push(Scope::Member(pool, tenant.id, PeriodLabel::none()));
    tenant.scopes.push(Scope::Pool(pool, PeriodLabel::none()));
}

async fn gateway(world: &World) -> Quota {
    Quota::start(config(world), world.store.clone()).await.unwrap()
}

async fn admitted(quota: &Quota, tenant: &Tenant, want: i64, need: i64) -> Result<Freeze, quota::Refusal> {
    match quota.admit(ask(tenant, want, need)).await.unwrap() {
        Admission::Admitted(freeze) => Ok(freeze),
        Admission::Refused(refusal) => Err(refusal),
        other => panic!("{other:?}"),
    }
}

async fn end(tenant: &Tenant, freeze: Freeze, charge: i64) {
    let record = tenant.record(freeze.request_id());
    freeze.finish(Outcome::Final, amount(charge), record).recorded().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_guaranteed_is_kept_and_the_rest_is_first_come() {
    let world = World::start().await;
    // 60 of 100 are guaranteed: 40 to the first, 20 to the second.
    let (_, members) = pool(&world, 100, 60, &[2, 1]).await;
    let quota = gateway(&world).await;
    let first = admitted(&quota, &members[0], 1000, 1).await.unwrap();
    assert_eq!(first.amount(), amount(80), "all but what is kept for the other");
    let refusal = admitted(&quota, &members[0], 1, 1).await.unwrap_err();
    assert_eq!((refusal.level, refusal.limit.as_str(), refusal.available), (Level::Pool, "quota", amount(0)));
    let second = admitted(&quota, &members[1], 1000, 20).await.unwrap();
    assert_eq!(second.amount(), amount(20), "its guarantee is there, however much the first has borrowed");
    // What the first gives back is first come again, but for what of its guarantee it has not used: 40 - 30.
    end(&members[0], first, 30).await;
    assert!(matches!(second.extend(amount(1000), amount(61)).await, Extension::Refused(_)));
    let Extension::Granted(larger) = second.extend(amount(1000), amount(60)).await else { panic!("not extended") };
    assert_eq!(larger, amount(60));
    end(&members[1], second, 60).await;
    let last = admitted(&quota, &members[0], 1000, 1).await.unwrap();
    assert_eq!(last.amount(), amount(10));
    end(&members[0], last, 10).await;
    assert!(admitted(&quota, &members[1], 1, 1).await.is_err(), "the pool is empty");
    quota.shutdown(Duration::from_secs(5)).await;
    for member in &members {
        world.assert_books(member).await;
    }
    let mut snapshot = world.store.snapshot().await.unwrap();
    assert_eq!(store::verify::sums(&mut snapshot, None).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_callers_of_4_members_exactly_as_many_as_fit_are_admitted_and_nobody_starves() {
    let world = World::start().await;
    let (_, members) = pool(&world, 400, 50, &[1, 1, 1, 1]).await;
    let gateways = [gateway(&world).await, gateway(&world).await];
    let calls = (0..200).map(|call| {
        let (quota, ask) = (gateways[call % 2].clone(), ask(&members[call / 50], 10, 10));
        tokio::spawn(async move { (call / 50, quota.admit(ask).await.unwrap()) })
    });
    let (mut of_member, mut freezes) = ([0; 4], Vec::new());
    for outcome in futures_util::future::join_all(calls).await {
        if let (member, Admission::Admitted(freeze)) = outcome.unwrap() {
            of_member[member] += 1;
            freezes.push((member, freeze));
        }
    }
    assert_eq!(freezes.len(), 40);
    // 50 of the 200 that are guaranteed: five calls each.
    assert!(of_member.iter().all(|admitted| *admitted >= 5), "{of_member:?}");
    let pending: Vec<_> = freezes
        .into_iter()
        .map(|(member, freeze)| {
            let record = members[member].record(freeze.request_id());
            freeze.finish(Outcome::Final, amount(10), record)
        })
        .collect();
    for pending in pending {
        pending.recorded().await.unwrap();
    }
    for gateway in gateways {
        assert_eq!(gateway.shutdown(Duration::from_secs(10)).await, 0);
    }
    for member in &members {
        world.assert_books(member).await;
    }
}

/// What a pool should hold.
struct Model {
    total: i64,
    percent: u32,
    weights: Vec<u32>,
    used: Vec<i64>,
    running: Vec<(usize, Freeze)>,
}

impl Model {
    fn frozen(&self, member: usize) -> i64 {
        self.running.iter().filter(|(of, _)| *of == member).map(|(_, freeze)| freeze.amount().units()).sum()
    }

    fn guaranteed(&self, member: usize) -> i64 {
        let sum = self.weights.iter().map(|weight| u64::from(*weight)).sum();
        guarantee(amount(self.total), self.percent, self.weights[member], sum).units()
    }

    /// What of a member's guarantee the others must leave.
    fn kept(&self, member: usize) -> i64 {
        unused(amount(self.guaranteed(member)), amount(self.used[member] + self.frozen(member))).units()
    }

    fn left(&self, member: usize) -> i64 {
        let members = 0..self.weights.len();
        let taken: i64 = members.clone().map(|of| self.used[of] + self.frozen(of)).sum();
        let kept: i64 = members.filter(|of| *of != member).map(|of| self.kept(of)).sum();
        self.total - taken - kept
    }
}

struct Run<'a> {
    world: &'a World,
    quota: Quota,
    pool: PoolId,
    members: Vec<Tenant>,
    model: Model,
    random: StdRng,
}

impl Run<'_> {
    async fn step(&mut self, step: usize) {
        let member = self.random.random_range(0..self.members.len());
        match self.random.random_range(0..100) {
            0..45 => self.admit(member).await,
            45..60 => self.extend().await,
            60..93 => self.finish().await,
            93..97 => {
                self.model.weights[member] = self.random.random_range(1..10);
                self.share_out(Some(member)).await;
            }
            97..99 => {
                self.model.total += self.random.random_range(1..200);
                self.model.percent = self.random.random_range(0..=100);
                self.share_out(None).await;
            }
            _ => {
                self.world.redis.command(&["FLUSHALL"]).unwrap();
                // For a member that Redis does not hold more is kept back than it needs: the model knows of none such.
                let scopes: Vec<Scope> = self.members.iter().map(|member| member.scopes[3].clone()).collect();
                let pool = Scope::Pool(self.pool, PeriodLabel::none());
                let scopes: Vec<Scope> = scopes.into_iter().chain([pool]).collect();
                assert!(self.quota.push_at(Home::Pool(self.pool), &scopes).await.unwrap().in_force);
            }
        }
        self.check(step).await;
    }

    async fn admit(&mut self, member: usize) {
        let (want, left) = (self.random.random_range(1..80), self.model.left(member));
        let need = self.random.random_range(1..=want);
        match admitted(&self.quota, &self.members[member], want, need).await {
            Ok(freeze) => {
                assert!(need <= left, "admitted {need} of {left}");
                assert_eq!(freeze.amount().units(), want.min(left));
                self.model.running.push((member, freeze));
            }
            Err(refusal) => assert_eq!((need > left, refusal.available.units()), (true, left)),
        }
    }

    async fn extend(&mut self) {
        if self.model.running.is_empty() {
            return;
        }
        let chosen = self.random.random_range(0..self.model.running.len());
        let (member, freeze) = &self.model.running[chosen];
        let (before, left) = (freeze.amount().units(), self.model.left(*member));
        let want = before + self.random.random_range(1..60);
        let need = self.random.random_range(before + 1..=want);
        match freeze.extend(amount(want), amount(need)).await {
            Extension::Granted(larger) => {
                assert!(need - before <= left, "extended by {} of {left}", need - before);
                assert_eq!(larger.units() - before, (want - before).min(left));
            }
            Extension::Refused(_) => assert!(need - before > left, "refused {} of {left}", need - before),
            other => panic!("{other:?}"),
        }
    }

    async fn finish(&mut self) {
        if self.model.running.is_empty() {
            return;
        }
        let chosen = self.random.random_range(0..self.model.running.len());
        let (member, freeze) = self.model.running.swap_remove(chosen);
        let charge = self.random.random_range(0..=freeze.amount().units());
        self.model.used[member] += charge;
        end(&self.members[member], freeze, charge).await;
    }

    /// As the admin API does: in one transaction under the pool's lock, then pushed.
    async fn share_out(&self, weight_of: Option<usize>) {
        let mut transaction = self.world.store.begin().await.unwrap();
        store::pools::lock(&mut transaction, self.pool).await.unwrap();
        let mut pool = store::pools::get(&mut transaction, self.pool).await.unwrap();
        (pool.budget, pool.guaranteed_percent) = (amount(self.model.total), self.model.percent);
        store::pools::update(&mut transaction, &pool).await.unwrap();
        if let Some(member) = weight_of {
            let (id, weight) = (self.members[member].id, self.model.weights[member]);
            store::pools::set_weight(&mut transaction, self.pool, id, weight).await.unwrap();
        }
        let changed = store::pools::share_out(&mut transaction, self.pool, &PeriodLabel::none()).await.unwrap();
        transaction.commit().await.unwrap();
        assert!(self.quota.push_at(Home::Pool(self.pool), &changed).await.unwrap().in_force);
    }

    /// The pool's four numbers, and what it keeps for its members, are the model's, wherever Redis holds them.
    async fn check(&self, step: usize) {
        let scope = Scope::Pool(self.pool, PeriodLabel::none());
        let held =
            self.quota.ledger().read(Home::Pool(self.pool), std::slice::from_ref(&scope)).await.unwrap().remove(0);
        // After a wipe the running freezes come back with their next beats.
        let Some(numbers) = held.numbers.filter(|_| held.state == AccountState::Trusted) else { return };
        let members = 0..self.members.len();
        let used: i64 = self.model.used.iter().sum();
        let frozen: i64 = members.clone().map(|of| self.model.frozen(of)).sum();
        assert_eq!((numbers.used.units(), numbers.frozen.units()), (used, frozen), "step {step}");
        let shard = Shard::of(Home::Pool(self.pool)).index();
        let field = |scope: &Scope, name: &str| {
            let key = format!("tg:{{q{shard:04}}}:a:{scope}");
            match self.world.redis.command(&["HGET", &key, name]).unwrap() {
                Reply::Text(text) => text.parse::<i64>().unwrap(),
                _ => 0,
            }
        };
        let unspent: i64 = members
            .clone()
            .map(|of| unused(amount(self.model.guaranteed(of)), amount(self.model.used[of])).units())
            .sum();
        assert_eq!(field(&scope, "share"), unspent, "step {step}");
        let covered: i64 = members.map(|of| field(&self.members[of].scopes[3], "covered")).sum();
        assert_eq!(field(&scope, "covered"), covered, "step {step}");
        assert!(used + frozen <= self.model.total, "step {step}: never over");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_calls_of_members_do_what_a_model_predicts() {
    let world = World::start().await;
    let seed = u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap();
    println!("pools: seed {seed}");
    let weights = vec![1, 2, 5];
    let (pool, members) = pool(&world, 600, 60, &weights).await;
    let quota = gateway(&world).await;
    let model = Model { total: 600, percent: 60, weights, used: vec![0; 3], running: Vec::new() };
    let mut run = Run { world: &world, quota, pool, members, model, random: StdRng::seed_from_u64(seed) };
    // Every member's account is loaded: Redis keeps for those it does not know yet what Postgres says.
    for member in 0..3 {
        run.admit(member).await;
    }
    for step in 0..600 {
        run.step(step).await;
    }
    while !run.model.running.is_empty() {
        run.finish().await;
    }
    assert_eq!(run.quota.shutdown(Duration::from_secs(5)).await, 0);
    let mut snapshot = world.store.snapshot().await.unwrap();
    assert_eq!(store::verify::sums(&mut snapshot, None).await.unwrap(), [], "seed {seed}");
}

/// As the admin API does. True where it was done.
async fn relocate(world: &World, quota: &Quota, tenant: &mut Tenant, to: Option<PoolId>) -> bool {
    let from = tenant.home();
    let into = to.map_or(Home::Tenant(tenant.id), Home::Pool);
    let mut transaction = world.store.begin().await.unwrap();
    let moving = store::pools::begin_move(&mut transaction, tenant.id, to).await.unwrap().unwrap();
    transaction.commit().await.unwrap();
    assert!(quota.push(tenant.id, &[Scope::Tenant(tenant.id)]).await.unwrap().in_force);
    let mut is_clear = true;
    for home in [from, into] {
        let cleared = quota.clear(home, tenant.id, &moving.scopes, Duration::from_millis(500)).await.unwrap();
        is_clear &= cleared == Cleared::Yes;
    }
    let mut transaction = world.store.begin().await.unwrap();
    if is_clear {
        let to = to.map(|pool| (pool, 1));
        store::pools::finish_move(&mut transaction, tenant.id, to).await.unwrap().unwrap();
        for home in [from, into] {
            if let Home::Pool(pool) = home {
                store::pools::lock(&mut transaction, pool).await.unwrap();
                store::pools::share_out(&mut transaction, pool, &PeriodLabel::none()).await.unwrap();
            }
        }
    } else {
        assert!(store::pools::cancel_move(&mut transaction, tenant.id).await.unwrap());
    }
    transaction.commit().await.unwrap();
    assert!(quota.push(tenant.id, &[Scope::Tenant(tenant.id)]).await.unwrap().in_force);
    if is_clear {
        tenant.scopes.truncate(3);
        if let Some(pool) = to {
            join(tenant, pool);
        }
    }
    is_clear
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_moves_while_calls_come_and_nothing_is_admitted_twice() {
    let world = World::start().await;
    let (pool, _) = pool(&world, 1_000_000, 0, &[1]).await;
    let mut tenant = world.tenant(3_000).await;
    world.open(&tenant).await;
    let gateways = [gateway(&world).await, gateway(&world).await];
    let (outside, mut inside) = (tenant.clone(), tenant.clone());
    join(&mut inside, pool);
    // Each caller believes what it was told last of where the tenant is, and goes on believing it until it is told otherwise.
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let (quota, places) = (gateways[caller % 2].clone(), [outside.clone(), inside.clone()]);
            tokio::spawn(async move {
                let (mut place, mut admitted, mut told) = (0, 0, 0);
                loop {
                    match quota.admit(ask(&places[place], 10, 10)).await {
                        Ok(Admission::Admitted(freeze)) => {
                            let record = places[place].record(freeze.request_id());
                            tokio::time::sleep(Duration::from_millis(3)).await;
                            freeze.finish(Outcome::Final, amount(10), record).recorded().await.unwrap();
                            admitted += 1;
                        }
                        Ok(Admission::Refused(_)) => return (admitted, told),
                        Err(Unavailable::Moved) => (place, told) = (1 - place, told + 1),
                        other => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    let mut moves = 0;
    while moves < 8 {
        let to = if tenant.scopes.len() == 3 { Some(pool) } else { None };
        moves += i32::from(relocate(&world, &gateways[0], &mut tenant, to).await);
    }
    let (mut admitted, mut told) = (0, 0);
    for caller in callers {
        let (by_one, told_one) = caller.await.unwrap();
        (admitted, told) = (admitted + by_one, told + told_one);
    }
    assert_eq!(admitted, 300, "exactly what the tenant's quota fits");
    assert!(told > 0, "nobody was ever told that the tenant had moved");
    for gateway in gateways {
        assert_eq!(gateway.shutdown(Duration::from_secs(10)).await, 0);
    }
    world.assert_books(&tenant).await;
    let mut snapshot = world.store.snapshot().await.unwrap();
    assert_eq!(store::verify::sums(&mut snapshot, None).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_moves_while_something_runs_and_a_move_whose_maker_is_gone_is_undone() {
    let world = World::start().await;
    let (pool, _) = pool(&world, 1_000, 0, &[1]).await;
    let mut tenant = world.tenant(1_000).await;
    world.open(&tenant).await;
    let quota = gateway(&world).await;
    let freeze = admitted(&quota, &tenant, 10, 10).await.unwrap();
    assert!(!relocate(&world, &quota, &mut tenant, Some(pool)).await);
    let second = admitted(&quota, &tenant, 10, 10).await.unwrap();
    end(&tenant, freeze, 10).await;
    end(&tenant, second, 10).await;
    // A process that began and is gone: calls wait until it is undone.
    let mut transaction = world.store.begin().await.unwrap();
    store::pools::begin_move(&mut transaction, tenant.id, Some(pool)).await.unwrap().unwrap();
    transaction.commit().await.unwrap();
    quota.push(tenant.id, &[Scope::Tenant(tenant.id)]).await.unwrap();
    let waiting = tokio::spawn({
        let (quota, tenant) = (quota.clone(), tenant.clone());
        async move { admitted(&quota, &tenant, 10, 10).await.unwrap().amount() }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waiting.is_finished(), "it admits nothing meanwhile");
    assert_eq!(tollgate_reconciler::moves::older_than(&world.ledger, &world.store, 0).await.unwrap(), 1);
    assert_eq!(waiting.await.unwrap(), amount(10));
    assert_eq!(tollgate_reconciler::moves::older_than(&world.ledger, &world.store, 0).await.unwrap(), 0);
    quota.shutdown(Duration::from_secs(1)).await;
}

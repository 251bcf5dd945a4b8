//! A private Redis and database, tenants in them, and what must hold at the end of every test.

use domain::record::{Outcome, UsageRecord};
use domain::usage::Usage;
use domain::{
    Amount, FreezeEntry, FreezeState, GrantId, Home, KeyId, Level, LimitSet, PeriodLabel, ProjectId, RequestId, Scope,
    Shard, TenantId,
};
use ledger::{Config, Ledger, OpenOutcome};
use store::Store;
use store::record::OutcomeRow;
use testkit::postgres::Database;
use testkit::redis::{Options, Redis, Reply};

pub struct World {
    pub redis: Redis,
    pub database: Database,
    pub ledger: Ledger,
    pub store: Store,
}

#[derive(Debug, Clone)]
pub struct Tenant {
    pub id: TenantId,
    pub project: ProjectId,
    pub key: KeyId,
    /// Key, project, tenant.
    pub scopes: Vec<Scope>,
}

pub fn amount(units: i64) -> Amount {
    Amount::new(units).unwrap()
}

impl World {
    pub async fn start() -> Self {
        let redis = Redis::start_with(Options { debug_commands: true, ..Options::default() }).await.unwrap();
        let database = Database::create().await.unwrap();
        let mut config = Config::new(redis.url());
        config.command_timeout = std::time::Duration::from_secs(5);
        let ledger = Ledger::connect(&config).await.unwrap();
        let store = Store::connect(&store::Config::new(database.app_url(), "test")).await.unwrap();
        Self { redis, database, ledger, store }
    }

    /// A tenant with one grant of `total` units, and no other limit.
    pub async fn tenant(&self, total: i64) -> Tenant {
        self.tenant_with(total, None, None).await
    }

    pub async fn tenant_with(&self, total: i64, project_budget: Option<i64>, key_budget: Option<i64>) -> Tenant {
        let (id, project, key) = (TenantId::generate(), ProjectId::generate(), KeyId::generate());
        let budget = |units: Option<i64>| units.map_or("NULL, NULL".to_owned(), |units| format!("{units}, 'month'"));
        let sql = format!(
            "INSERT INTO tenants (id, name, unit, time_zone, period_kind) VALUES ('{t}', 'T', 'credit', 'UTC', 'month');
             INSERT INTO projects (id, tenant_id, name, budget_amount, budget_period) VALUES ('{p}', '{t}', 'P', {pb});
             INSERT INTO api_keys (id, tenant_id, project_id, name, secret_hash, prefix, budget_amount, budget_period)
             VALUES ('{k}', '{t}', '{p}', 'K', uuid_send('{k}'), 'tg_live_test', {kb});",
            t = id.uuid(),
            p = project.uuid(),
            k = key.uuid(),
            pb = budget(project_budget),
            kb = budget(key_budget)
        );
        self.database.execute(&sql).await.unwrap();
        let scopes =
            vec![Scope::Key(key, PeriodLabel::none()), Scope::Project(project, PeriodLabel::none()), Scope::Tenant(id)];
        let account = store::accounts::NewAccount {
            scope: scopes[2].clone(),
            tenant_id: id,
            total: Some(Amount::ZERO),
            credit_limit: Amount::ZERO,
            overdraft_limit: Amount::ZERO,
            limits: LimitSet::default(),
            overdraft_percent: None,
        };
        let mut transaction = self.store.begin().await.unwrap();
        store::accounts::create(&mut transaction, &account).await.unwrap();
        transaction.commit().await.unwrap();
        let tenant = Tenant { id, project, key, scopes };
        if total > 0 {
            self.top_up(&tenant, total).await;
        }
        tenant
    }

    /// Commits a gift; does not push it.
    pub async fn top_up(&self, tenant: &Tenant, units: i64) {
        self.give(grant(tenant, units)).await;
    }

    /// Commits a grant; does not push it.
    pub async fn give(&self, grant: store::grants::NewGrant) {
        let mut transaction = self.store.begin().await.unwrap();
        store::grants::add(&mut transaction, &grant).await.unwrap();
        transaction.commit().await.unwrap();
    }

    /// Sets the limits of a level, packed, in Postgres, and pushes them to Redis if it holds the account.
    pub async fn limit(&self, tenant: &Tenant, level: Level, packed: &str) {
        let scope = tenant.scopes.iter().find(|scope| scope.level() == level).unwrap();
        let limits = LimitSet::parse(packed).unwrap();
        let mut transaction = self.store.begin().await.unwrap();
        store::load::load(&mut transaction, tenant.id, &tenant.scopes).await.unwrap();
        let change = store::accounts::Change { limits: Some(limits), ..store::accounts::Change::default() };
        let snapshot = store::accounts::change(&mut transaction, scope, &change).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(snapshot.limits, limits);
        let held = self.ledger.read(tenant.id, std::slice::from_ref(scope)).await.unwrap();
        if held[0].numbers.is_some() {
            self.ledger.install(tenant.id, &[snapshot]).await.unwrap();
        }
    }

    /// Everything in Redis, as one hash: keys, values and whether they expire.
    pub fn digest(&self) -> Reply {
        self.redis.command(&["DEBUG", "DIGEST"]).unwrap()
    }

    /// Ends the window of the tenant's shard at once: the test itself sees to it that every live freeze was beaten.
    pub async fn open(&self, tenant: &Tenant) {
        let shard = Shard::of(tenant.home());
        if let OpenOutcome::Recovering(window) = self.ledger.open(shard, None).await.unwrap() {
            let opened = self.ledger.open(shard, Some(&window)).await.unwrap();
            assert!(matches!(opened, OpenOutcome::Open(_)), "{opened:?}");
        }
    }

    /// Redis and Postgres agree, every outcome stands once, nothing is frozen or in flight.
    pub async fn assert_books(&self, tenant: &Tenant) {
        let found = self.ledger.freezes(tenant.home()).await.unwrap();
        assert!(found.is_empty(), "freezes are left: {found:?}");
        let mut connection = self.store.acquire().await.unwrap();
        let snapshots = store::accounts::snapshots(&mut connection, &tenant.scopes).await.unwrap();
        let held = self.ledger.read(tenant.home(), &tenant.scopes).await.unwrap();
        for held in held.into_iter().filter_map(|held| held.numbers) {
            let snapshot = snapshots.iter().find(|snapshot| snapshot.scope == held.scope).unwrap();
            assert_eq!(held.frozen, Amount::ZERO, "frozen of {}", held.scope);
            assert_eq!(
                (held.version, held.used, held.limit),
                (snapshot.version, snapshot.used, snapshot.limit),
                "{}",
                held.scope
            );
        }
        for scope in &tenant.scopes {
            let key = format!("tg:{{q{:04}}}:n:{}", Shard::of(tenant.home()).index(), scope.id());
            assert_eq!(self.redis.command(&["ZCARD", &key]).unwrap(), Reply::Int(0), "in flight of {scope}");
        }
        self.assert_sums(tenant).await;
    }

    /// Postgres adds up by itself.
    pub async fn assert_sums(&self, tenant: &Tenant) {
        let mut snapshot = self.store.snapshot().await.unwrap();
        let wrong = store::verify::sums(&mut snapshot, Some(tenant.id)).await.unwrap();
        assert!(wrong.is_empty(), "sums do not add up: {wrong:?}");
    }

    /// What a request was charged in all, and how many outcome rows it has.
    pub async fn charged(&self, request: RequestId) -> (i64, i64) {
        let rows = self
            .database
            .rows(&format!("SELECT kind, amount FROM settlements WHERE request_id = '{}'", request.uuid()))
            .await
            .unwrap();
        let sum = rows.iter().map(|row| row["amount"].as_i64().unwrap()).sum();
        let outcomes = rows.iter().filter(|row| row["kind"] == 0).count();
        (sum, i64::try_from(outcomes).unwrap())
    }
}

/// A gift of `units`, from now on, for good.
pub fn grant(tenant: &Tenant, units: i64) -> store::grants::NewGrant {
    store::grants::NewGrant {
        id: GrantId::generate(),
        tenant_id: tenant.id,
        kind: "gift".to_owned(),
        amount: amount(units),
        priority: 10,
        starts_at: None,
        ends_at: None,
        note: String::new(),
        actor: "test".to_owned(),
    }
}

impl Tenant {
    /// Where its accounts live in Redis.
    pub fn home(&self) -> Home {
        Home::of(self.id, &self.scopes)
    }

    pub fn record(&self, request_id: RequestId) -> UsageRecord {
        UsageRecord {
            request_id,
            client_request_id: None,
            tenant_id: self.id,
            project_id: self.project,
            key_id: self.key,
            model: "m".to_owned(),
            served_model: None,
            estimate: Amount::ZERO,
            frozen: Amount::ZERO,
            extensions: 0,
            usage: Usage::default(),
            attempts: Vec::new(),
            upstream_status: None,
            estimated: false,
            overrun: false,
            started_at: None,
            frozen_at: None,
            first_byte_at: None,
            ended_at: None,
        }
    }

    pub fn row(&self, request_id: RequestId, outcome: Outcome, units: i64) -> OutcomeRow {
        OutcomeRow {
            request_id,
            tenant_id: self.id,
            scopes: self.scopes.to_vec(),
            outcome,
            amount: amount(units),
            frozen: Amount::ZERO,
            version: i64::MAX,
            record: self.record(request_id),
        }
    }

    pub fn entry(&self, request_id: RequestId, state: FreezeState, units: i64, progress: i64) -> FreezeEntry {
        FreezeEntry {
            request_id,
            tenant_id: self.id,
            state,
            want: amount(units),
            need: amount(units),
            amount: amount(units),
            progress: amount(progress),
            tokens: 0,
            created_ms: 1,
            version: 1,
            gateway: "g".to_owned(),
            model: "m".to_owned(),
            scopes: self.scopes.to_vec(),
        }
    }
}

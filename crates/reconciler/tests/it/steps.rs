//! Steps x faults: one request's life with a fault, or two, between any two of its steps. Every case must end in the books.

use domain::record::Outcome;
use domain::{FreezeState, RequestId, Shard};
use ledger::{Delete, FreezeCall, FreezeOutcome, Load};
use quota::outcomes;
use std::time::Duration;
use tollgate_reconciler::sweep::Sweeper;

use crate::world::{Tenant, World, amount};

const STEPS: [Step; 6] = [Step::Freeze, Step::Beat, Step::Stream, Step::Settle, Step::Record, Step::Confirm];
const FROZEN: i64 = 100;
const STREAMED: i64 = 40;
const ACTUAL: i64 = 70;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Freeze,
    Beat,
    Stream,
    Settle,
    Record,
    Confirm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The gateway is gone for good.
    Gone,
    /// Redis loses everything.
    Wiped,
    /// The next step's reply is lost: it is made again.
    ReplyLost,
    /// A copy of the step before arrives again, at the very end.
    Late,
    /// The reconciler finds the freeze unchanged for a lease (the gateway was paused), then the gateway goes on.
    Expired,
    /// The record transaction is cut before its commit: it is made again.
    CutTransaction,
    /// The tenant's totals change and are pushed.
    ToppedUp,
}

const FAULTS: [Fault; 7] =
    [Fault::Gone, Fault::Wiped, Fault::ReplyLost, Fault::Late, Fault::Expired, Fault::CutTransaction, Fault::ToppedUp];

/// The request under test.
struct Life<'a> {
    world: &'a World,
    tenant: &'a Tenant,
    id: RequestId,
    progress: i64,
    settled: bool,
    admitted: bool,
    /// What Redis holds for this request, where it holds anything. A freeze after the end of its request starts anew.
    held: i64,
    /// Steps whose copies arrive at the end.
    late: Vec<Step>,
    expired: bool,
}

impl Life<'_> {
    fn shard(&self) -> Shard {
        Shard::of(self.tenant.id)
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Freeze => self.freeze().await,
            Step::Beat => self.beat().await,
            Step::Stream => {
                self.progress = STREAMED;
                self.beat().await;
            }
            Step::Settle => {
                self.settled = true;
                let entry = self.entry(FreezeState::Settled, ACTUAL, ACTUAL);
                self.world.ledger.settle(self.shard(), &[entry]).await.unwrap();
                self.held = ACTUAL;
            }
            Step::Record => {
                let row = self.tenant.row(self.id, Outcome::Final, ACTUAL);
                outcomes::record(&self.world.store, &[row]).await.unwrap();
            }
            Step::Confirm => self.confirm().await,
        }
    }

    /// Freeze as the quota does it: loads on NEED_LOAD; a window is opened at once, for every live freeze was beaten.
    async fn freeze(&mut self) {
        let (mut waited, mut load) = (None, None);
        for _ in 0..6 {
            let call = FreezeCall {
                request_id: self.id,
                tenant_id: self.tenant.id,
                scopes: &self.tenant.scopes,
                want: amount(FROZEN),
                need: amount(FROZEN),
                tokens_want: 0,
                tokens_need: 0,
                priced: true,
                gateway: "g",
                model: "m",
                waited: waited.as_ref(),
                load: load.as_ref(),
            };
            match self.world.ledger.freeze(&call).await.unwrap() {
                FreezeOutcome::Frozen { amount: frozen, again, .. } => {
                    // The same call again finds the freeze as it then is: settled to the charge, or as it was frozen.
                    self.held = if again { self.held } else { FROZEN };
                    assert_eq!(frozen, amount(self.held));
                    self.admitted = true;
                    return;
                }
                FreezeOutcome::NeedLoad(ticket) => {
                    let mut connection = self.world.store.acquire().await.unwrap();
                    let loaded = store::load::load(&mut connection, self.tenant.id, &self.tenant.scopes).await.unwrap();
                    load = Some(Load { ticket, snapshots: loaded.snapshots });
                }
                FreezeOutcome::Recovering(window) => (waited, load) = (Some(window), None),
                other => panic!("{other:?}"),
            }
        }
        panic!("no decision");
    }

    /// As the gateway beats it: what was asked for at the freeze stays.
    fn entry(&self, state: FreezeState, units: i64, progress: i64) -> domain::FreezeEntry {
        let mut entry = self.tenant.entry(self.id, state, units, progress);
        (entry.want, entry.need) = (amount(FROZEN), amount(FROZEN));
        entry
    }

    async fn beat(&mut self) {
        self.held = if self.settled { ACTUAL } else { FROZEN };
        let entry = if self.settled {
            self.entry(FreezeState::Settled, ACTUAL, ACTUAL)
        } else {
            self.entry(FreezeState::Active, FROZEN, self.progress)
        };
        self.world.ledger.beat(self.shard(), &[entry]).await.unwrap();
    }

    async fn confirm(&self) {
        let mut connection = self.world.store.acquire().await.unwrap();
        let snapshots = store::accounts::snapshots(&mut connection, &self.tenant.scopes).await.unwrap();
        let snapshots: Vec<_> = snapshots.into_iter().map(|snapshot| (self.tenant.home(), snapshot)).collect();
        let delete = Delete {
            request_id: self.id,
            tenant_id: self.tenant.id,
            scopes: self.tenant.scopes.to_vec(),
            expected: None,
        };
        self.world.ledger.confirm(self.shard(), &snapshots, &[delete]).await.unwrap();
    }

    /// Returns false where the life ends here.
    async fn suffer(&mut self, fault: Fault, before: Step) -> bool {
        match fault {
            Fault::Gone => return false,
            Fault::Wiped => {
                self.world.redis.command(&["FLUSHALL"]).unwrap();
                // Live gateways beat within the window.
                if self.admitted && before != Step::Confirm {
                    self.beat().await;
                }
            }
            Fault::ReplyLost => Box::pin(self.step(before)).await,
            Fault::Late => self.late.extend(previous(before)),
            Fault::Expired => {
                self.expired = true;
                sweep(self.world).await;
            }
            Fault::CutTransaction => {
                let mut transaction = self.world.store.begin().await.unwrap();
                let row = self.tenant.row(self.id, Outcome::Final, ACTUAL);
                if self.admitted {
                    store::record::record(&mut transaction, &[row]).await.unwrap();
                }
                drop(transaction);
            }
            Fault::ToppedUp => {
                self.world.top_up(self.tenant, 5).await;
                let mut connection = self.world.store.acquire().await.unwrap();
                let scope = [self.tenant.scopes[2].clone()];
                let snapshots = store::accounts::snapshots(&mut connection, &scope).await.unwrap();
                self.world.ledger.install(self.tenant.id, &snapshots).await.unwrap();
            }
        }
        true
    }
}

fn previous(step: Step) -> Option<Step> {
    let at = STEPS.iter().position(|candidate| *candidate == step)?;
    at.checked_sub(1).map(|at| STEPS[at])
}

/// Everything that is not beaten any more is past its lease.
async fn sweep(world: &World) {
    let mut sweeper = Sweeper::default();
    for _ in 0..2 {
        sweeper.pass(&world.ledger, &world.store, Duration::ZERO).await.unwrap();
    }
}

/// One case: `faults` are (position, fault), the position is the step before which it happens; 6 is after the last.
async fn case(world: &World, tenant: &Tenant, faults: &[(usize, Fault)]) {
    let mut life = Life {
        world,
        tenant,
        id: RequestId::generate(),
        progress: 0,
        settled: false,
        admitted: false,
        held: 0,
        late: Vec::new(),
        expired: false,
    };
    let (mut gone, mut recorded) = (false, false);
    'life: for position in 0..=STEPS.len() {
        for (_, fault) in faults.iter().filter(|(at, _)| *at == position) {
            let before = STEPS.get(position).copied().unwrap_or(Step::Confirm);
            if !life.suffer(*fault, before).await {
                gone = true;
                break 'life;
            }
        }
        if let Some(step) = STEPS.get(position) {
            life.step(*step).await;
            recorded |= *step == Step::Record;
        }
    }
    for step in std::mem::take(&mut life.late) {
        // A freeze that was under way is answered to nobody any more.
        if step == Step::Freeze && recorded {
            world.open(tenant).await;
        }
        life.step(step).await;
    }
    sweep(world).await;
    // The next request finds an open shard and the true totals.
    world.open(tenant).await;
    let (charged, outcomes) = world.charged(life.id).await;
    let context = format!("{faults:?}");
    if gone && !recorded {
        assert!(charged == 0 || charged == STREAMED || charged == ACTUAL, "{context}: charged {charged}");
        let lost = faults.iter().any(|(_, fault)| *fault == Fault::Wiped) || !life.admitted;
        assert!(lost || outcomes == 1, "{context}: an admitted request has no outcome");
    } else {
        assert_eq!((charged, outcomes), (ACTUAL, 1), "{context}");
    }
    world.assert_books(tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_survives_every_fault_and_every_pair_of_faults() {
    let world = World::start().await;
    let tenant = world.tenant(1_000_000_000).await;
    world.open(&tenant).await;
    let single: Vec<(usize, Fault)> =
        (0..=STEPS.len()).flat_map(|position| FAULTS.iter().map(move |fault| (position, *fault))).collect();
    let mut cases = 0;
    for fault in &single {
        case(&world, &tenant, &[*fault]).await;
        cases += 1;
    }
    for first in &single {
        for second in single.iter().filter(|second| second.0 >= first.0 && first.1 != Fault::Gone) {
            case(&world, &tenant, &[*first, *second]).await;
            cases += 1;
        }
    }
    println!("steps x faults: {cases} cases hold");
    assert!(cases > 1000, "{cases}");
}

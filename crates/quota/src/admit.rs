//! Admission: freeze, and what it may ask for on the way (a load, a recovery window, the same call again).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::record::{Outcome, UsageRecord};
use domain::settings::OutageStep;
use domain::{Amount, Home, KeyId, Level, LimitUse, Numbers, ProjectId, RequestId, Scope, Status, TenantId};
use ledger::{FreezeCall, FreezeOutcome, LedgerError};
use store::record::OutcomeRow;
use tokio::time::Instant;
use tracing::{error, warn};

use crate::live::{Live, NewLive, Opened};
use crate::recorder::Job;
use crate::{Freeze, Quota, Shared, Unavailable, outcomes};

/// Between two looks at a tenant that is on its way into a pool or out of one.
const MOVING: Duration = Duration::from_millis(50);

/// What a request asks for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Never used for another request.
    pub request_id: RequestId,
    /// Who pays.
    pub tenant_id: TenantId,
    /// The key's project.
    pub project_id: ProjectId,
    /// The caller's key.
    pub key_id: KeyId,
    /// Key, project, tenant; of a pool's member that and the pool after them.
    pub scopes: Vec<Scope>,
    /// What it may cost at most, as far as is set aside at first.
    pub want: Amount,
    /// What it needs at least.
    pub need: Amount,
    /// Tokens to reserve of the token rates.
    pub tokens_want: i64,
    /// Tokens to reserve at least, where a rate itself is below `tokens_want`.
    pub tokens_need: i64,
    /// The model's name.
    pub model: String,
    /// What the tenant wants while Redis is away.
    pub outage: Arc<[OutageStep]>,
}

impl Ask {
    /// Whose keys in Redis it is frozen among.
    #[must_use]
    pub fn home(&self) -> Home {
        Home::of(self.tenant_id, &self.scopes)
    }
}

/// What became of an ask.
#[derive(Debug)]
#[must_use]
pub enum Admission {
    /// Quota is set aside; finish the freeze.
    Admitted(Freeze),
    /// A limit forbids; nothing was set aside.
    Refused(Refusal),
    /// A level is suspended, closed or halted.
    Inactive {
        /// Whose status.
        level: Level,
        /// The status.
        status: String,
    },
}

/// The limit that forbids.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// Whose limit.
    pub level: Level,
    /// Its name: `quota`, `live_freezes`, or that of a [`domain::LimitName`].
    pub limit: String,
    /// What it would still allow, in the account's unit or as a number of requests or tokens.
    pub available: Amount,
    /// The limit itself; None for the quota, see `numbers`.
    pub most: Option<Amount>,
    /// The account's numbers.
    pub numbers: Numbers,
    /// When it is worth trying again, exact to the ms, where that is known.
    pub retry_after: Option<Duration>,
}

impl From<ledger::Refused> for Refusal {
    fn from(refused: ledger::Refused) -> Self {
        Self {
            level: refused.scope.level(),
            limit: refused.limit,
            available: refused.available,
            most: refused.most,
            numbers: refused.numbers,
            retry_after: refused.retry_after,
        }
    }
}

impl Quota {
    /// Freezes `want`, never below `need`, over key, project and tenant in one decision. Follows loads and recovery windows
    /// inside; a call whose reply was lost is sent again with the same id.
    ///
    /// # Errors
    /// No decision within the time allowed, or `Moved`. If a freeze may have been written, its roll back is recorded.
    pub async fn admit(&self, ask: Ask) -> Result<Admission, Unavailable> {
        let shared = &self.shared;
        if shared.stopping.load(Ordering::Relaxed) {
            return Err(Unavailable::Busy("the gateway is stopping"));
        }
        if shared.recorder.backlog() > shared.config.max_backlog {
            return Err(Unavailable::Busy("too many outcomes wait for the database"));
        }
        let mut attempt = Attempt::default();
        let end = Instant::now() + shared.config.admit_timeout;
        let outcome = loop {
            match self.attempt(&ask, &mut attempt).await {
                Ok(Some(decided)) => break Ok(decided),
                Err(Unavailable::Ledger(LedgerError::Away)) => {
                    match self.admit_without_ledger(&ask, attempt.unknown).await {
                        Ok(Some(decided)) => break Ok(decided),
                        Ok(None) => {}
                        Err(error) => break Err(error),
                    }
                }
                Err(error) if !is_transient(&error) => break Err(error),
                Err(error) if Instant::now() >= end => break Err(error),
                Ok(None) if Instant::now() >= end => break Err(Unavailable::Busy("no decision in time")),
                Ok(None) => {}
                Err(_) => tokio::time::sleep(Duration::from_millis(25)).await,
            }
        };
        let admitted = matches!(outcome, Ok(Admission::Admitted(_)));
        if attempt.unknown && !admitted {
            // A lost call may still be under way: a row makes Postgres decide about whatever it freezes.
            shared.roll_back_abandoned(&ask);
        }
        outcome
    }

    /// One call. None: go on (with what `attempt` remembers).
    async fn attempt(&self, ask: &Ask, attempt: &mut Attempt) -> Result<Option<Admission>, Unavailable> {
        let shared = &self.shared;
        let call = FreezeCall {
            request_id: ask.request_id,
            tenant_id: ask.tenant_id,
            scopes: &ask.scopes,
            want: ask.want,
            need: ask.need,
            tokens_want: ask.tokens_want,
            tokens_need: ask.tokens_need,
            priced: ask.want.is_positive(),
            gateway: &shared.config.gateway_id,
            model: &ask.model,
            waited: attempt.waited.as_ref(),
            load: attempt.load.as_ref(),
        };
        let sent = Instant::now();
        let outcome = shared.ledger.freeze(&call).await;
        if matches!(outcome, Err(LedgerError::Unknown(_))) {
            attempt.unknown = true;
        }
        match outcome? {
            FreezeOutcome::Frozen { age, .. } if age > shared.config.max_reply_age => {
                attempt.unknown = true;
                Ok(None)
            }
            FreezeOutcome::Frozen { amount, tokens, version, numbers, limits, .. } => {
                shared.learn(&numbers, Some(&limits));
                let granted = Granted { amount, tokens, version, numbers, limits };
                let freeze = self.register(ask, granted, sent, None);
                Ok(Some(Admission::Admitted(freeze)))
            }
            FreezeOutcome::Refused(refused) => {
                shared.learn(std::slice::from_ref(&refused.numbers), None);
                Ok(Some(Admission::Refused(refused.into())))
            }
            FreezeOutcome::Inactive { status, .. } if status == Status::Moving.as_str() => {
                tokio::time::sleep(MOVING).await;
                if shared.home(ask.tenant_id).await? == ask.home() { Ok(None) } else { Err(Unavailable::Moved) }
            }
            FreezeOutcome::Inactive { scope, status } => Ok(Some(Admission::Inactive { level: scope.level(), status })),
            FreezeOutcome::NeedLoad(ticket) => {
                let load = shared.load(ticket, ask.home(), ask.tenant_id, &ask.scopes, attempt.load.as_ref()).await?;
                attempt.load = Some(load);
                Ok(None)
            }
            FreezeOutcome::Recovering(window) => {
                if attempt.waited.as_ref() != Some(&window) {
                    tokio::time::sleep_until(Instant::now() + shared.config.recovery_wait).await;
                    attempt.waited = Some(window);
                }
                attempt.load = None;
                Ok(None)
            }
            FreezeOutcome::Conflict | FreezeOutcome::Invalid => {
                error!(request_id = %ask.request_id, want = %ask.want, need = %ask.need, "the ledger finds the ask invalid");
                Err(Unavailable::Busy("the estimate is not valid"))
            }
        }
    }

    pub(crate) fn register(&self, ask: &Ask, granted: Granted, sent: Instant, opened: Option<Opened>) -> Freeze {
        let version = granted.version;
        for of in &granted.numbers {
            self.shared.known.note(&of.scope, of.version, crate::Use { total: of.total, used: of.used });
        }
        let live = self.shared.live.insert(Live::new(NewLive {
            request_id: ask.request_id,
            tenant_id: ask.tenant_id,
            scopes: ask.scopes.clone(),
            want: ask.want,
            need: ask.need,
            amount: granted.amount,
            created_ms: jiff::Timestamp::now().as_millisecond(),
            version,
            model: ask.model.replace('|', "_"),
            sent,
            opened,
        }));
        Freeze::new(self.clone(), ask.clone(), live, granted)
    }
}

/// What the ledger granted at a request's admission.
#[derive(Debug)]
pub(crate) struct Granted {
    pub amount: Amount,
    pub tokens: i64,
    /// Of the tenant's account at the freeze.
    pub version: i64,
    pub numbers: Vec<Numbers>,
    pub limits: Vec<LimitUse>,
}

fn is_transient(error: &Unavailable) -> bool {
    match error {
        Unavailable::Ledger(error) => error.is_transient(),
        Unavailable::Store(error) => error.is_transient(),
        Unavailable::Busy(_) | Unavailable::Away(_) | Unavailable::Moved => false,
    }
}

/// What an admission remembers between its calls.
#[derive(Debug, Default)]
struct Attempt {
    waited: Option<ledger::WindowId>,
    load: Option<ledger::Load>,
    /// A call's reply was lost or late.
    unknown: bool,
}

impl Shared {
    fn roll_back_abandoned(&self, ask: &Ask) {
        warn!(request_id = %ask.request_id, "the freeze's outcome is unknown: its roll back is recorded");
        let row = OutcomeRow {
            request_id: ask.request_id,
            tenant_id: ask.tenant_id,
            scopes: ask.scopes.clone(),
            outcome: Outcome::RolledBack,
            amount: Amount::ZERO,
            frozen: Amount::ZERO,
            version: i64::MAX,
            record: empty_record(ask),
        };
        self.recorder.push(Job { row, live: None, done: None, ended: std::time::Instant::now() });
    }
}

/// The record of a request of which nothing but the ask is known.
pub(crate) fn empty_record(ask: &Ask) -> UsageRecord {
    outcomes::bare(ask.request_id, ask.tenant_id, ask.project_id, ask.key_id, &ask.model, ask.want)
}

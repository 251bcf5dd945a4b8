//! Admission without the ledger.

use std::time::Duration;

use domain::settings::{OutageMode, OutageStep};
use domain::{LimitName, LimitUse, Numbers, Scope};
use tokio::time::Instant;
use tracing::{debug, warn};

use super::known::Wish;
use crate::admit::Granted;
use crate::live::Opened;
use crate::{Admission, Ask, Freeze, Quota, Refusal, Shared, Unavailable};

/// The row in Postgres has to be written within this, or the request is refused.
const OPEN_WITHIN: Duration = Duration::from_secs(2);

enum Decision {
    Admitted(Box<Freeze>, OutageMode),
    Refused(Box<Refusal>),
    /// The breaker closed meanwhile.
    Back,
}

impl Quota {
    /// Decides by the tenant's outage steps. None: the ledger is back. `maybe_frozen`: a call for it may have reached Redis.
    pub(crate) async fn admit_without_ledger(
        &self,
        ask: &Ask,
        maybe_frozen: bool,
    ) -> Result<Option<Admission>, Unavailable> {
        let Some(since) = self.shared.ledger.away_since() else { return Ok(None) };
        let mode = OutageStep::at(&ask.outage, since.elapsed().as_secs());
        let decided = self.decide(ask, mode, maybe_frozen).await;
        let outcome = match &decided {
            Ok(Some(Admission::Admitted(_))) => "admitted",
            Ok(None) => return decided,
            Ok(Some(_)) | Err(_) => "refused",
        };
        metrics::counter!("tollgate_gateway_outage_requests_total", "mode" => mode.as_str(), "outcome" => outcome)
            .increment(1);
        decided
    }

    async fn decide(&self, ask: &Ask, mode: OutageMode, maybe_frozen: bool) -> Result<Option<Admission>, Unavailable> {
        let shared = &self.shared;
        if mode == OutageMode::Deny {
            return Err(Unavailable::Away("the tenant's outage steps say deny"));
        }
        if !shared.outage.accounts.lock().knows(&ask.scopes[2]) {
            return Err(Unavailable::Away("this gateway has never heard of the tenant's quota"));
        }
        shared.learn_from_postgres(ask).await?;
        match self.take(ask, maybe_frozen).await? {
            Decision::Back => Ok(None),
            Decision::Refused(refusal) if refusal.limit == "quota" => {
                debug!(request_id = %ask.request_id, level = %refusal.level, "the share of the allowance is used up");
                Err(Unavailable::Away("this gateway's share of the allowance is used up"))
            }
            Decision::Refused(refusal) => Ok(Some(Admission::Refused(*refusal))),
            Decision::Admitted(freeze, mode) => self.open(ask, *freeze, mode).await.map(Some),
        }
    }

    /// In one step under the gate, so that a freeze is known to whoever closes the breaker, or not there at all.
    async fn take(&self, ask: &Ask, maybe_frozen: bool) -> Result<Decision, Unavailable> {
        let shared = &self.shared;
        let _gate = shared.outage.gate.read().await;
        let Some(since) = shared.ledger.away_since() else { return Ok(Decision::Back) };
        let mode = OutageStep::at(&ask.outage, since.elapsed().as_secs());
        let portion = shared.outage.portion();
        let mut accounts = shared.outage.accounts.lock();
        if let Some((scope, status)) = accounts.inactive(&ask.scopes) {
            debug!(%scope, status = status.as_str(), "an account does not admit");
            return Err(Unavailable::Away("an account of the request is not active"));
        }
        let running = shared.live.running(&ask.scopes);
        if running[2] >= shared.config.outage_in_flight {
            return Err(Unavailable::Away("too many of the tenant's requests run while the ledger is away"));
        }
        if let Some(refusal) = accounts.crowded(&ask.scopes, &running, portion.gateways) {
            return Ok(Decision::Refused(Box::new(refusal)));
        }
        let wish = Wish {
            scopes: &ask.scopes,
            want: ask.want.units(),
            need: ask.need.units(),
            has: 0,
            is_bounded: mode != OutageMode::Bypass,
        };
        let taken = match accounts.take(wish, portion) {
            Ok(taken) => taken,
            Err(refusal) => return Ok(Decision::Refused(refusal)),
        };
        let granted = Granted {
            amount: domain::Amount::new(taken.units).unwrap_or(ask.need),
            tokens: ask.tokens_want,
            version: accounts.version(&ask.scopes[2]),
            numbers: accounts.numbers(&ask.scopes),
            limits: Vec::<LimitUse>::new(),
        };
        let freeze = self.register(ask, granted, Instant::now(), Some(Opened { taken, maybe_frozen }));
        drop(accounts);
        Ok(Decision::Admitted(Box::new(freeze), mode))
    }

    /// Leaves the trace in Postgres. Only then may the provider be called.
    async fn open(&self, ask: &Ask, freeze: Freeze, mode: OutageMode) -> Result<Admission, Unavailable> {
        let opened = store::opened::Opened {
            request_id: ask.request_id,
            tenant_id: ask.tenant_id,
            project_id: ask.project_id,
            key_id: ask.key_id,
            scopes: ask.scopes.to_vec(),
            gateway_id: self.shared.config.gateway_id.clone(),
            model: ask.model.clone(),
            amount: freeze.amount(),
            version: freeze.live.version,
        };
        let mut is_sent = false;
        let write = async {
            let mut connection = self.shared.store.acquire().await?;
            is_sent = true;
            store::opened::open(&mut connection, &opened, mode).await
        };
        let written = tokio::time::timeout(OPEN_WITHIN, write).await;
        match written {
            Ok(Ok(())) => {
                if mode == OutageMode::Bypass {
                    warn!(request_id = %ask.request_id, tenant = %ask.tenant_id, "admitted without a bound: Redis is away and the tenant's outage step is bypass");
                }
                return Ok(Admission::Admitted(freeze));
            }
            Ok(Err(error)) => warn!(request_id = %ask.request_id, %error, "neither Redis nor Postgres: not admitted"),
            Err(_) => warn!(request_id = %ask.request_id, "neither Redis nor Postgres in time: not admitted"),
        }
        freeze.give_up(is_sent);
        Err(Unavailable::Away("neither Redis nor Postgres can be reached"))
    }
}

impl Shared {
    /// Reads the totals of projects and keys that this gateway has not heard of, such as those of a period that has just begun
    /// (which opens their accounts), and of those that have changed by themselves.
    async fn learn_from_postgres(&self, ask: &Ask) -> Result<(), Unavailable> {
        let now_ms = jiff::Timestamp::now().as_millisecond();
        if self.outage.accounts.lock().unknown(&ask.scopes, now_ms).is_empty() {
            return Ok(());
        }
        let loaded = self.loaded(ask.tenant_id, &ask.scopes).await?;
        let mut accounts = self.outage.accounts.lock();
        let unknown: Vec<Scope> = accounts.unknown(&ask.scopes, now_ms).into_iter().cloned().collect();
        for snapshot in loaded.snapshots.iter().filter(|snapshot| unknown.contains(&snapshot.scope)) {
            let limits = (snapshot.limits.get(LimitName::InFlight), snapshot.limits.get(LimitName::MaxPerRequest));
            accounts.replace(Numbers::of(snapshot, domain::Amount::ZERO), limits, Instant::now());
        }
        Ok(())
    }
}

//! The twin of `freeze.lua`.

use std::time::Duration;

use domain::{Amount, Home, LimitUse, Numbers, RequestId, Scope, Shard, Snapshot, TenantId};

use crate::args::{push_no_snapshot, push_snapshot};
use crate::reply::Reply;
use crate::{Ledger, LedgerError, WindowId, keys, scripts};

/// Permission to open accounts: the shard's window and eviction count at the time. Snapshots must be read after it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The window.
    pub window: WindowId,
    /// How often accounts of the shard were evicted.
    pub evictions: String,
}

/// Snapshots read from Postgres' primary after `ticket` was given, in the order of the scopes.
#[derive(Debug, Clone)]
pub struct Load {
    /// From NEED_LOAD.
    pub ticket: Ticket,
    /// One per scope.
    pub snapshots: Vec<Snapshot>,
}

/// What to set aside, for whom.
#[derive(Debug, Clone)]
pub struct FreezeCall<'a> {
    /// Never used for another request.
    pub request_id: RequestId,
    /// Whose.
    pub tenant_id: TenantId,
    /// Key, project, tenant; of a pool's member that and the pool after them.
    pub scopes: &'a [Scope],
    /// At most this much.
    pub want: Amount,
    /// At least this much.
    pub need: Amount,
    /// Tokens to reserve of the token rates. Where a rate itself is below that: what it has left, at least `tokens_need`.
    pub tokens_want: i64,
    /// Tokens to reserve at least; never above `tokens_want`.
    pub tokens_need: i64,
    /// False only where the model's price was set to zero explicitly.
    pub priced: bool,
    /// The gateway that will beat it.
    pub gateway: &'a str,
    /// The model, without `|`.
    pub model: &'a str,
    /// The window that the caller waited out on its own monotonic clock.
    pub waited: Option<&'a WindowId>,
    /// Snapshots after a NEED_LOAD.
    pub load: Option<&'a Load>,
}

/// A limit that forbids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Whose limit.
    pub scope: Scope,
    /// Its name: `quota`, `live_freezes`, or that of a [`domain::LimitName`].
    pub limit: String,
    /// What it would still allow, in the account's unit or as a number of requests or tokens.
    pub available: Amount,
    /// When the same call will find room if nothing else comes, exact to the ms; None where that is no matter of time.
    pub retry_after: Option<Duration>,
    /// The limit itself; None for the quota, see `numbers`.
    pub most: Option<Amount>,
    /// The account's numbers.
    pub numbers: Numbers,
}

/// What became of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreezeOutcome {
    /// Set aside (`again`: it already was, by the same call).
    Frozen {
        /// How much.
        amount: Amount,
        /// Tokens reserved of the token rates; those wanted where there is no such rate.
        tokens: i64,
        /// Version of the tenant's account when it was set aside.
        version: i64,
        /// One per scope after it.
        numbers: Vec<Numbers>,
        /// How far each limit is used up after it.
        limits: Vec<LimitUse>,
        /// True where this call found its own earlier success.
        again: bool,
        /// From sending to reading the reply. Older than 500 ms counts as unknown: send the same call again.
        age: Duration,
    },
    /// A limit forbids; nothing was written.
    Refused(Refused),
    /// Read Postgres, then call again with the snapshots.
    NeedLoad(Ticket),
    /// Wait out the window, then call again with it as `waited`.
    Recovering(WindowId),
    /// The account's status forbids.
    Inactive {
        /// Whose status.
        scope: Scope,
        /// The status.
        status: String,
    },
    /// The id was used with other amounts.
    Conflict,
    /// Not valid; nothing was written.
    Invalid,
}

impl Ledger {
    /// One attempt to freeze; the caller follows `NeedLoad` and `Recovering`.
    ///
    /// # Errors
    /// `Unknown`: send the same call again. `NotApplied`: nothing was written.
    pub async fn freeze(&self, call: &FreezeCall<'_>) -> Result<FreezeOutcome, LedgerError> {
        let home = Home::of(call.tenant_id, call.scopes);
        let mut keys = chain_keys(home, call.scopes);
        keys.extend(limit_keys(Shard::of(home), call.scopes));
        let scopes: Vec<String> = call.scopes.iter().map(ToString::to_string).collect();
        let mut args = vec![
            call.request_id.to_string(),
            keys::member(home, call.request_id),
            call.want.to_string(),
            call.need.to_string(),
            if call.priced { "1" } else { "0" }.to_owned(),
            call.gateway.to_owned(),
            call.model.to_owned(),
        ];
        push_window(&mut args, call.waited, call.load);
        args.push(scopes.join(","));
        args.push(self.lease_ms.to_string());
        args.push(call.tokens_want.to_string());
        args.push(call.tokens_need.to_string());
        push_load(&mut args, call.scopes, call.load);
        let (mut reply, age) = self.call(&scripts::FREEZE, &keys, &args).await?;
        let code = reply.word()?;
        match code.as_str() {
            "FROZEN" | "ALREADY_FROZEN" => {
                let (amount, version, tokens) = (reply.amount()?, reply.integer()?, reply.integer()?);
                let numbers = call.scopes.iter().map(|scope| reply.numbers(scope)).collect::<Result<_, _>>()?;
                let limits = reply.limit_uses(call.scopes)?.into_iter().map(|(_, limit)| limit).collect();
                let again = code == "ALREADY_FROZEN";
                Ok(FreezeOutcome::Frozen { amount, tokens, version, numbers, limits, again, age })
            }
            "REFUSED" => refused(&mut reply, call.scopes).map(FreezeOutcome::Refused),
            "NEED_LOAD" => Ok(FreezeOutcome::NeedLoad(Ticket { window: reply.word()?, evictions: reply.word()? })),
            "RECOVERING" => Ok(FreezeOutcome::Recovering(reply.word()?)),
            "INACTIVE" => Ok(FreezeOutcome::Inactive { scope: reply.which(call.scopes)?, status: reply.word()? }),
            "CONFLICT" => Ok(FreezeOutcome::Conflict),
            "INVALID" => Ok(FreezeOutcome::Invalid),
            _ => Err(reply.unexpected()),
        }
    }
}

/// Keys of a script over one chain: marker, index, the home's freezes, the accounts.
pub(crate) fn chain_keys(home: Home, scopes: &[Scope]) -> Vec<String> {
    let shard = Shard::of(home);
    let mut list = vec![keys::marker(shard), keys::index(shard), keys::freezes(home)];
    list.extend(scopes.iter().map(|scope| keys::account(shard, scope)));
    list
}

/// Keys of the limits' use: every scope's rates, then every scope's requests in flight.
pub(crate) fn limit_keys(shard: Shard, scopes: &[Scope]) -> Vec<String> {
    let rates = scopes.iter().map(|scope| keys::rates(shard, scope));
    rates.chain(scopes.iter().map(|scope| keys::running(shard, scope))).collect()
}

/// Nonce, waited window and ticket.
pub(crate) fn push_window(args: &mut Vec<String>, waited: Option<&WindowId>, load: Option<&Load>) {
    args.push(new_window());
    args.push(waited.cloned().unwrap_or_default());
    args.push(load.map_or_else(String::new, |load| load.ticket.window.clone()));
    args.push(load.map_or_else(String::new, |load| load.ticket.evictions.clone()));
}

/// A snapshot per scope, or only the scopes.
pub(crate) fn push_load(args: &mut Vec<String>, scopes: &[Scope], load: Option<&Load>) {
    for scope in scopes {
        let snapshot = load.and_then(|load| load.snapshots.iter().find(|snapshot| snapshot.scope == *scope));
        match snapshot {
            Some(snapshot) => push_snapshot(args, snapshot),
            None => push_no_snapshot(args, scope),
        }
    }
}

pub(crate) fn refused(reply: &mut Reply, scopes: &[Scope]) -> Result<Refused, LedgerError> {
    let scope = reply.which(scopes)?;
    let limit = reply.word()?;
    let available = reply.amount()?;
    let retry_after = reply.optional()?.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or_default()));
    let most = reply.optional()?.map(Amount::new).transpose().map_err(|_| reply.unexpected())?;
    let numbers = reply.numbers(&scope)?;
    Ok(Refused { scope, limit, available, retry_after, most, numbers })
}

/// A window id that no generation ever had.
pub(crate) fn new_window() -> WindowId {
    uuid::Uuid::new_v4().simple().to_string()
}

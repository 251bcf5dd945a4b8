//! The twin of `read.lua`, and the list of a tenant's freezes.

use domain::{Home, LimitUse, Numbers, Scope, Shard};

use crate::freeze::limit_keys;
use crate::reply::NUMBERS;
use crate::sweep::{Found, parse_packed};
use crate::{Ledger, LedgerError, keys, scripts};

/// How far Redis' copy of an account can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    /// Admits requests.
    Trusted,
    /// Installed, but not yet read under the current ticket.
    Untrusted,
    /// Not there, or of an older window.
    Absent,
}

/// What Redis holds of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// How far it can be believed.
    pub state: AccountState,
    /// Its numbers; None where absent.
    pub numbers: Option<Numbers>,
    /// How far its limits are used up; empty where it has none or is absent.
    pub limits: Vec<LimitUse>,
}

impl Ledger {
    /// Reads accounts of one home. Changes nothing.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn read(&self, home: impl Into<Home>, scopes: &[Scope]) -> Result<Vec<Held>, LedgerError> {
        let shard = Shard::of(home);
        let mut list = vec![keys::marker(shard)];
        list.extend(scopes.iter().map(|scope| keys::account(shard, scope)));
        list.extend(limit_keys(shard, scopes));
        let args: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        let (mut reply, _) = self.call(&scripts::READ, &list, &args).await?;
        if reply.word()? != "OK" {
            return Err(reply.unexpected());
        }
        let (_window, shard_state) = (reply.word()?, reply.word()?);
        let mut held = Vec::with_capacity(scopes.len());
        for scope in scopes {
            let word = reply.word()?;
            if word == "absent" {
                for _ in 0..NUMBERS {
                    reply.word()?;
                }
                held.push(Held { state: AccountState::Absent, numbers: None, limits: Vec::new() });
                continue;
            }
            let trusted = word == "trusted" && shard_state == "open";
            let state = if trusted { AccountState::Trusted } else { AccountState::Untrusted };
            held.push(Held { state, numbers: Some(reply.numbers(scope)?), limits: Vec::new() });
        }
        for (scope, limit) in reply.limit_uses(scopes)? {
            let index = scopes.iter().position(|candidate| *candidate == scope);
            if let Some(held) = index.and_then(|index| held.get_mut(index)) {
                held.limits.push(limit);
            }
        }
        Ok(held)
    }

    /// The live freezes of a tenant, or of all members of a pool.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn freezes(&self, home: impl Into<Home>) -> Result<Vec<Found>, LedgerError> {
        let mut connection = self.connection();
        let all: Vec<(String, String)> =
            redis::cmd("HGETALL").arg(keys::freezes(home.into())).query_async(&mut connection).await?;
        all.into_iter().map(|(request, packed)| parse_packed(&request, packed)).collect()
    }
}

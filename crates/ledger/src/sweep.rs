//! What the reconciler looks at: freezes whose last beat is old.

use domain::{Amount, FreezeEntry, FreezeState, RequestId, Scope, Shard};

use crate::{Ledger, LedgerError, keys};

/// A freeze as Redis holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its contents.
    pub entry: FreezeEntry,
    /// Its last beat, ms of Redis' clock.
    pub beat_ms: i64,
    /// The packed text, for compare-and-delete.
    pub packed: String,
}

impl Ledger {
    /// Freezes of `shard` without a beat for `older_than_ms` of Redis' clock, or with a beat in its future (the clock was
    /// set back), at most `limit` of each. An index entry whose freeze is gone is dropped.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn sweep(
        &self,
        shard: Shard,
        now_ms: i64,
        older_than_ms: i64,
        limit: usize,
    ) -> Result<Vec<Found>, LedgerError> {
        let mut connection = self.connection();
        let index = keys::index(shard);
        let mut pipeline = redis::pipe();
        pipeline
            .cmd("ZRANGEBYSCORE")
            .arg(&index)
            .arg("-inf")
            .arg(now_ms - older_than_ms)
            .arg("LIMIT")
            .arg(0)
            .arg(limit);
        pipeline
            .cmd("ZRANGEBYSCORE")
            .arg(&index)
            .arg(now_ms + older_than_ms)
            .arg("+inf")
            .arg("LIMIT")
            .arg(0)
            .arg(limit);
        let (old, future): (Vec<String>, Vec<String>) = pipeline.query_async(&mut connection).await?;
        let mut found = Vec::new();
        for member in old.into_iter().chain(future) {
            let Some((home, request)) = keys::parse_member(&member) else {
                return Err(LedgerError::Protocol { script: "index", reply: member });
            };
            let packed: Option<String> = redis::cmd("HGET")
                .arg(keys::freezes(home))
                .arg(request.to_string())
                .query_async(&mut connection)
                .await?;
            match packed {
                Some(packed) => found.push(parse_packed(&request.to_string(), packed)?),
                None => redis::cmd("ZREM").arg(&index).arg(&member).query_async::<()>(&mut connection).await?,
            }
        }
        Ok(found)
    }

    /// How many freezes each of `shards` holds by its index; in one pipeline.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn live(&self, shards: &[Shard]) -> Result<Vec<i64>, LedgerError> {
        let mut pipeline = redis::pipe();
        for shard in shards {
            pipeline.cmd("ZCARD").arg(keys::index(*shard));
        }
        Ok(pipeline.query_async(&mut self.connection()).await?)
    }

    /// Redis' clock, ms since 1970.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn now_ms(&self) -> Result<i64, LedgerError> {
        let (seconds, micros): (i64, i64) = redis::cmd("TIME").query_async(&mut self.connection()).await?;
        Ok(seconds * 1000 + micros / 1000)
    }

    /// How many keys Redis holds.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn size(&self) -> Result<u64, LedgerError> {
        Ok(redis::cmd("DBSIZE").query_async(&mut self.connection()).await?)
    }
}

/// Reads one packed freeze; the form is fixed in `lua/README.md`.
pub fn parse_packed(request: &str, packed: String) -> Result<Found, LedgerError> {
    let parsed = parse(request, &packed);
    parsed
        .map(|(entry, beat_ms)| Found { entry, beat_ms, packed: packed.clone() })
        .ok_or(LedgerError::Protocol { script: "freeze entry", reply: packed })
}

fn parse(request: &str, packed: &str) -> Option<(FreezeEntry, i64)> {
    let request_id: RequestId = request.parse().ok()?;
    let parts: Vec<&str> = packed.split('|').collect();
    let [state, want, need, amount, progress, beat, created, version, gateway, model, scopes, _rate] = parts.as_slice()
    else {
        return None;
    };
    let units = |text: &str| text.parse().ok().and_then(|units| Amount::new(units).ok());
    let scopes: Vec<Scope> = scopes.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
    let tenant_id = scopes.iter().find_map(|scope| match scope {
        Scope::Tenant(id) => Some(*id),
        _ => None,
    })?;
    let entry = FreezeEntry {
        request_id,
        tenant_id,
        state: match *state {
            "A" => FreezeState::Active,
            "S" => FreezeState::Settled,
            _ => return None,
        },
        want: units(want)?,
        need: units(need)?,
        amount: units(amount)?,
        progress: units(progress)?,
        tokens: 0,
        created_ms: created.parse().ok()?,
        version: version.parse().ok()?,
        gateway: (*gateway).to_owned(),
        model: (*model).to_owned(),
        scopes,
    };
    Some((entry, beat.parse().ok()?))
}

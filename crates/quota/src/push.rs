//! Totals that changed in Postgres, pushed to Redis; and the four numbers read back.

use domain::{Amount, Home, LimitName, LimitUse, Numbers, Scope, Snapshot, TenantId};
use ledger::{AccountState, Installed};

use crate::{Quota, Unavailable};

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// True: Redis holds the new totals, so every gateway decides by them from now on.
    pub in_force: bool,
    /// The numbers after it; those of Postgres, with nothing frozen, where Redis is away.
    pub numbers: Vec<Numbers>,
}

impl Quota {
    /// Pushes the present totals of one tenant's accounts. Call it after the commit that changed them.
    ///
    /// # Errors
    /// Postgres gave no answer. A Redis that is away is no error: `in_force` is false.
    pub async fn push(&self, tenant_id: TenantId, scopes: &[Scope]) -> Result<Pushed, Unavailable> {
        self.push_at(self.shared.home(tenant_id).await?, scopes).await
    }

    /// Pushes the present totals of accounts that live at `home`.
    ///
    /// # Errors
    /// As [`Quota::push`].
    pub async fn push_at(&self, home: Home, scopes: &[Scope]) -> Result<Pushed, Unavailable> {
        let snapshots = self.shared.snapshots(scopes).await?;
        let pushed = match self.shared.ledger.install(home, &snapshots).await {
            Err(error) if error.is_transient() => self.shared.ledger.install(home, &snapshots).await,
            other => other,
        };
        match pushed {
            Ok(installed) => {
                let numbers = installed.into_iter().map(|Installed { numbers, .. }| numbers).collect();
                Ok(Pushed { in_force: true, numbers })
            }
            Err(_) => {
                let numbers = snapshots.iter().map(|snapshot| Numbers::of(snapshot, Amount::ZERO)).collect();
                Ok(Pushed { in_force: false, numbers })
            }
        }
    }

    /// The four numbers of each scope: Redis' where its copy decides, for only there `used` and `frozen` are one reading (a
    /// charge that Postgres has just booked is frozen in Redis until its confirm); else Postgres' totals.
    ///
    /// # Errors
    /// Postgres gave no answer; a Redis that is away is read as nothing frozen.
    pub async fn read(&self, tenant_id: TenantId, scopes: &[Scope]) -> Result<Vec<Numbers>, Unavailable> {
        self.read_at(self.shared.home(tenant_id).await?, scopes).await
    }

    /// The four numbers of accounts that live at `home`.
    ///
    /// # Errors
    /// As [`Quota::read`].
    pub async fn read_at(&self, home: Home, scopes: &[Scope]) -> Result<Vec<Numbers>, Unavailable> {
        let held = self.shared.ledger.read(home, scopes).await.unwrap_or_default();
        let snapshots = self.shared.snapshots(scopes).await?;
        let copy = |scope: &Scope| {
            held.iter().filter_map(|held| Some((held.state, held.numbers.as_ref()?))).find(|(_, of)| of.scope == *scope)
        };
        Ok(snapshots
            .iter()
            .map(|snapshot| match copy(&snapshot.scope) {
                Some((AccountState::Trusted, numbers)) => numbers.clone(),
                Some((_, numbers)) if numbers.version > snapshot.version => numbers.clone(),
                Some((_, numbers)) => Numbers::of(snapshot, numbers.frozen),
                None => Numbers::of(snapshot, Amount::ZERO),
            })
            .collect())
    }

    /// How far the limits of each scope are used up: by Redis' count, or not at all where its copy of the account is away.
    ///
    /// # Errors
    /// Postgres gave no answer.
    pub async fn limits(&self, tenant_id: TenantId, scopes: &[Scope]) -> Result<Vec<LimitUse>, Unavailable> {
        let home = self.shared.home(tenant_id).await?;
        let held = self.shared.ledger.read(home, scopes).await.unwrap_or_default();
        let snapshots = self.shared.snapshots(scopes).await?;
        let mut uses = Vec::new();
        for (index, scope) in scopes.iter().enumerate() {
            let held = held.get(index).filter(|held| held.numbers.is_some());
            let snapshot = snapshots.iter().find(|snapshot| snapshot.scope == *scope);
            match (held, snapshot) {
                (Some(held), _) => uses.extend(held.limits.iter().cloned()),
                (None, Some(snapshot)) => uses.extend(untouched(snapshot)),
                (None, None) => {}
            }
        }
        Ok(uses)
    }

    /// Whether Redis' copy of each scope admits requests now.
    ///
    /// # Errors
    /// Redis gave no answer.
    pub async fn states(&self, tenant_id: TenantId, scopes: &[Scope]) -> Result<Vec<AccountState>, Unavailable> {
        let home = self.shared.home(tenant_id).await?;
        Ok(self.shared.ledger.read(home, scopes).await?.into_iter().map(|held| held.state).collect())
    }
}

/// Limits of which nothing is used up.
fn untouched(snapshot: &Snapshot) -> impl Iterator<Item = LimitUse> {
    let level = snapshot.scope.level();
    LimitName::ALL.into_iter().filter_map(move |name| {
        let is_rate = !matches!(name, LimitName::InFlight | LimitName::MaxPerRequest);
        let most = snapshot.limits.get(name)?;
        Some(LimitUse { level, name, most, used: 0, resets_in_ms: is_rate.then_some(0) })
    })
}

//! Scopes: the things that have a limit. Their text is the same in Redis, Postgres and logs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{KeyId, PoolId, ProjectId, TenantId};

/// How many shards the tenants are spread over. Fixed: the number is part of every Redis key.
pub const SHARDS: u16 = 1024;

/// The level of a scope, from the outside in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What a pool's members share.
    Pool,
    /// One tenant's part of a pool: without a limit of its own, it counts what the tenant uses there.
    Member,
    /// The tenant's own quota.
    Tenant,
    /// A project's budget.
    Project,
    /// A key's budget.
    Key,
}

impl Level {
    /// The word used in JSON, SQL and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Member => "member",
            Self::Tenant => "tenant",
            Self::Project => "project",
            Self::Key => "key",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Names one period of a budget, such as `m20261101` (a month beginning then, in the tenant's zone), or `-` for a
/// budget without periods. At most 16 of `a-z`, `0-9` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PeriodLabel(String);

impl PeriodLabel {
    /// The label of a budget that never renews.
    #[must_use]
    pub fn none() -> Self {
        Self("-".to_owned())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PeriodLabel {
    type Error = ScopeError;
    fn try_from(text: String) -> Result<Self, ScopeError> {
        let fits = (1..=16).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if fits { Ok(Self(text)) } else { Err(ScopeError) }
    }
}

impl From<PeriodLabel> for String {
    fn from(label: PeriodLabel) -> Self {
        label.0
    }
}

/// A text that names no scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a scope such as t_..., p_...:-, k_...:m20261101, pool_...:- or pool_.../t_...:-")]
pub struct ScopeError;

/// One thing with a limit. Ordered by its text, which is the order in which accounts are locked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `t_...`
    Tenant(TenantId),
    /// `p_...:period`
    Project(ProjectId, PeriodLabel),
    /// `k_...:period`
    Key(KeyId, PeriodLabel),
    /// `pool_.../t_...:period`
    Member(PoolId, TenantId, PeriodLabel),
    /// `pool_...:period`
    Pool(PoolId, PeriodLabel),
}

impl Scope {
    /// The level.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::Tenant(_) => Level::Tenant,
            Self::Project(..) => Level::Project,
            Self::Key(..) => Level::Key,
            Self::Member(..) => Level::Member,
            Self::Pool(..) => Level::Pool,
        }
    }

    /// The id without the period.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Tenant(id) => id.to_string(),
            Self::Project(id, _) => id.to_string(),
            Self::Key(id, _) => id.to_string(),
            Self::Member(pool, tenant, _) => format!("{pool}/{tenant}"),
            Self::Pool(id, _) => id.to_string(),
        }
    }

    /// The period's label; the tenant's account has none, its grants carry their own ends.
    #[must_use]
    pub fn period(&self) -> Option<&PeriodLabel> {
        match self {
            Self::Tenant(_) => None,
            Self::Project(_, period) | Self::Key(_, period) | Self::Member(_, _, period) | Self::Pool(_, period) => {
                Some(period)
            }
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant(id) => write!(f, "{id}"),
            Self::Project(id, period) => write!(f, "{id}:{}", period.0),
            Self::Key(id, period) => write!(f, "{id}:{}", period.0),
            Self::Member(pool, tenant, period) => write!(f, "{pool}/{tenant}:{}", period.0),
            Self::Pool(id, period) => write!(f, "{id}:{}", period.0),
        }
    }
}

impl FromStr for Scope {
    type Err = ScopeError;
    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let Some((id, period)) = text.split_once(':') else {
            return text.parse().map(Self::Tenant).map_err(|_| ScopeError);
        };
        let period = PeriodLabel::try_from(period.to_owned())?;
        if let Some((pool, tenant)) = id.split_once('/') {
            let (Ok(pool), Ok(tenant)) = (pool.parse(), tenant.parse()) else { return Err(ScopeError) };
            return Ok(Self::Member(pool, tenant, period));
        }
        if let Ok(id) = id.parse() {
            return Ok(Self::Pool(id, period));
        }
        if let Ok(id) = id.parse() {
            return Ok(Self::Project(id, period));
        }
        id.parse().map(|id| Self::Key(id, period)).map_err(|_| ScopeError)
    }
}

impl PartialOrd for Scope {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scope {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

/// Whose keys in Redis a tenant's accounts and freezes live among: its own, or those of the pool that it is a member of, for a
/// script reaches one shard only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// The tenant's own.
    Tenant(TenantId),
    /// The pool's.
    Pool(PoolId),
}

impl Home {
    /// Where a request of `tenant` over `scopes` (all of them) was, or is to be, frozen.
    #[must_use]
    pub fn of(tenant: TenantId, scopes: &[Scope]) -> Self {
        let pool = scopes.iter().find_map(|scope| match scope {
            Scope::Pool(pool, _) | Scope::Member(pool, ..) => Some(*pool),
            Scope::Tenant(_) | Scope::Project(..) | Scope::Key(..) => None,
        });
        pool.map_or(Self::Tenant(tenant), Self::Pool)
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant(id) => id.fmt(f),
            Self::Pool(id) => id.fmt(f),
        }
    }
}

impl FromStr for Home {
    type Err = ScopeError;
    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let pool = text.parse().map(Self::Pool);
        pool.or_else(|_| text.parse().map(Self::Tenant)).map_err(|_| ScopeError)
    }
}

impl From<TenantId> for Home {
    fn from(id: TenantId) -> Self {
        Self::Tenant(id)
    }
}

/// The part of Redis' key space that one tenant, or one pool with its members, lives in: 0 to 1023.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

impl Shard {
    /// The shard of a home: the random low bits of the id, so homes spread evenly and the shard of one never changes.
    #[must_use]
    pub fn of(home: impl Into<Home>) -> Self {
        let id = match home.into() {
            Home::Tenant(id) => id.uuid(),
            Home::Pool(id) => id.uuid(),
        };
        let low = id.as_u128() % u128::from(SHARDS);
        Self(u16::try_from(low).unwrap_or_default())
    }

    /// Every shard, for sweepers.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS).map(Self)
    }

    /// 0 to 1023.
    #[must_use]
    pub const fn index(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn scopes_are_read_back() {
        let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_04d2);
        for scope in [
            Scope::Tenant(TenantId::from_uuid(id)),
            Scope::Project(ProjectId::from_uuid(id), PeriodLabel::none()),
            Scope::Key(KeyId::from_uuid(id), PeriodLabel::try_from("m20261101".to_owned()).unwrap()),
            Scope::Member(PoolId::from_uuid(id), TenantId::from_uuid(id), PeriodLabel::none()),
            Scope::Pool(PoolId::from_uuid(id), PeriodLabel::none()),
        ] {
            assert_eq!(scope.to_string().parse::<Scope>().unwrap(), scope);
        }
        for text in ["p_x:-", "pool_x/t_x:-", "pool_00000000000000000000000007/p_00000000000000000000000007:-"] {
            assert!(text.parse::<Scope>().is_err());
        }
        assert_eq!(Shard::of(TenantId::from_uuid(id)).index(), 0x4d2 % 1024);
    }

    #[test]
    fn the_members_of_a_pool_live_with_it() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let (tenant, pool) = (TenantId::from_uuid(one), PoolId::from_uuid(two));
        let own = [Scope::Tenant(tenant)];
        assert_eq!(Home::of(tenant, &own), Home::Tenant(tenant));
        let label = PeriodLabel::none;
        let shared = [Scope::Tenant(tenant), Scope::Member(pool, tenant, label()), Scope::Pool(pool, label())];
        assert_eq!(Home::of(tenant, &shared), Home::Pool(pool));
        assert_eq!((Shard::of(tenant).index(), Shard::of(Home::Pool(pool)).index()), (1, 2));
        for home in [Home::Tenant(tenant), Home::Pool(pool)] {
            assert_eq!(home.to_string().parse(), Ok(home));
        }
    }
}

//! Names of the keys. All keys of a tenant carry its shard as hash tag, so that every script stays in one slot.

use domain::{Home, RequestId, Scope, Shard};

pub fn marker(shard: Shard) -> String {
    format!("tg:{{q{:04}}}:m", shard.index())
}

pub fn index(shard: Shard) -> String {
    format!("tg:{{q{:04}}}:i", shard.index())
}

/// The freezes of a tenant, or of all members of a pool.
pub fn freezes(home: Home) -> String {
    format!("tg:{{q{:04}}}:f:{home}", Shard::of(home).index())
}

pub fn account(shard: Shard, scope: &Scope) -> String {
    format!("tg:{{q{:04}}}:a:{scope}", shard.index())
}

/// The account that a member's changes with, its pool's; None for any other scope.
pub fn pool_account(shard: Shard, scope: &Scope) -> Option<String> {
    let Scope::Member(pool, _, label) = scope else { return None };
    Some(account(shard, &Scope::Pool(*pool, label.clone())))
}

/// Rate windows of a tenant, project or key; its periods share them.
pub fn rates(shard: Shard, scope: &Scope) -> String {
    format!("tg:{{q{:04}}}:r:{}", shard.index(), scope.id())
}

/// Requests in flight of a tenant, project or key.
pub fn running(shard: Shard, scope: &Scope) -> String {
    format!("tg:{{q{:04}}}:n:{}", shard.index(), scope.id())
}

/// The index's member of one freeze.
pub fn member(home: Home, request: RequestId) -> String {
    format!("{home}|{request}")
}

/// Reads a member back.
pub fn parse_member(member: &str) -> Option<(Home, RequestId)> {
    let (home, request) = member.split_once('|')?;
    Some((home.parse().ok()?, request.parse().ok()?))
}

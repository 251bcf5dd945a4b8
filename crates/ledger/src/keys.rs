//! Names of the keys. All keys of a tenant carry its shard as hash tag, so that every script stays in one slot.

use domain::{RequestId, Scope, Shard, TenantId};

pub fn marker(shard: Shard) -> String {
    format!("tg:{{q{:04}}}:m", shard.index())
}

pub fn index(shard: Shard) -> String {
    format!("tg:{{q{:04}}}:i", shard.index())
}

pub fn freezes(tenant: TenantId) -> String {
    format!("tg:{{q{:04}}}:f:{tenant}", Shard::of(tenant).index())
}

pub fn account(shard: Shard, scope: &Scope) -> String {
    format!("tg:{{q{:04}}}:a:{scope}", shard.index())
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
pub fn member(tenant: TenantId, request: RequestId) -> String {
    format!("{tenant}|{request}")
}

/// Reads a member back.
pub fn parse_member(member: &str) -> Option<(TenantId, RequestId)> {
    let (tenant, request) = member.split_once('|')?;
    Some((tenant.parse().ok()?, request.parse().ok()?))
}

//! Splits settlements over the grants in force, in burn order, one allocation row per grant.

use std::collections::{BTreeMap, BTreeSet};

use domain::TenantId;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::record::Accepted;
use crate::{Error, grants};

/// One grant's part of one settlement; negative where a late correction gives back.
struct Part {
    request: Uuid,
    kind: i16,
    grant: Uuid,
    units: i64,
}

/// Spends the accepted settlements from their tenants' grants. What no grant covers is credit line, overdraft or debt and has no row.
pub(crate) async fn spend(conn: &mut PgConnection, accepted: &[Accepted<'_>]) -> Result<(), Error> {
    let tenants: BTreeSet<TenantId> = accepted.iter().map(|accepted| accepted.row.tenant_id).collect();
    let mut balances: BTreeMap<TenantId, Vec<grants::Balance>> = BTreeMap::new();
    for balance in grants::in_force(conn, &tenants.into_iter().collect::<Vec<_>>()).await? {
        balances.entry(balance.tenant_id).or_default().push(balance);
    }
    let mut parts = Vec::new();
    for accepted in accepted {
        let Some(grants) = balances.get_mut(&accepted.row.tenant_id) else { continue };
        let (request, kind) = (accepted.row.request_id.uuid(), accepted.kind);
        for (grant, units) in split(grants, accepted.amount.units()) {
            parts.push(Part { request, kind, grant, units });
        }
    }
    write(conn, &parts).await
}

/// Takes `units` from the grants in the order given (gives back in reverse order), and says how much from each.
pub(crate) fn split(grants: &mut [grants::Balance], units: i64) -> Vec<(Uuid, i64)> {
    let mut left = units;
    let mut parts = Vec::new();
    let mut take = |grant: &mut grants::Balance| {
        let part = if units >= 0 { left.min(grant.amount - grant.used) } else { left.max(-grant.used) };
        if part != 0 {
            grant.used += part;
            left -= part;
            parts.push((grant.grant_id.uuid(), part));
        }
    };
    if units >= 0 {
        grants.iter_mut().for_each(&mut take);
    } else {
        grants.iter_mut().rev().for_each(&mut take);
    }
    parts
}

async fn write(conn: &mut PgConnection, parts: &[Part]) -> Result<(), Error> {
    if parts.is_empty() {
        return Ok(());
    }
    let requests: Vec<Uuid> = parts.iter().map(|part| part.request).collect();
    let kinds: Vec<i16> = parts.iter().map(|part| part.kind).collect();
    let ids: Vec<Uuid> = parts.iter().map(|part| part.grant).collect();
    let units: Vec<i64> = parts.iter().map(|part| part.units).collect();
    sqlx::query!(
        "INSERT INTO allocations (request_id, kind, grant_id, amount)
         SELECT * FROM unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::bigint[])",
        &requests,
        &kinds,
        &ids,
        &units
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "UPDATE grant_balances SET used = grant_balances.used + x.units
         FROM (SELECT grant_id, sum(units)::bigint AS units FROM unnest($1::uuid[], $2::bigint[]) AS u (grant_id, units) GROUP BY 1) x
         WHERE grant_balances.grant_id = x.grant_id",
        &ids,
        &units
    )
    .execute(conn)
    .await?;
    Ok(())
}

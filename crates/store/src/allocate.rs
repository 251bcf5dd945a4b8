//! Splits settlements over grants by the domain's rules, one allocation row per grant.
//!
//! A request frozen at a version below a grant's end takes from what was left of that grant first, so that it neither burdens
//! nor blocks the grants that follow. What is borne so leaves the account with the grant: it is spent, but not used.

use std::collections::{BTreeMap, HashMap};

use domain::grant::{Allocation, GrantBalance, GrantStatus, apply, burn, unburn};
use domain::{Amount, GrantId, RequestId, Scope, Snapshot, TenantId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;
use crate::grants::book::BalanceRow;
use crate::record::Accepted;

/// What of a tenant's charges is no part of its account.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Borne by grants that have ended; negative where it went back to them.
    pub units: i64,
    /// Of it, what came out of the amount that lapsed last.
    pub unlapsed: i64,
}

/// One grant's part of one settlement; negative where a late correction gives back.
struct Part {
    request: Uuid,
    kind: i16,
    grant: Uuid,
    units: i64,
}

/// A grant that has ended, and when.
struct Ended {
    balance: GrantBalance,
    version: i64,
}

/// One tenant while its settlements are split.
#[derive(Default)]
struct Tenant {
    in_force: Vec<GrantBalance>,
    ended: Vec<Ended>,
    lapse_version: i64,
    used: i64,
    outside: Outside,
    /// What ended grants gave (or got back) in this transaction.
    undone: BTreeMap<GrantId, i64>,
}

impl Tenant {
    /// Splits one charge; what no grant covers is credit line, overdraft or debt and has no part.
    fn charge(&mut self, version: i64, amount: Amount) -> Vec<Allocation> {
        let usable: Vec<GrantBalance> =
            self.ended.iter().filter(|ended| ended.version > version).map(|ended| ended.balance.clone()).collect();
        let (mut parts, left) = burn(&usable, amount);
        self.undo(&parts);
        let (of_force, _) = burn(&self.in_force, left);
        apply(&mut self.in_force, &of_force);
        self.used += left.units();
        parts.extend(of_force);
        parts
    }

    /// Gives a correction back: first to the grants that bore this very request and have ended since, then off what is owed,
    /// then to the grants in force in reverse burn order.
    fn give_back(&mut self, borne: &[Allocation], amount: Amount) -> Vec<Allocation> {
        let mut left = amount.units();
        let mut parts = Vec::new();
        for bearing in borne {
            let part = bearing.amount.units().min(left);
            if part > 0 {
                left -= part;
                parts.extend(Amount::new(-part).map(|amount| Allocation { grant_id: bearing.grant_id, amount }));
            }
        }
        self.undo(&parts);
        let covered: i64 = self.in_force.iter().map(|grant| grant.used.units()).sum();
        let uncovered = Amount::new((self.used - covered).max(0)).unwrap_or(Amount::MAX);
        let back = unburn(&self.in_force, uncovered, Amount::new(left).unwrap_or_default());
        apply(&mut self.in_force, &back.allocations);
        self.used -= left - back.rest.units();
        // What nobody bears any more: its grants were taken away meanwhile.
        self.outside.units -= back.rest.units();
        parts.extend(back.allocations);
        parts
    }

    /// Parts of ended grants: the lapse is undone by that much.
    fn undo(&mut self, parts: &[Allocation]) {
        for part in parts {
            let units = part.amount.units();
            self.outside.units += units;
            *self.undone.entry(part.grant_id).or_default() += units;
            let Some(ended) = self.ended.iter_mut().find(|ended| ended.balance.id == part.grant_id) else { continue };
            apply(std::slice::from_mut(&mut ended.balance), std::slice::from_ref(part));
            if ended.version == self.lapse_version {
                self.outside.unlapsed += units;
            }
        }
    }
}

/// Spends the accepted settlements from their tenants' grants; `locked` are the accounts before them. Returns what of it does
/// not belong to the tenants' accounts.
pub(crate) async fn spend(
    conn: &mut PgConnection,
    accepted: &[Accepted<'_>],
    locked: &[Snapshot],
) -> Result<HashMap<TenantId, Outside>, Error> {
    let corrected: Vec<Uuid> = accepted
        .iter()
        .filter(|accepted| accepted.amount < Amount::ZERO)
        .map(|accepted| accepted.row.request_id.uuid())
        .collect();
    let borne = if corrected.is_empty() { HashMap::new() } else { borne_by_ended(conn, &corrected).await? };
    let mut tenants = read(conn, accepted, locked, &borne).await?;
    let mut parts = Vec::new();
    for accepted in accepted {
        let Some(tenant) = tenants.get_mut(&accepted.row.tenant_id) else { continue };
        let (request, kind) = (accepted.row.request_id.uuid(), accepted.kind);
        let split = if accepted.amount < Amount::ZERO {
            let borne = borne.get(&accepted.row.request_id).map_or(&[][..], Vec::as_slice);
            tenant.give_back(borne, Amount::ZERO.checked_sub(accepted.amount).unwrap_or_default())
        } else {
            tenant.charge(accepted.row.version, accepted.amount)
        };
        let part = |part: Allocation| Part { request, kind, grant: part.grant_id.uuid(), units: part.amount.units() };
        parts.extend(split.into_iter().map(part));
    }
    write(conn, &parts).await?;
    write_undone(conn, &tenants, locked).await?;
    Ok(tenants.into_iter().map(|(id, tenant)| (id, tenant.outside)).collect())
}

/// The tenants' grants in force, and those that have ended but may be used by (or get back from) one of the settlements.
async fn read(
    conn: &mut PgConnection,
    accepted: &[Accepted<'_>],
    locked: &[Snapshot],
    borne: &HashMap<RequestId, Vec<Allocation>>,
) -> Result<BTreeMap<TenantId, Tenant>, Error> {
    let mut oldest: BTreeMap<Uuid, i64> = BTreeMap::new();
    for accepted in accepted {
        let version = oldest.entry(accepted.row.tenant_id.uuid()).or_insert(i64::MAX);
        *version = (*version).min(accepted.row.version);
    }
    let mut tenants: BTreeMap<TenantId, Tenant> = BTreeMap::new();
    for snapshot in locked {
        if let Scope::Tenant(id) = &snapshot.scope {
            let tenant = tenants.entry(*id).or_default();
            (tenant.lapse_version, tenant.used) = (snapshot.lapse_version, snapshot.used.units());
        }
    }
    let (ids, versions): (Vec<Uuid>, Vec<i64>) = oldest.into_iter().unzip();
    let returning: Vec<Uuid> = borne.values().flatten().map(|part| part.grant_id.uuid()).collect();
    let rows = sqlx::query_as!(
        BalanceRow,
        r#"SELECT grant_id, tenant_id, kind, amount AS "amount!: i64", used AS "used!: i64", priority, starts_at, ends_at, created_at,
                  status, started_version, ended_version
           FROM grant_balances b JOIN unnest($1::uuid[], $2::bigint[]) AS x (tenant, version) ON b.tenant_id = x.tenant
           WHERE b.status = 'in_force' OR b.grant_id = ANY($3)
              OR (b.status IN ('ended', 'lapsed') AND b.used < b.amount AND b.ended_version > x.version AND b.started_version < b.ended_version)"#,
        &ids,
        &versions,
        &returning
    )
    .fetch_all(conn)
    .await?;
    for row in rows {
        let (tenant_id, started, version) =
            (row.tenant_id, row.started_version.unwrap_or(i64::MAX), row.ended_version.unwrap_or(i64::MAX));
        let Some(tenant) = tenants.get_mut(&TenantId::from_uuid(tenant_id)) else { continue };
        let balance = row.balance()?;
        if balance.status == GrantStatus::InForce {
            tenant.in_force.push(balance);
        } else {
            // One that began and ended in one change was never there for any freeze.
            let version = if started < version { version } else { i64::MIN };
            tenant.ended.push(Ended { balance, version });
        }
    }
    Ok(tenants)
}

/// Which grants that have ended since bore these requests' outcomes.
async fn borne_by_ended(
    conn: &mut PgConnection,
    requests: &[Uuid],
) -> Result<HashMap<RequestId, Vec<Allocation>>, Error> {
    let rows = sqlx::query!(
        r#"SELECT a.request_id, a.grant_id, a.amount AS "amount!: i64" FROM allocations a JOIN grant_balances b ON b.grant_id = a.grant_id
           WHERE a.request_id = ANY($1) AND a.kind = 0 AND b.status IN ('ended', 'lapsed')"#,
        requests
    )
    .fetch_all(conn)
    .await?;
    let mut borne: HashMap<RequestId, Vec<Allocation>> = HashMap::new();
    for row in rows {
        let amount = Amount::new(row.amount).map_err(|why| Error::corrupt("allocations.amount", why))?;
        let part = Allocation { grant_id: GrantId::from_uuid(row.grant_id), amount };
        borne.entry(RequestId::from_uuid(row.request_id)).or_default().push(part);
    }
    Ok(borne)
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

/// One event per ended grant of which something was used after all.
async fn write_undone(
    conn: &mut PgConnection,
    tenants: &BTreeMap<TenantId, Tenant>,
    locked: &[Snapshot],
) -> Result<(), Error> {
    let (mut grants, mut owners, mut units, mut versions) = (vec![], vec![], vec![], vec![]);
    for snapshot in locked {
        let Scope::Tenant(id) = &snapshot.scope else { continue };
        let Some(tenant) = tenants.get(id) else { continue };
        for (grant, undone) in tenant.undone.iter().filter(|(_, undone)| **undone != 0) {
            grants.push(grant.uuid());
            owners.push(id.uuid());
            units.push(*undone);
            versions.push(snapshot.version + 1);
        }
    }
    if grants.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO grant_events (grant_id, tenant_id, kind, delta, account_version, actor, reason)
         SELECT g, t, 'unlapsed', d, v, 'record', '' FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS x (g, t, d, v)",
        &grants,
        &owners,
        &units,
        &versions
    )
    .execute(conn)
    .await?;
    Ok(())
}

//! The record transaction: the one place where outcomes become truth, for many requests at once.
//!
//! Under the accounts' locks (taken in scope order) it inserts the settlements that are not there yet, adds only those to
//! `used`, spends grants in burn order, tells thresholds that were crossed, and raises each touched account's version by one.
//! Replaying it changes nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::pool::unused;
use domain::record::{Outcome, UsageRecord};
use domain::{Amount, Home, RequestId, Scope, Snapshot, TenantId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, accounts, allocate, thresholds, usage_records};

/// What became of one request.
#[derive(Debug, Clone)]
pub struct OutcomeRow {
    /// The request.
    pub request_id: RequestId,
    /// Who pays.
    pub tenant_id: TenantId,
    /// Key, project, tenant, as it was frozen; of a pool's member that and the pool after them.
    pub scopes: Vec<Scope>,
    /// How it ended.
    pub outcome: Outcome,
    /// The charge; zero for a roll back.
    pub amount: Amount,
    /// What was frozen, for the audit figures of roll backs.
    pub frozen: Amount,
    /// Version of the tenant's account at the freeze: what was left of a grant that ended above it may still be used.
    pub version: i64,
    /// Everything else that is known of it.
    pub record: UsageRecord,
}

impl OutcomeRow {
    /// Where it was frozen.
    #[must_use]
    pub fn home(&self) -> Home {
        Home::of(self.tenant_id, &self.scopes)
    }
}

/// What the transaction did. Valid only once it is committed.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// The present totals of every account named by the rows, for each place where one of these was frozen.
    pub snapshots: Vec<(Home, Snapshot)>,
    /// Requests whose outcome this transaction wrote.
    pub inserted: Vec<RequestId>,
    /// Requests that got a late correction.
    pub late: Vec<RequestId>,
}

/// A settlement that this transaction inserted.
pub(crate) struct Accepted<'a> {
    pub row: &'a OutcomeRow,
    pub kind: i16,
    /// Signed for a late correction.
    pub amount: Amount,
}

/// Records the outcomes. The caller commits; until then nothing of it is true.
///
/// # Errors
/// Transient ones leave nothing behind: run the whole transaction again.
pub async fn record(conn: &mut PgConnection, rows: &[OutcomeRow]) -> Result<Recorded, Error> {
    let mut homes: BTreeMap<Scope, BTreeSet<Home>> = BTreeMap::new();
    for row in rows {
        for scope in &row.scopes {
            homes.entry(scope.clone()).or_default().insert(row.home());
        }
    }
    let scopes: Vec<Scope> = homes.keys().cloned().collect();
    let locked = accounts::lock(conn, &scopes).await?;
    if let Some(missing) = scopes.iter().find(|scope| !locked.iter().any(|snapshot| snapshot.scope == **scope)) {
        return Err(Error::corrupt("settlement", format!("account {missing} does not exist")));
    }

    let mut accepted = insert_outcomes(conn, rows).await?;
    let known: BTreeSet<RequestId> = accepted.iter().map(|accepted| accepted.row.request_id).collect();
    let late = insert_late(conn, rows.iter().filter(|row| !known.contains(&row.request_id)).collect()).await?;
    let late_ids = late.iter().map(|accepted| accepted.row.request_id).collect();
    accepted.extend(late);

    if accepted.is_empty() {
        return finish(conn, &homes, known, late_ids).await;
    }
    let outside = allocate::spend(conn, &accepted, &locked).await?;
    usage_records::write(conn, &accepted).await?;
    let touched = add_to_accounts(conn, &accepted, &outside, &locked).await?;
    thresholds::cross(conn, &touched).await?;
    touch(conn, &accepted).await?;
    finish(conn, &homes, known, late_ids).await
}

async fn finish(
    conn: &mut PgConnection,
    homes: &BTreeMap<Scope, BTreeSet<Home>>,
    inserted: BTreeSet<RequestId>,
    late: Vec<RequestId>,
) -> Result<Recorded, Error> {
    let scopes: Vec<Scope> = homes.keys().cloned().collect();
    let snapshots = accounts::snapshots(conn, &scopes).await?.into_iter();
    let at_each = snapshots.flat_map(|snapshot| {
        let homes = homes.get(&snapshot.scope).into_iter().flatten();
        homes.map(move |home| (*home, snapshot.clone())).collect::<Vec<_>>()
    });
    let snapshots = at_each.collect();
    Ok(Recorded { snapshots, inserted: inserted.into_iter().collect(), late })
}

/// Kind 0: exactly one per request; whoever comes second changes nothing.
async fn insert_outcomes<'a>(conn: &mut PgConnection, rows: &'a [OutcomeRow]) -> Result<Vec<Accepted<'a>>, Error> {
    let columns = Columns::of(rows.iter().map(|row| (row, row.amount)));
    let outcomes: Vec<String> = rows.iter().map(|row| row.outcome.as_str().to_owned()).collect();
    let inserted = sqlx::query_scalar!(
        "INSERT INTO settlements (request_id, kind, tenant_id, project_id, key_id, scopes, amount, outcome, model)
         SELECT r, 0, t, p, k, string_to_array(s, ','), a, o, m
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::text[], $8::text[])
             AS x (r, t, p, k, s, a, o, m)
         ON CONFLICT DO NOTHING RETURNING request_id",
        &columns.requests,
        &columns.tenants,
        &columns.projects,
        &columns.keys,
        &columns.scopes,
        &columns.amounts,
        &outcomes,
        &columns.models
    )
    .fetch_all(conn)
    .await?;
    let mut inserted: BTreeSet<RequestId> = inserted.into_iter().map(RequestId::from_uuid).collect();
    // `remove`: a request that stands twice in one batch was inserted once.
    Ok(rows
        .iter()
        .filter(|row| inserted.remove(&row.request_id))
        .map(|row| Accepted { row, kind: 0, amount: row.amount })
        .collect())
}

/// Kind 1: a final charge that comes after the request had expired, or had been rolled back by someone else, adds the difference once.
async fn insert_late<'a>(conn: &mut PgConnection, rows: Vec<&'a OutcomeRow>) -> Result<Vec<Accepted<'a>>, Error> {
    let finals: Vec<&OutcomeRow> = rows.into_iter().filter(|row| row.outcome == Outcome::Final).collect();
    if finals.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = finals.iter().map(|row| row.request_id.uuid()).collect();
    let before = sqlx::query!(
        r#"SELECT request_id, outcome, amount AS "amount!: i64" FROM settlements WHERE request_id = ANY($1) AND kind = 0"#,
        &ids
    )
    .fetch_all(&mut *conn)
    .await?;
    let before: HashMap<Uuid, (String, i64)> =
        before.into_iter().map(|row| (row.request_id, (row.outcome, row.amount))).collect();
    let mut differing = Vec::new();
    for row in finals {
        let Some((outcome, amount)) = before.get(&row.request_id.uuid()) else { continue };
        let difference =
            Amount::new(row.amount.units() - amount).map_err(|error| Error::corrupt("settlement", error))?;
        if outcome != Outcome::Final.as_str() && difference != Amount::ZERO {
            differing.push((row, difference));
        }
    }
    let columns = Columns::of(differing.iter().copied());
    let inserted = sqlx::query_scalar!(
        "INSERT INTO settlements (request_id, kind, tenant_id, project_id, key_id, scopes, amount, outcome, model)
         SELECT r, 1, t, p, k, string_to_array(s, ','), a, 'late', m
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::text[]) AS x (r, t, p, k, s, a, m)
         ON CONFLICT DO NOTHING RETURNING request_id",
        &columns.requests,
        &columns.tenants,
        &columns.projects,
        &columns.keys,
        &columns.scopes,
        &columns.amounts,
        &columns.models
    )
    .fetch_all(conn)
    .await?;
    let mut inserted: BTreeSet<RequestId> = inserted.into_iter().map(RequestId::from_uuid).collect();
    Ok(differing
        .into_iter()
        .filter(|(row, _)| inserted.remove(&row.request_id))
        .map(|(row, amount)| Accepted { row, kind: 1, amount })
        .collect())
}

#[derive(Default)]
struct Sum {
    charge: i64,
    refunded: i64,
    refunds: i64,
}

/// Adds to each account what its accepted settlements charge; version + 1 each. What grants bore that are no part of the
/// account any more is spent, but not used. Returns the accounts' names.
async fn add_to_accounts(
    conn: &mut PgConnection,
    accepted: &[Accepted<'_>],
    outside: &HashMap<TenantId, allocate::Outside>,
    locked: &[Snapshot],
) -> Result<Vec<String>, Error> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let mut ended: BTreeMap<String, &allocate::Outside> = BTreeMap::new();
    for accepted in accepted {
        let rolled_back = accepted.row.outcome == Outcome::RolledBack;
        for scope in &accepted.row.scopes {
            let sum = sums.entry(scope.to_string()).or_default();
            sum.charge += accepted.amount.units();
            if rolled_back {
                sum.refunded += accepted.row.frozen.units();
                sum.refunds += 1;
            }
            if let (Scope::Tenant(tenant), Some(of_tenant)) = (scope, outside.get(&accepted.row.tenant_id)) {
                ended.insert(tenant.to_string(), of_tenant);
            }
        }
    }
    let scopes: Vec<String> = sums.keys().cloned().collect();
    let charges: Vec<i64> = sums.values().map(|sum| sum.charge).collect();
    let refunded: Vec<i64> = sums.values().map(|sum| sum.refunded).collect();
    let refunds: Vec<i64> = sums.values().map(|sum| sum.refunds).collect();
    let of_ended: Vec<i64> = scopes.iter().map(|scope| ended.get(scope).map_or(0, |outside| outside.units)).collect();
    let spent = spent_of_guarantees(&sums, locked);
    let shares: Vec<i64> = scopes.iter().map(|scope| spent.get(scope).copied().unwrap_or_default()).collect();
    let unlapsed: Vec<i64> =
        scopes.iter().map(|scope| ended.get(scope).map_or(0, |outside| outside.unlapsed)).collect();
    sqlx::query!(
        "UPDATE accounts SET used = used + x.charge - x.ended, spent_sum = spent_sum + x.charge,
                refunded = accounts.refunded + x.refunded, refunds = accounts.refunds + x.refunds,
                lapsed_amount = lapsed_amount - x.unlapsed, share = accounts.share - x.share, version = version + 1,
                updated_at = clock_timestamp()
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
             AS x (scope, charge, refunded, refunds, ended, unlapsed, share)
         WHERE accounts.scope = x.scope",
        &scopes,
        &charges,
        &refunded,
        &refunds,
        &of_ended,
        &unlapsed,
        &shares
    )
    .execute(conn)
    .await?;
    Ok(scopes)
}

/// What of its members' guarantees is spent by these charges, by the scope of each pool.
fn spent_of_guarantees(sums: &BTreeMap<String, Sum>, locked: &[Snapshot]) -> HashMap<String, i64> {
    let mut spent = HashMap::new();
    for member in locked {
        let Scope::Member(pool, _, label) = &member.scope else { continue };
        let (Some(sum), Some(share)) = (sums.get(&member.scope.to_string()), member.share) else { continue };
        let after = Amount::new(member.used.units().saturating_add(sum.charge)).unwrap_or(Amount::MAX);
        let by = unused(share, member.used).units() - unused(share, after).units();
        *spent.entry(Scope::Pool(*pool, label.clone()).to_string()).or_default() += by;
    }
    spent
}

/// Last use of tenants and keys, at most once a minute each.
async fn touch(conn: &mut PgConnection, accepted: &[Accepted<'_>]) -> Result<(), Error> {
    let columns = Columns::of(accepted.iter().map(|accepted| (accepted.row, accepted.amount)));
    sqlx::query!(
        "UPDATE tenants SET last_used_at = now() WHERE id IN (SELECT id FROM tenants WHERE id = ANY($1)
            AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)",
        &columns.tenants
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "UPDATE api_keys SET last_used_at = now() WHERE id IN (SELECT id FROM api_keys WHERE id = ANY($1)
            AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)",
        &columns.keys
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The rows as arrays, one per column.
#[derive(Default)]
struct Columns {
    requests: Vec<Uuid>,
    tenants: Vec<Uuid>,
    projects: Vec<Uuid>,
    keys: Vec<Uuid>,
    scopes: Vec<String>,
    amounts: Vec<i64>,
    models: Vec<String>,
}

impl Columns {
    fn of<'a>(rows: impl Iterator<Item = (&'a OutcomeRow, Amount)>) -> Self {
        let mut columns = Self::default();
        for (row, amount) in rows {
            columns.requests.push(row.request_id.uuid());
            columns.tenants.push(row.tenant_id.uuid());
            columns.projects.push(row.record.project_id.uuid());
            columns.keys.push(row.record.key_id.uuid());
            columns.scopes.push(row.scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
            columns.amounts.push(amount.units());
            columns.models.push(row.record.model.clone());
        }
        columns
    }
}

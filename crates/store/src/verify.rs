//! Whether every sum in Postgres adds up: totals beside the append-only rows that they sum up.

use domain::TenantId;
use sqlx::PgConnection;

use crate::Error;

/// A sum that does not add up. Nothing in Tollgate makes one; somebody wrote into the tables, or a restore is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The account's scope, or the grant's id.
    pub subject: String,
    /// What stands there and what the rows say, in units.
    pub detail: String,
}

/// Checks the sums of one tenant, or of all: spending = settlements, a grant's use = its allocations and what it repaid, a
/// tenant's total = its grants in force = its grant events. Run it in a transaction with one snapshot
/// (`REPEATABLE READ`), so that nothing moves between the tables.
///
/// # Errors
/// What Postgres refused.
pub async fn sums(conn: &mut PgConnection, tenant: Option<TenantId>) -> Result<Vec<Wrong>, Error> {
    let tenant = tenant.map(TenantId::uuid);
    let accounts = sqlx::query_as!(
        Wrong,
        r#"WITH spent AS (
               SELECT scope, sum(amount) AS sum FROM settlements, unnest(scopes) AS scope
               WHERE $1::uuid IS NULL OR tenant_id = $1 GROUP BY scope),
           ended AS (
               SELECT tenant_id, sum(used) AS used FROM grant_balances WHERE status IN ('ended', 'lapsed') GROUP BY tenant_id)
           SELECT a.scope AS "subject!", format('used %s and spent %s in all, but settlements are %s, of which ended grants bore %s',
                      a.used, a.spent_sum, coalesce(s.sum, 0), coalesce(e.used, 0)) AS "detail!"
           FROM accounts a
           LEFT JOIN spent s ON s.scope = a.scope
           LEFT JOIN ended e ON e.tenant_id = a.tenant_id AND a.level = 'tenant'
           WHERE ($1::uuid IS NULL OR a.tenant_id = $1)
             AND (a.used <> coalesce(s.sum, 0) - coalesce(e.used, 0) OR a.spent_sum <> coalesce(s.sum, 0))
           ORDER BY a.scope"#,
        tenant
    )
    .fetch_all(&mut *conn)
    .await?;
    let grants = sqlx::query_as!(
        Wrong,
        r#"SELECT b.grant_id::text AS "subject!", format('used %s, but allocations are %s and repaid debts %s', b.used,
                      coalesce(a.sum, 0), coalesce(e.repaid, 0)) AS "detail!"
           FROM grant_balances b
           LEFT JOIN (SELECT grant_id, sum(amount) AS sum FROM allocations GROUP BY grant_id) a ON a.grant_id = b.grant_id
           LEFT JOIN (SELECT grant_id, sum(repaid) AS repaid FROM grant_events GROUP BY grant_id) e ON e.grant_id = b.grant_id
           WHERE ($1::uuid IS NULL OR b.tenant_id = $1) AND b.used <> coalesce(a.sum, 0) + coalesce(e.repaid, 0)
           ORDER BY b.grant_id"#,
        tenant
    )
    .fetch_all(&mut *conn)
    .await?;
    let totals = sqlx::query_as!(
        Wrong,
        r#"WITH granted AS (
               SELECT tenant_id, sum(amount) FILTER (WHERE status = 'in_force') AS total, sum(amount) AS ever
               FROM grant_balances GROUP BY tenant_id),
           events AS (SELECT tenant_id, sum(delta) AS total FROM grant_events WHERE kind <> 'unlapsed' GROUP BY tenant_id)
           SELECT a.scope AS "subject!", format('total %s, but grants in force are %s and their events %s; granted %s in all, but grants are %s',
                      a.total, coalesce(g.total, 0), coalesce(e.total, 0), a.granted_sum, coalesce(g.ever, 0)) AS "detail!"
           FROM accounts a
           LEFT JOIN granted g ON g.tenant_id = a.tenant_id
           LEFT JOIN events e ON e.tenant_id = a.tenant_id
           WHERE a.level = 'tenant' AND ($1::uuid IS NULL OR a.tenant_id = $1)
             AND (a.total <> coalesce(g.total, 0) OR a.total <> coalesce(e.total, 0) OR a.granted_sum <> coalesce(g.ever, 0))
           ORDER BY a.scope"#,
        tenant
    )
    .fetch_all(conn)
    .await?;
    Ok([accounts, grants, totals].concat())
}

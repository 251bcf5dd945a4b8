//! Whether a tenant's accounts add up, by other sums: settlements are summed by the database as they are written, so this costs
//! the same however many there are. [`crate::verify`] adds up the rows themselves.

use std::collections::HashMap;

use domain::{KeyId, ProjectId, Scope, TenantId};
use sqlx::PgConnection;

use crate::Error;

/// The tenant's accounts that do not add up, with what is wrong in words. Each statement reads one snapshot, so nothing moves
/// between what it compares.
///
/// # Errors
/// Those of Postgres.
pub async fn wrong(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<(Scope, String)>, Error> {
    let mut wrong = of_grants_and_settlements(conn, tenant).await?;
    wrong.extend(of_projects_and_keys(conn, tenant).await?);
    wrong
        .into_iter()
        .map(|(scope, detail)| Ok((scope.parse().map_err(|why| Error::corrupt("accounts.scope", why))?, detail)))
        .collect()
}

/// The tenant's own account; and those of which `used` is not what was spent, as it is for all but the tenant's.
async fn of_grants_and_settlements(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<(String, String)>, Error> {
    let rows = sqlx::query!(
        r#"WITH spent AS (SELECT coalesce(sum(charge), 0) AS sum FROM usage_quarters WHERE tenant_id = $1),
                granted AS (SELECT coalesce(sum(used) FILTER (WHERE status IN ('ended', 'lapsed')), 0) AS ended,
                                   coalesce(sum(amount) FILTER (WHERE status = 'in_force'), 0) AS total, coalesce(sum(amount), 0) AS ever
                            FROM grant_balances WHERE tenant_id = $1)
           SELECT a.scope AS "scope!", CASE WHEN a.level = 'tenant' THEN
                      format('spent %s, but the settlements are %s; used %s, of ended grants %s; total %s and granted %s in all, but the grants are %s and %s',
                             a.spent_sum, s.sum, a.used, g.ended, a.total, a.granted_sum, g.total, g.ever)
                      ELSE format('used %s, but spent %s', a.used, a.spent_sum) END AS "detail!"
           FROM accounts a, spent s, granted g
           WHERE a.tenant_id = $1 AND CASE WHEN a.level = 'tenant'
               THEN a.spent_sum <> s.sum OR a.used <> s.sum - g.ended OR a.total IS DISTINCT FROM g.total OR a.granted_sum <> g.ever
               ELSE a.used <> a.spent_sum END"#,
        tenant.uuid(),
    );
    Ok(rows.fetch_all(conn).await?.into_iter().map(|row| (row.scope, row.detail)).collect())
}

/// What the accounts of a project or key have spent over all periods beside its settlements; named by its latest account.
async fn of_projects_and_keys(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<(String, String)>, Error> {
    let rows = sqlx::query!(
        r#"SELECT NULL::text AS scope, project_id, key_id, sum(charge)::text AS "sum!" FROM usage_quarters WHERE tenant_id = $1
           GROUP BY GROUPING SETS ((project_id), (key_id))
           UNION ALL
           SELECT (array_agg(scope ORDER BY updated_at DESC))[1], NULL, NULL, sum(spent_sum)::text FROM accounts
           WHERE tenant_id = $1 AND level IN ('project', 'key') GROUP BY split_part(scope, ':', 1)"#,
        tenant.uuid(),
    );
    let (mut settled, mut accounts) = (HashMap::new(), Vec::new());
    for row in rows.fetch_all(conn).await? {
        let sum: i128 = row.sum.parse().map_err(|why| Error::corrupt("a sum of units", why))?;
        if let Some(scope) = row.scope {
            accounts.push((scope, sum));
        } else if let Some(id) = row.project_id {
            settled.insert(ProjectId::from_uuid(id).to_string(), sum);
        } else if let Some(id) = row.key_id {
            settled.insert(KeyId::from_uuid(id).to_string(), sum);
        }
    }
    let differ = accounts.into_iter().filter_map(|(scope, spent)| {
        let id = scope.split_once(':').map_or(scope.as_str(), |(id, _)| id);
        let settled = settled.get(id).copied().unwrap_or_default();
        (spent != settled).then(|| (scope, format!("spent {spent} in all periods, but the settlements are {settled}")))
    });
    Ok(differ.collect())
}

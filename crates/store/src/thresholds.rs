//! What is told of a scope's quota: thresholds (percent used of the total), that it is used up, that it is there again, and
//! how far the overdraft is used.
//!
//! Each is told once: the account keeps, under its lock, the highest threshold crossed, whether it was called exhausted, and
//! what was said of its overdraft. Only a top-up or a new period (an account of its own, or the tenant's next grant) arms
//! them again. A correction downwards does not. A project's soft budget is told once in each period of its budget.

use domain::ids::EventId;
use domain::{PeriodLabel, Scope};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, accounts};

/// What was told of an overdraft.
const STARTED: i16 = 1;
const USED_UP: i16 = 2;

/// An account of which something has to be told.
struct Due {
    scope: String,
    tenant_id: Uuid,
    level: String,
    version: i64,
    total: i64,
    used: i64,
    /// Thresholds crossed and not told, in order.
    percents: Vec<i16>,
    /// It is used up, which was not told.
    exhausted: bool,
    /// Something of its overdraft is in use, and not everything was told of that.
    overdraft: bool,
    overdraft_told: i16,
}

/// An event about an account.
struct Event<'a> {
    kind: &'static str,
    account: &'a Due,
    percent: Option<i16>,
}

/// Writes an event for whatever the accounts have crossed and that was armed, and for each soft budget that was reached. The
/// caller holds their locks.
pub(crate) async fn cross(conn: &mut PgConnection, scopes: &[String]) -> Result<(), Error> {
    let due = sqlx::query_as!(
        Due,
        r#"SELECT * FROM (
               SELECT a.scope, a.tenant_id AS "tenant_id!", a.level, a.version, a.total AS "total!: i64", a.used AS "used!: i64", a.overdraft_told,
                      ARRAY(SELECT value::smallint
                            FROM jsonb_array_elements_text(coalesce(t.settings -> 'thresholds', '[90, 100]'::jsonb))
                            WHERE a.total > 0 AND value::smallint > a.crossed
                              AND a.used::numeric * 100 >= a.total::numeric * value::smallint ORDER BY 1) AS "percents!",
                      NOT a.exhausted AND a.used >= a.total AND (a.total > 0 OR a.used > 0) AS "exhausted!",
                      a.level = 'tenant' AND a.overdraft_told < 2 AND a.used::numeric > a.total::numeric + a.credit_limit
                          AND (a.overdraft_limit > 0 OR a.overdraft_percent > 0) IS TRUE AS "overdraft!"
               FROM accounts a JOIN tenants t ON t.id = a.tenant_id WHERE a.scope = ANY($1) AND a.total IS NOT NULL) due
           WHERE "percents!" <> '{}' OR "exhausted!" OR "overdraft!" ORDER BY scope"#,
        scopes
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut events = Vec::new();
    let (mut names, mut percents, mut exhausted, mut overdrafts) = (vec![], vec![], vec![], vec![]);
    for account in &due {
        let event = |kind, percent| Event { kind, account, percent };
        events.extend(account.percents.iter().map(|percent| event("quota.low", Some(*percent))));
        if account.exhausted {
            events.push(event("quota.exhausted", None));
        }
        let reached = if account.overdraft { overdraft(conn, &account.scope).await? } else { 0 };
        if reached >= STARTED && account.overdraft_told < STARTED {
            events.push(event("overdraft.started", None));
        }
        if reached >= USED_UP && account.overdraft_told < USED_UP {
            events.push(event("overdraft.exhausted", None));
        }
        names.push(account.scope.clone());
        percents.push(account.percents.last().copied().unwrap_or_default());
        exhausted.push(account.exhausted);
        overdrafts.push(reached);
    }
    tell(conn, &events).await?;
    remember(conn, &names, &percents, &exhausted, &overdrafts).await?;
    let reached = reach(conn, scopes).await?;
    let events: Vec<Event<'_>> = reached
        .iter()
        .map(|account| Event { kind: "budget.soft_reached", account, percent: account.percents.first().copied() })
        .collect();
    tell(conn, &events).await
}

/// How far a tenant's overdraft is used: not, in part, wholly.
async fn overdraft(conn: &mut PgConnection, scope: &str) -> Result<i16, Error> {
    let scope: Scope = scope.parse().map_err(|why| Error::corrupt("accounts.scope", why))?;
    let snapshots = accounts::snapshots(conn, std::slice::from_ref(&scope)).await?;
    let Some((snapshot, (limit, total))) =
        snapshots.first().and_then(|snapshot| Some((snapshot, snapshot.limit.zip(snapshot.total)?)))
    else {
        return Ok(0);
    };
    let before = total.saturating_add(snapshot.credit_limit);
    Ok(match snapshot.used {
        used if limit <= before || used <= before => 0,
        used if used < limit => STARTED,
        _ => USED_UP,
    })
}

/// Marks the projects' accounts whose soft budget is reached and was not told yet: once for each account, which is a period's.
async fn reach(conn: &mut PgConnection, scopes: &[String]) -> Result<Vec<Due>, Error> {
    let in_periods = scopes.iter().filter_map(|name| match name.parse() {
        Ok(Scope::Project(id, label)) if label != PeriodLabel::none() => Some((name.clone(), id.uuid())),
        _ => None,
    });
    let (names, projects): (Vec<String>, Vec<Uuid>) = in_periods.unzip();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let reached = sqlx::query_as!(
        Due,
        r#"UPDATE accounts a SET soft_reached = true
           FROM unnest($1::text[], $2::uuid[]) AS x (scope, project) JOIN projects p ON p.id = x.project
           WHERE a.scope = x.scope AND NOT a.soft_reached AND a.total > 0 AND p.soft_budget IS NOT NULL
             AND a.used::numeric * 100 >= a.total::numeric * (p.soft_budget ->> 'percent')::numeric
           RETURNING a.scope, a.tenant_id AS "tenant_id!", a.level, a.version, a.total AS "total!: i64", a.used AS "used!: i64",
                     ARRAY[(p.soft_budget ->> 'percent')::smallint] AS "percents!", false AS "exhausted!",
                     false AS "overdraft!", a.overdraft_told"#,
        &names,
        &projects
    );
    Ok(reached.fetch_all(conn).await?)
}

async fn tell(conn: &mut PgConnection, events: &[Event<'_>]) -> Result<(), Error> {
    if events.is_empty() {
        return Ok(());
    }
    let (mut ids, mut kinds, mut tenants, mut names, mut all) = (vec![], vec![], vec![], vec![], vec![]);
    for Event { kind, account, percent } in events {
        let (id, period) = account.scope.split_once(':').unwrap_or((&account.scope, ""));
        let mut data = json!({
            "tenant_id": domain::TenantId::from_uuid(account.tenant_id),
            "scope": { "kind": account.level, "id": id, "period": Some(period).filter(|period| !matches!(*period, "" | "-")) },
            "total": account.total.to_string(),
            "used": account.used.to_string(),
            "version": account.version,
        });
        if let Some(percent) = percent {
            data["threshold_percent"] = json!(percent);
        }
        all.push(data);
        ids.push(EventId::generate().uuid());
        kinds.push((*kind).to_owned());
        tenants.push(account.tenant_id);
        names.push(account.scope.clone());
    }
    sqlx::query!(
        "INSERT INTO outbox (event_id, type, tenant_id, scope, data)
         SELECT i, k, t, s, d FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::jsonb[]) AS x (i, k, t, s, d)",
        &ids,
        &kinds,
        &tenants,
        &names,
        &all
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Keeps what was told of each account.
async fn remember(
    conn: &mut PgConnection,
    scopes: &[String],
    percents: &[i16],
    exhausted: &[bool],
    overdrafts: &[i16],
) -> Result<(), Error> {
    if scopes.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "UPDATE accounts a SET crossed = greatest(a.crossed, x.percent), exhausted = a.exhausted OR x.exhausted,
                overdraft_told = greatest(a.overdraft_told, x.overdraft)
         FROM unnest($1::text[], $2::smallint[], $3::boolean[], $4::smallint[]) AS x (scope, percent, exhausted, overdraft)
         WHERE a.scope = x.scope",
        scopes,
        percents,
        exhausted,
        overdrafts
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Arms what a changed total has left behind: thresholds above the percentage now used, the word that the quota is used up, and
/// that of the overdraft. Where one of the first two was told and is armed, the quota is there again, and that is told.
pub(crate) async fn arm(conn: &mut PgConnection, scope: &str) -> Result<(), Error> {
    let armed = sqlx::query!(
        r#"UPDATE accounts a SET
               crossed = CASE WHEN a.total > 0 THEN least(a.crossed,
                   greatest(0, least(1000, floor(a.used::numeric * 100 / a.total::numeric)))::smallint) ELSE a.crossed END,
               exhausted = a.exhausted AND a.used >= a.total
           FROM accounts old JOIN tenants t ON t.id = old.tenant_id
           WHERE a.scope = $1 AND old.scope = a.scope AND a.total IS NOT NULL
             AND (a.crossed > 0 OR a.exhausted OR a.overdraft_told > 0)
           RETURNING a.scope, a.tenant_id AS "tenant_id!", a.level, a.version, a.total AS "total!: i64", a.used AS "used!: i64", a.overdraft_told,
               a.used < a.total AND (old.exhausted OR EXISTS (SELECT
                   FROM jsonb_array_elements_text(coalesce(t.settings -> 'thresholds', '[90, 100]'::jsonb))
                   WHERE value::smallint <= old.crossed AND value::smallint > a.crossed)) AS "restored!""#,
        scope
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = armed else { return Ok(()) };
    if row.overdraft_told > 0 {
        let reached = overdraft(conn, scope).await?;
        sqlx::query!("UPDATE accounts SET overdraft_told = least(overdraft_told, $2) WHERE scope = $1", scope, reached)
            .execute(&mut *conn)
            .await?;
    }
    if row.restored {
        let account = Due {
            scope: row.scope,
            tenant_id: row.tenant_id,
            level: row.level,
            version: row.version,
            total: row.total,
            used: row.used,
            percents: Vec::new(),
            exhausted: false,
            overdraft: false,
            overdraft_told: 0,
        };
        tell(conn, &[Event { kind: "quota.restored", account: &account, percent: None }]).await?;
    }
    Ok(())
}

//! Writes a book: new grants, balances, events, the account; each with one statement.

use domain::Scope;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::book::{Book, Entry};
use crate::{Error, instant, thresholds};

pub(super) async fn write(conn: &mut PgConnection, book: Book, actor: &str, reason: &str) -> Result<(), Error> {
    write_grants(conn, &book).await?;
    write_balances(conn, &book).await?;
    write_events(conn, &book, actor, reason).await?;
    let scope = Scope::Tenant(book.tenant_id).to_string();
    sqlx::query!(
        "UPDATE accounts SET total = $2::bigint, used = $3::bigint, lapse_version = $4, lapsed_amount = $5::bigint,
                granted_sum = granted_sum + $6::bigint, version = $7, updated_at = clock_timestamp(), valid_until = (
             SELECT min(at) FROM (
                 SELECT starts_at AS at FROM grant_balances WHERE tenant_id = $8 AND status = 'pending'
                 UNION ALL SELECT ends_at FROM grant_balances WHERE tenant_id = $8 AND status IN ('pending', 'in_force')
                 UNION ALL SELECT renews_at FROM plans WHERE tenant_id = $8) due)
         WHERE scope = $1",
        scope,
        book.total,
        book.used,
        book.lapse_version,
        book.lapsed,
        book.granted,
        book.version,
        book.tenant_id.uuid()
    )
    .execute(&mut *conn)
    .await?;
    thresholds::arm(conn, &scope).await?;
    thresholds::cross(conn, &[scope]).await
}

async fn write_grants(conn: &mut PgConnection, book: &Book) -> Result<(), Error> {
    for grant in &book.given {
        let Some(balance) = book.balance(grant.id) else { continue };
        sqlx::query!(
            "INSERT INTO grants (id, tenant_id, kind, amount, priority, starts_at, ends_at, note, created_by, created_at)
             VALUES ($1, $2, $3, $4::bigint, $5, $6, $7, $8, $9, $10)",
            grant.id.uuid(),
            book.tenant_id.uuid(),
            grant.kind,
            grant.amount.units(),
            grant.priority,
            instant::write("grants.starts_at", balance.starts_at)?,
            grant.ends_at,
            grant.note,
            grant.actor,
            instant::write("grants.created_at", balance.created_at)?
        )
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

async fn write_balances(conn: &mut PgConnection, book: &Book) -> Result<(), Error> {
    let changed: Vec<&Entry> = book.entries.iter().filter(|entry| entry.is_changed).collect();
    let ids: Vec<Uuid> = changed.iter().map(|entry| entry.balance.id.uuid()).collect();
    let kinds: Vec<String> = changed.iter().map(|entry| entry.balance.kind.as_str().to_owned()).collect();
    let amounts: Vec<i64> = changed.iter().map(|entry| entry.balance.amount.units()).collect();
    let used: Vec<i64> = changed.iter().map(|entry| entry.balance.used.units()).collect();
    let priorities: Vec<i32> = changed.iter().map(|entry| entry.balance.priority).collect();
    let statuses: Vec<String> = changed.iter().map(|entry| entry.balance.status.as_str().to_owned()).collect();
    let started: Vec<Option<i64>> = changed.iter().map(|entry| entry.started_version).collect();
    let ended: Vec<Option<i64>> = changed.iter().map(|entry| entry.ended_version).collect();
    let (mut starts_at, mut ends_at, mut created_at) = (Vec::new(), Vec::<Option<OffsetDateTime>>::new(), Vec::new());
    for entry in &changed {
        starts_at.push(instant::write("grant_balances.starts_at", entry.balance.starts_at)?);
        let end = entry.balance.ends_at.map(|at| instant::write("grant_balances.ends_at", at));
        ends_at.push(end.transpose()?);
        created_at.push(instant::write("grant_balances.created_at", entry.balance.created_at)?);
    }
    sqlx::query!(
        "INSERT INTO grant_balances (grant_id, tenant_id, kind, amount, used, priority, starts_at, ends_at, created_at, status,
                started_version, ended_version)
         SELECT g, $1, k, a, u, p, s, e, c, st, sv, ev
         FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::int[], $7::timestamptz[], $8::timestamptz[],
                $9::timestamptz[], $10::text[], $11::bigint[], $12::bigint[]) AS x (g, k, a, u, p, s, e, c, st, sv, ev)
         ON CONFLICT (grant_id) DO UPDATE SET amount = excluded.amount, used = excluded.used, ends_at = excluded.ends_at,
                status = excluded.status, started_version = excluded.started_version, ended_version = excluded.ended_version",
        book.tenant_id.uuid(),
        &ids,
        &kinds,
        &amounts,
        &used,
        &priorities,
        &starts_at,
        &ends_at as &[Option<OffsetDateTime>],
        &created_at,
        &statuses,
        &started as &[Option<i64>],
        &ended as &[Option<i64>]
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn write_events(conn: &mut PgConnection, book: &Book, actor: &str, reason: &str) -> Result<(), Error> {
    let grants: Vec<Uuid> = book.events.iter().map(|event| event.grant).collect();
    let kinds: Vec<String> = book.events.iter().map(|event| event.kind.to_owned()).collect();
    let deltas: Vec<i64> = book.events.iter().map(|event| event.delta).collect();
    let repaid: Vec<i64> = book.events.iter().map(|event| event.repaid).collect();
    let unused: Vec<i64> = book.events.iter().map(|event| event.unused).collect();
    sqlx::query!(
        "INSERT INTO grant_events (grant_id, tenant_id, kind, delta, repaid, unused, account_version, actor, reason)
         SELECT g, $1, k, d, r, u, $2, $3, $4
         FROM unnest($5::uuid[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[]) AS x (g, k, d, r, u)",
        book.tenant_id.uuid(),
        book.version,
        actor,
        reason,
        &grants,
        &kinds,
        &deltas,
        &repaid,
        &unused
    )
    .execute(conn)
    .await?;
    Ok(())
}

//! Usage records: everything about a request beside its charge, written in the record transaction.

use domain::record::Outcome;
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::Error;
use crate::record::Accepted;

/// Writes a record per accepted settlement. A late one replaces what the reconciler could know, and says so.
pub(crate) async fn write(conn: &mut PgConnection, accepted: &[Accepted<'_>]) -> Result<(), Error> {
    if accepted.is_empty() {
        return Ok(());
    }
    let rows: Vec<Value> = accepted.iter().map(row).collect::<Result<_, _>>()?;
    sqlx::query!(
        "INSERT INTO usage_records AS u (request_id, client_request_id, tenant_id, project_id, key_id, model, served_model, outcome,
             estimate, frozen, extensions, usage, actual, attempts, upstream_status, estimated, overrun, late,
             started_at, frozen_at, first_byte_at, ended_at)
         SELECT request_id, client_request_id, tenant_id, project_id, key_id, model, served_model, outcome,
             estimate, frozen, extensions, usage, actual, attempts, upstream_status, estimated, overrun, late,
             started_at, frozen_at, first_byte_at, ended_at
         FROM jsonb_to_recordset($1) AS x (request_id uuid, client_request_id text, tenant_id uuid, project_id uuid, key_id uuid,
             model text, served_model text, outcome text, estimate bigint, frozen bigint, extensions integer, usage jsonb,
             actual bigint, attempts jsonb, upstream_status integer, estimated boolean, overrun boolean, late boolean,
             started_at timestamptz, frozen_at timestamptz, first_byte_at timestamptz, ended_at timestamptz)
         ON CONFLICT (request_id) DO UPDATE SET client_request_id = excluded.client_request_id, served_model = excluded.served_model,
             outcome = excluded.outcome, estimate = excluded.estimate, frozen = excluded.frozen, extensions = excluded.extensions,
             usage = excluded.usage, actual = excluded.actual, attempts = excluded.attempts,
             upstream_status = excluded.upstream_status, estimated = excluded.estimated, overrun = excluded.overrun, late = true,
             started_at = excluded.started_at, frozen_at = excluded.frozen_at, first_byte_at = excluded.first_byte_at,
             ended_at = excluded.ended_at",
        Value::Array(rows)
    )
    .execute(conn)
    .await?;
    Ok(())
}

fn row(accepted: &Accepted<'_>) -> Result<Value, Error> {
    let record = &accepted.row.record;
    let late = accepted.kind == 1;
    let outcome = if late { Outcome::Final } else { accepted.row.outcome };
    let json = |value: Result<Value, serde_json::Error>| value.map_err(|error| Error::corrupt("usage record", error));
    Ok(json!({
        "request_id": record.request_id.uuid(),
        "client_request_id": record.client_request_id,
        "tenant_id": record.tenant_id.uuid(),
        "project_id": record.project_id.uuid(),
        "key_id": record.key_id.uuid(),
        "model": record.model,
        "served_model": record.served_model,
        "outcome": outcome.as_str(),
        "estimate": record.estimate.units(),
        "frozen": record.frozen.units(),
        "extensions": record.extensions,
        "usage": json(serde_json::to_value(record.usage))?,
        "actual": accepted.row.amount.units(),
        "attempts": json(serde_json::to_value(&record.attempts))?,
        "upstream_status": record.upstream_status,
        "estimated": record.estimated,
        "overrun": record.overrun,
        "late": late,
        "started_at": record.started_at,
        "frozen_at": record.frozen_at,
        "first_byte_at": record.first_byte_at,
        "ended_at": record.ended_at,
    }))
}

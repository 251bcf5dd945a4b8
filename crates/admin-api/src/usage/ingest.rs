//! `POST /usage/ingest`.

use api_types::Decimal;
use api_types::usage::{Ingest, Ingested};
use axum::response::Response;
use domain::record::Outcome;
use domain::usage::MAX_COUNT;
use domain::{Amount, Multiplier, RequestId, Scope, Tariff, Unit, Usage, UsageRecord};
use store::keys::Key as ApiKey;
use store::record::OutcomeRow;
use store::tenants::Tenant;
use time::{Duration, OffsetDateTime};

use crate::auth::policy::WriteUsage;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::numbers::unit;
use crate::once::{self, Key, Stored};
use crate::usage::instant;
use crate::validate::Fields;
use crate::{numbers, pools, prices, scopes};

/// Clocks of callers may be this far ahead.
const CLOCK_SLACK: Duration = Duration::minutes(5);

/// Charges usage that was metered elsewhere: booked in full at once, like a request that has ended, in the present period.
/// `reference` is charged once per key, whatever the `Idempotency-Key`: another call with it is 409 with `charged_request_id`.
#[utoipa::path(post, path = "/usage/ingest", operation_id = "ingest_usage", tag = "usage", request_body = Ingest,
    params(("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 201, description = "What was charged.", body = Ingested)))]
pub async fn handler(
    mut call: Call<WriteUsage>,
    key: Key,
    Json { value: body, hash }: Json<Ingest>,
) -> Result<Response> {
    let (reference, model, usage) = check(&body)?;
    if let Some(stored) = once::claim(&mut call, &key, &hash).await? {
        let app = call.app.clone();
        drop(call);
        return Ok(stored.respond(&app).await);
    }
    let api_key = store::keys::get(&mut call.tx, body.key_id, &call.reach).await?;
    let tenant = store::tenants::get(&mut call.tx, api_key.tenant_id, &call.reach).await?;
    if tenant.status == "closed" {
        return Err(Error::conflict("the tenant is closed, for good"));
    }
    let unit = unit(&tenant)?;
    let amount = match (&body.charge, &usage) {
        (Some(charge), _) => charged(charge, unit)?,
        (None, Some(usage)) => priced(&mut call, &tenant, unit, &model, usage, body.occurred_at.instant()).await?,
        (None, None) => return Err(Error::internal("nothing to charge")),
    };
    let request_id = RequestId::generate();
    if let Some(before) = store::ingest::claim(&mut call.tx, api_key.id, &reference, request_id).await? {
        let detail = "this reference of the key was charged before, as charged_request_id";
        return Err(Error::already_exists("reference", detail).with("charged_request_id", before.to_string()));
    }
    let scopes = accounts(&mut call, &tenant, &api_key).await?;
    let record = record(request_id, &api_key, &model, usage, reference, body.occurred_at.instant())?;
    book(&mut call, &scopes, amount, record).await?;
    let quota = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
    let reply = Ingested { request_id, charge: Decimal::of(amount, unit), quota, in_force: None };
    let stored = Stored::created(format!("/requests/{request_id}"), None, tenant.id, &scopes, &reply)?;
    let audit = Audit::new("usage.ingest", request_id).of(tenant.id);
    let after = serde_json::json!({ "key_id": api_key.id, "model": model, "charge": reply.charge, "reference": body.reference });
    once::commit(call, &key, &hash, stored, audit.after(&after)).await
}

fn check(body: &Ingest) -> Result<(String, String, Option<Usage>)> {
    let mut fields = Fields::new();
    let reference = fields.text("reference", &body.reference, 200);
    let model = fields.text("model", &body.model, 200);
    let ahead = body.occurred_at.instant() > OffsetDateTime::now_utc() + CLOCK_SLACK;
    fields.check(!ahead, "occurred_at", "out_of_range", "must not be in the future");
    fields.check(body.usage.is_some() != body.charge.is_some(), "usage", "required", "give either usage or charge");
    let usage = body.usage.map(|of| Usage {
        input: of.input,
        cached_input: of.cached_input,
        cache_write_5m: of.cache_write_5m,
        cache_write_1h: of.cache_write_1h,
        output: of.output,
        reasoning: of.reasoning,
        audio_input: of.audio_input,
        audio_output: of.audio_output,
        images: of.images,
        requests: 1,
    });
    let fits = usage.is_none_or(|usage| domain::usage::Kind::ALL.iter().all(|kind| usage.get(*kind) <= MAX_COUNT));
    fields.check(fits, "usage", "out_of_range", "a count is at most 9007199254740991");
    fields.done()?;
    Ok((reference, model, usage))
}

fn charged(charge: &Decimal, unit: Unit) -> Result<Amount> {
    let mut fields = Fields::new();
    let amount = fields.amount("charge", charge, unit);
    fields.done()?;
    Ok(amount)
}

/// The charge by the prices in force when it was used.
async fn priced(
    call: &mut Call<WriteUsage>,
    tenant: &Tenant,
    unit: Unit,
    model: &str,
    usage: &Usage,
    at: OffsetDateTime,
) -> Result<Amount> {
    let Some(price) = store::prices::at(&mut call.tx, model, at).await? else {
        let message = "no such model with a price in force at occurred_at; give charge instead, or add the price";
        return Err(Error::field("model", "not_priced", message));
    };
    let (prices, weights) = prices::parsed(&price)?;
    let multiplier = Multiplier::parse(&tenant.multiplier).map_err(Error::internal)?;
    let tariff = Tariff { unit, prices, weights, tenant: multiplier, target: Multiplier::ONE };
    tariff.charge(usage).map_err(|why| Error::field("usage", "not_priced", why.to_string()))
}

/// The accounts that bear it: opened where they are not there yet, with what is due applied.
async fn accounts(call: &mut Call<WriteUsage>, tenant: &Tenant, key: &ApiKey) -> Result<Vec<Scope>> {
    let project = store::projects::get(&mut call.tx, key.project_id, &call.reach).await?;
    let mut scopes =
        vec![scopes::key(tenant, key)?.scope, scopes::project(tenant, &project)?.scope, Scope::Tenant(tenant.id)];
    if let Some((pool, _)) = store::pools::of_tenant(&mut call.tx, tenant.id).await? {
        scopes.extend(pools::scopes(&pool, tenant.id)?);
    }
    store::load::load(&mut call.tx, tenant.id, &scopes).await?;
    Ok(scopes)
}

fn record(
    request_id: RequestId,
    key: &ApiKey,
    model: &str,
    usage: Option<Usage>,
    reference: String,
    at: OffsetDateTime,
) -> Result<UsageRecord> {
    let at = Some(instant(at)?);
    Ok(UsageRecord {
        request_id,
        client_request_id: Some(reference),
        tenant_id: key.tenant_id,
        project_id: key.project_id,
        key_id: key.id,
        model: model.to_owned(),
        served_model: None,
        estimate: Amount::ZERO,
        frozen: Amount::ZERO,
        extensions: 0,
        usage: usage.unwrap_or_default(),
        attempts: Vec::new(),
        upstream_status: None,
        estimated: false,
        overrun: false,
        started_at: at,
        frozen_at: None,
        first_byte_at: None,
        ended_at: at,
    })
}

/// Nothing was frozen for it, so no grant that has ended bears any of it.
async fn book(call: &mut Call<WriteUsage>, scopes: &[Scope], amount: Amount, record: UsageRecord) -> Result<()> {
    let row = OutcomeRow {
        request_id: record.request_id,
        tenant_id: record.tenant_id,
        scopes: scopes.to_vec(),
        outcome: Outcome::Final,
        amount,
        frozen: Amount::ZERO,
        version: i64::MAX,
        record,
    };
    store::record::record(&mut call.tx, std::slice::from_ref(&row)).await?;
    Ok(())
}

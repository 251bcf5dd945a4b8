//! `POST /tenants/{t}/grants`: a top-up.

use api_types::grant::{CreateGrant, Grant, GrantKind};
use axum::response::Response;
use domain::{Amount, GrantId, Scope, TenantId, Unit};
use store::grants::NewGrant;
use time::OffsetDateTime;

use crate::auth::policy::WriteGrants;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::grants::view;
use crate::numbers::{self, unit};
use crate::once::{self, Key, Stored};
use crate::path::Id;
use crate::tenants::plan;
use crate::validate::Fields;

/// Adds a grant. Once per `Idempotency-Key`; in force on every gateway at return (`in_force`).
#[utoipa::path(post, path = "/tenants/{t}/grants", operation_id = "create_grant", tag = "grants", request_body = CreateGrant,
    params(("t" = TenantId, Path, description = "The tenant."),
        ("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 201, description = "The grant, and the tenant's numbers with it.", body = Grant)))]
pub async fn handler(
    mut call: Call<WriteGrants>,
    Id(id): Id<TenantId>,
    key: Key,
    Json { value: body, hash }: Json<CreateGrant>,
) -> Result<Response> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let unit = unit(&tenant)?;
    let amount = check(&body, unit)?;
    if let Some(stored) = once::claim(&mut call, &key, &hash).await? {
        let app = call.app.clone();
        drop(call);
        return Ok(stored.respond(&app).await);
    }
    if tenant.status == "closed" {
        return Err(Error::conflict("the tenant is closed, for good"));
    }
    let grant = add(&mut call, &tenant, &body, amount).await?;
    let mut view = view(grant, unit)?;
    view.quota = Some(numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?);
    let stored = Stored::created(format!("/tenants/{id}/grants"), None, id, &[Scope::Tenant(id)], &view)?;
    let audit = Audit::new("grant.create", view.id).of(id).after(&view);
    once::commit(call, &key, &hash, stored, audit).await
}

fn check(body: &CreateGrant, unit: Unit) -> Result<Amount> {
    let mut fields = Fields::new();
    let amount = fields.positive("amount", &body.amount, unit);
    fields.range("priority", body.priority.unwrap_or(0), -1_000_000, 1_000_000);
    fields.note("note", &body.note, 1000);
    let now = OffsetDateTime::now_utc();
    let starts_at = body.starts_at.map_or(now, |at| at.instant().max(now));
    let ends_later = body.ends_at.is_none_or(|at| at.instant() > starts_at);
    fields.check(ends_later, "ends_at", "out_of_range", "must be later than starts_at and than now");
    if let Some(renews_at) = body.renews_at {
        let is_plan = body.kind == GrantKind::Plan && body.ends_at.is_none();
        fields.check(is_plan, "renews_at", "conflict", "only a plan without ends_at renews");
        let is_ahead = renews_at.instant() > starts_at;
        fields.check(is_ahead, "renews_at", "out_of_range", "must be later than starts_at and than now");
    }
    fields.done()?;
    Ok(amount)
}

async fn add(
    call: &mut Call<WriteGrants>,
    tenant: &store::tenants::Tenant,
    body: &CreateGrant,
    amount: Amount,
) -> Result<store::grants::Grant> {
    let kind = domain::grant::GrantKind::parse(body.kind.as_str())
        .ok_or_else(|| Error::internal("an unknown kind of grant"))?;
    let new = NewGrant {
        id: GrantId::generate(),
        tenant_id: tenant.id,
        kind: kind.as_str().to_owned(),
        amount,
        priority: body.priority.unwrap_or_else(|| kind.default_priority()),
        starts_at: body.starts_at.map(Into::into),
        ends_at: body.ends_at.map(Into::into),
        note: body.note.clone(),
        actor: call.caller.actor(),
    };
    if body.renews_at.is_some() {
        if store::plans::read(&mut call.tx, tenant.id).await?.is_some() {
            let remedy =
                "the tenant has a plan already: change it with a recurring quota change, or end its grant first";
            return Err(Error::conflict(remedy));
        }
        let plan = plan::of(tenant, amount, new.priority, body.renews_at)?;
        store::plans::begin(&mut call.tx, &new, &plan).await?;
    } else {
        store::grants::add(&mut call.tx, &new).await?;
    }
    Ok(store::grants::get(&mut call.tx, new.id, &call.reach).await?)
}

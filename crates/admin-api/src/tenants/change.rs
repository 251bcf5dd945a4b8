//! `PATCH /tenants/{t}`.

use api_types::tenant::{ChangeTenant, Tenant};
use domain::period::Zone;
use domain::{Scope, TenantId};

use crate::auth::policy::WriteTenants;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::numbers::unit;
use crate::path::Id;
use crate::pools::{check_weight, place};
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::tenants::settings::StoredSettings;
use crate::tenants::view;
use crate::validate::Fields;
use crate::{force, numbers};

/// Changes a tenant. Overdraft, credit line, limits and the pool are in force on every gateway at return.
#[utoipa::path(patch, path = "/tenants/{t}", operation_id = "change_tenant", tag = "tenants", request_body = ChangeTenant,
    params(("t" = TenantId, Path, description = "The tenant."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The tenant.", body = Tenant, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteTenants>,
    Id(id): Id<TenantId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeTenant>,
) -> Result<Reply<Tenant>> {
    let before = store::tenants::lock(&mut call.tx, id, &call.reach).await?;
    if_match.check(before.version)?;
    let (changed, settings) = apply(&before, &body)?;
    let placed = match body.settings.as_ref().and_then(|settings| settings.pool.as_ref()) {
        Some(pool) => {
            let to = pool.as_ref().map(|pool| (pool.id, pool.weight));
            Some(place::place(&mut call, &before, to).await?)
        }
        None => None,
    };
    let tenant = store::tenants::update(&mut call.tx, &changed).await?;
    set_account(&mut call, &tenant, &settings).await?;
    if tenant.time_zone != before.time_zone {
        let (zone, actor) = (Zone::parse(&before.time_zone).map_err(Error::internal)?, call.caller.actor());
        store::plans::move_zone(&mut call.tx, id, &zone, &actor).await?;
    }
    let quota = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
    let version = tenant.version;
    let audit = Audit::new("tenant.change", id).of(id).before(&view(before, quota.clone())?);
    let mut view = view(tenant, quota)?;
    let app = call.commit(audit.after(&view)).await?;
    let is_placed = match placed {
        Some(placed) => placed.committed().await,
        None => true,
    };
    view.in_force = Some(force::push(&app, id, &[Scope::Tenant(id)]).await && is_placed);
    Ok(Reply::ok(view).version(version))
}

fn apply(before: &store::tenants::Tenant, body: &ChangeTenant) -> Result<(store::tenants::Tenant, StoredSettings)> {
    let (mut fields, mut tenant) = (Fields::new(), before.clone());
    if let Some(name) = &body.name {
        tenant.name = fields.text("name", name, 200);
    }
    if let Some(external_id) = &body.external_id {
        tenant.external_id = external_id.as_ref().map(|id| fields.text("external_id", id, 200));
    }
    if let Some(name) = &body.time_zone {
        match Zone::parse(name) {
            Ok(zone) => tenant.time_zone = zone.name().to_owned(),
            Err(why) => fields.refuse("time_zone", "invalid", why.to_string()),
        }
    }
    let mut settings = StoredSettings::read(before)?;
    if let Some(change) = &body.settings {
        settings.apply(change, unit(before)?, &mut fields)?;
        if let Some(Some(pool)) = &change.pool {
            check_weight(&mut fields, "settings.pool.weight", pool.weight);
        }
    }
    fields.done()?;
    tenant.multiplier = settings.multiplier();
    tenant.settings = settings.json()?;
    Ok((tenant, settings))
}

async fn set_account(
    call: &mut Call<WriteTenants>,
    tenant: &store::tenants::Tenant,
    settings: &StoredSettings,
) -> Result<()> {
    let beyond = settings.beyond_total(unit(tenant)?)?;
    let change = store::accounts::Change {
        credit_limit: Some(beyond.credit_limit),
        overdraft_limit: Some((beyond.overdraft_limit, beyond.overdraft_percent)),
        limits: Some(settings.limits(unit(tenant)?)?),
        ..store::accounts::Change::default()
    };
    store::accounts::change(&mut call.tx, &Scope::Tenant(tenant.id), &change).await?;
    Ok(())
}

//! `POST /tenants`: a tenant, its account and, where given, its plan, in one step.

use api_types::pool::PoolSetting;
use api_types::tenant::{CreateTenant, FirstPlan, Tenant};
use axum::response::Response;
use domain::grant::GrantKind;
use domain::period::{Cycle, PeriodKind, Zone};
use domain::{Amount, GrantId, LimitSet, Scope};
use store::accounts::NewAccount;
use store::grants::NewGrant;
use store::tenants::NewTenant;

use crate::auth::policy::CreateTenants;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::once::{self, Key, Stored};
use crate::pools::{check_weight, place};
use crate::tenants::settings::{BeyondTotal, StoredSettings};
use crate::tenants::{plan, view};
use crate::validate::Fields;
use crate::{numbers, platform};

/// Creates a tenant, with its plan in the same call where wanted. A used `external_id` is 409 with the tenant's id.
#[utoipa::path(post, path = "/tenants", operation_id = "create_tenant", tag = "tenants", request_body = CreateTenant,
    params(("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 201, description = "The tenant.", body = Tenant)))]
pub async fn handler(
    mut call: Call<CreateTenants>,
    key: Key,
    Json { value: body, hash }: Json<CreateTenant>,
) -> Result<Response> {
    let defaults = store::platform::settings(&mut call.tx).await?;
    let checked = check(&body, &defaults)?;
    if let Some(stored) = once::claim(&mut call, &key, &hash).await? {
        let app = call.app.clone();
        drop(call);
        return Ok(stored.respond(&app).await);
    }
    external_id_is_free(&mut call, checked.external_id.as_deref()).await?;
    let tenant = store::tenants::create(&mut call.tx, &checked.row(&body)?).await?;
    open_account(&mut call, &tenant, &checked).await?;
    let mut scopes = vec![Scope::Tenant(tenant.id)];
    let tenant = match &checked.pool {
        Some(pool) => {
            scopes.extend(place::new_tenant(&mut call, &tenant, pool).await?);
            store::tenants::get(&mut call.tx, tenant.id, &call.reach).await?
        }
        None => tenant,
    };
    let quota = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
    let (id, version) = (tenant.id, tenant.version);
    let view = view(tenant, quota)?;
    let stored = Stored::created(format!("/tenants/{id}"), Some(version), id, &scopes, &view)?;
    once::commit(call, &key, &hash, stored, Audit::new("tenant.create", id).of(id).after(&view)).await
}

struct Checked {
    name: String,
    external_id: Option<String>,
    time_zone: String,
    settings: serde_json::Value,
    beyond_total: BeyondTotal,
    limits: LimitSet,
    multiplier: String,
    plan: Option<(Amount, Option<api_types::Timestamp>)>,
    pool: Option<PoolSetting>,
}

impl Checked {
    fn row<'a>(&'a self, body: &'a CreateTenant) -> Result<NewTenant<'a>> {
        Ok(NewTenant {
            name: &self.name,
            external_id: self.external_id.as_deref(),
            unit: body.unit.as_str(),
            time_zone: &self.time_zone,
            period_kind: body.period.kind.as_str(),
            period_anchor: body.period.anchor,
            settings: &self.settings,
            multiplier: &self.multiplier,
        })
    }
}

fn check(body: &CreateTenant, defaults: &store::platform::Settings) -> Result<Checked> {
    let mut fields = Fields::new();
    let name = fields.text("name", &body.name, 200);
    let external_id = body.external_id.as_ref().map(|id| fields.text("external_id", id, 200));
    let time_zone = match Zone::parse(body.time_zone.as_ref().unwrap_or(&defaults.default_time_zone)) {
        Ok(zone) => zone.name().to_owned(),
        Err(why) => {
            fields.refuse("time_zone", "invalid", why.to_string());
            String::new()
        }
    };
    let kind = PeriodKind::parse(body.period.kind.as_str()).unwrap_or(PeriodKind::Month);
    if let Err(why) = Cycle::new(kind, body.period.anchor) {
        fields.refuse("period.anchor", "out_of_range", why.to_string());
    }
    let mut settings = StoredSettings::default();
    settings.set_thresholds(platform::thresholds(defaults)?);
    if let Some(change) = &body.settings {
        settings.apply(change, body.unit, &mut fields)?;
    }
    let pool = body.settings.as_ref().and_then(|settings| settings.pool.clone().flatten());
    if let Some(pool) = &pool {
        check_weight(&mut fields, "settings.pool.weight", pool.weight);
    }
    let plan = body.plan.as_ref().map(|FirstPlan { amount, renews_at }| {
        let is_ahead = renews_at.is_none_or(|at| at.instant() > time::OffsetDateTime::now_utc());
        fields.check(is_ahead, "plan.renews_at", "out_of_range", "must be later than now");
        (fields.positive("plan.amount", amount, body.unit), *renews_at)
    });
    fields.done()?;
    let (beyond_total, limits) = (settings.beyond_total(body.unit)?, settings.limits(body.unit)?);
    Ok(Checked {
        name,
        external_id,
        time_zone,
        settings: settings.json()?,
        beyond_total,
        limits,
        multiplier: settings.multiplier(),
        plan,
        pool,
    })
}

async fn external_id_is_free(call: &mut Call<CreateTenants>, external_id: Option<&str>) -> Result<()> {
    let Some(external_id) = external_id else { return Ok(()) };
    match store::tenants::by_external_id(&mut call.tx, external_id).await? {
        None => Ok(()),
        Some(id) => Err(Error::already_exists(
            "external_id",
            "a tenant with this external_id exists already; its id is tenant_id",
        )
        .with("tenant_id", id.to_string())),
    }
}

async fn open_account(
    call: &mut Call<CreateTenants>,
    tenant: &store::tenants::Tenant,
    checked: &Checked,
) -> Result<()> {
    let BeyondTotal { credit_limit, overdraft_limit, overdraft_percent } = checked.beyond_total;
    let account = NewAccount {
        scope: Scope::Tenant(tenant.id),
        tenant_id: tenant.id,
        total: Some(Amount::ZERO),
        credit_limit,
        overdraft_limit,
        overdraft_percent,
        limits: checked.limits,
    };
    store::accounts::create(&mut call.tx, &account).await?;
    let Some((amount, renews_at)) = checked.plan else { return Ok(()) };
    let grant = NewGrant {
        id: GrantId::generate(),
        tenant_id: tenant.id,
        kind: GrantKind::Plan.as_str().to_owned(),
        amount,
        priority: GrantKind::Plan.default_priority(),
        starts_at: None,
        ends_at: None,
        note: "plan".to_owned(),
        actor: call.caller.actor(),
    };
    let plan = plan::of(tenant, amount, grant.priority, renews_at)?;
    store::plans::begin(&mut call.tx, &grant, &plan).await?;
    Ok(())
}

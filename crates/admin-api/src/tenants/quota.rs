//! `GET /tenants/{t}/quota`.

use api_types::Decimal;
use api_types::grant::{GrantShare, GrantStatus, TenantQuota};
use domain::{Amount, TenantId};

use crate::auth::Call;
use crate::auth::policy::ReadQuota;
use crate::error::Result;
use crate::numbers::unit;
use crate::path::Id;
use crate::reply::Reply;
use crate::{grants, numbers};

/// A tenant's numbers, and the grants in force in the order in which they are spent.
#[utoipa::path(get, path = "/tenants/{t}/quota", operation_id = "read_tenant_quota", tag = "tenants",
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The numbers.", body = TenantQuota)))]
pub async fn handler(mut call: Call<ReadQuota>, Id(id): Id<TenantId>) -> Result<Reply<TenantQuota>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let unit = unit(&tenant)?;
    let numbers = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
    let all = store::grants::list(&mut call.tx, id).await?;
    let views = all.into_iter().map(|grant| grants::view(grant, unit)).collect::<Result<Vec<_>>>()?;
    let in_force = views.into_iter().filter(|grant| grant.status == GrantStatus::InForce);
    let share = |grant: api_types::grant::Grant| GrantShare {
        id: grant.id,
        kind: grant.kind,
        remaining: grant.remaining,
        ends_at: grant.ends_at,
    };
    let grants = in_force.map(share).collect();
    Ok(Reply::ok(TenantQuota { numbers, grants, in_tranches: Decimal::of(Amount::ZERO, unit) }))
}

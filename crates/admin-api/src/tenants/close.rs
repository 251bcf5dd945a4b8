//! `POST /tenants/{t}/close`.

use api_types::tenant::{Reason, Tenant};
use domain::{Amount, Status, TenantId, Unit};

use crate::auth::Call;
use crate::auth::policy::WriteTenants;
use crate::body::Json;
use crate::error::{Error, Result};
use crate::numbers;
use crate::path::Id;
use crate::reply::Reply;
use crate::tenants::status;

/// Closes a tenant for good: no gateway admits a call of its from the return on, and its numbers and statements stay. 409
/// while requests of its run or it owes something. A call that is admitted in the very moment of closing runs to its end
/// and is charged.
#[utoipa::path(post, path = "/tenants/{t}/close", operation_id = "close_tenant", tag = "tenants", request_body = Reason,
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The tenant.", body = Tenant, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteTenants>,
    Id(id): Id<TenantId>,
    Json { value: body, .. }: Json<Reason>,
) -> Result<Reply<Tenant>> {
    let tenant = store::tenants::lock(&mut call.tx, id, &call.reach).await?;
    if tenant.status != Status::Closed.as_str() {
        let unit = numbers::unit(&tenant)?;
        if let Some((pool, _)) = tenant.pool {
            let detail = "the tenant is in a pool: take it out first (DELETE /pools/{id}/members/{t})";
            return Err(Error::conflict(detail).with("pool_id", pool.to_string()));
        }
        if call.app.quota().is_away() {
            return Err(Error::unavailable("what is in flight can't be read at the moment; try again"));
        }
        let quota = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
        let is_zero = |text: &api_types::Decimal| text.amount(unit) == Ok(Amount::ZERO);
        let remaining = quota.remaining.as_ref().and_then(|text| text.amount(unit).ok());
        let owes = remaining.is_some_and(|left| left.saturating_add(frozen(&quota, unit)).is_negative());
        let refusal = if !is_zero(&quota.frozen) {
            Some("requests of the tenant are running; suspend it, wait until frozen is 0, and close it then")
        } else if owes {
            Some("the tenant owes what is used beyond its total; add a grant of that amount first")
        } else {
            None
        };
        if let Some(detail) = refusal {
            let quota = serde_json::to_value(&quota).map_err(Error::internal)?;
            return Err(Error::conflict(detail).with("quota", quota));
        }
    }
    status::set(call, id, &body, Status::Closed, "tenant.close").await
}

fn frozen(quota: &api_types::Numbers, unit: Unit) -> Amount {
    quota.frozen.amount(unit).unwrap_or_default()
}

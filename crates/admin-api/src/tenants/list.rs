//! `GET /tenants`.

use api_types::Page;
use api_types::tenant::{Tenant, TenantStatus};
use domain::{PoolId, TenantId};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use store::tenants::{ListAsk, SortBy};

use crate::app::App;
use crate::auth::Call;
use crate::auth::policy::ReadTenants;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::numbers;
use crate::reply::Reply;
use crate::tenants::view;

/// Which tenants, in which order.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Part of the name or of the external id, or an id.
    q: Option<String>,
    /// Status.
    status: Option<TenantStatus>,
    /// External id.
    external_id: Option<String>,
    /// In this pool.
    #[param(value_type = Option<PoolId>)]
    pool_id: Option<String>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `created_at`, `used` or `remaining_percent`; `-` before it for the largest first. `-created_at` unless said otherwise.
    #[param(pattern = "^-?(created_at|used|remaining_percent)$")]
    sort: Option<String>,
}

impl Ask {
    fn read(self) -> Result<(ListAsk, u16)> {
        let limit = list::limit(self.limit)?;
        let sort = self.sort.as_deref().unwrap_or("-created_at");
        let (ascending, name) = sort.strip_prefix('-').map_or((true, sort), |name| (false, name));
        let sort = match name {
            "created_at" => SortBy::CreatedAt,
            "used" => SortBy::Used,
            "remaining_percent" => SortBy::RemainingPercent,
            _ => {
                return Err(Error::field(
                    "sort",
                    "invalid",
                    "sort by created_at, used or remaining_percent, with - for the largest first",
                ));
            }
        };
        let after = self.cursor.as_deref().map(|cursor| read_cursor(cursor, name)).transpose()?;
        let status = self.status.map(|status| status.to_string());
        let ask = ListAsk {
            q: self.q,
            status,
            external_id: self.external_id,
            pool_id: self.pool_id.as_deref().map(read_pool).transpose()?,
            sort,
            ascending,
            after,
            limit: i64::from(limit) + 1,
        };
        Ok((ask, limit))
    }
}

fn read_pool(text: &str) -> Result<PoolId> {
    text.parse().map_err(|_| Error::field("pool_id", "invalid", "give the id of a pool, such as pool_01..."))
}

/// A cursor holds what it was sorted by, so that one of another order is refused instead of giving a wrong page.
fn read_cursor(cursor: &str, sort: &str) -> Result<(String, TenantId)> {
    let wrong = || Error::field("cursor", "invalid", "give next_cursor of the page before, with the same sort");
    let [by, value, id] = list::read::<3>(cursor)?;
    let id = id.parse().map_err(|_| wrong())?;
    let plausible = value.len() <= 64 && value.bytes().all(|byte| byte.is_ascii_digit() || b"-+:. ".contains(&byte));
    if by == sort && plausible { Ok((value, id)) } else { Err(wrong()) }
}

/// Lists tenants with their four numbers.
#[utoipa::path(get, path = "/tenants", operation_id = "list_tenants", tag = "tenants", params(Ask),
    responses((status = 200, description = "A page of tenants.", body = Page<Tenant>)))]
pub async fn handler(mut call: Call<ReadTenants>, Query(ask): Query<Ask>) -> Result<Reply<Page<Tenant>>> {
    let by = ask.sort.clone().unwrap_or_default();
    let by = if by.is_empty() { "created_at" } else { by.trim_start_matches('-') };
    let (ask, limit) = ask.read()?;
    let mut rows = store::tenants::list(&mut call.tx, &ask, &call.reach).await?;
    let next_cursor =
        list::cut(&mut rows, limit).map(|(tenant, value)| list::write(&[by, value, &tenant.id.to_string()]));
    let tenants: Vec<_> = rows.into_iter().map(|(tenant, _)| tenant).collect();
    let recorded = numbers::recorded_of_tenants(&mut call.tx, &tenants).await?;
    let app = call.app.clone();
    drop(call);
    let items = with_numbers(&app, tenants, recorded).await?;
    Ok(Reply::ok(Page { items, next_cursor }))
}

async fn with_numbers(
    app: &App,
    tenants: Vec<store::tenants::Tenant>,
    recorded: numbers::RecordedAll,
) -> Result<Vec<Tenant>> {
    let views = stream::iter(tenants).map(|tenant| {
        let recorded = &recorded;
        async move {
            let quota = numbers::of_tenant_with(app, &tenant, recorded).await?;
            view(tenant, quota)
        }
    });
    views.buffered(32).try_collect().await
}

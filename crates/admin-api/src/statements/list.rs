//! `GET /tenants/{t}/statements`.

use api_types::Page;
use api_types::statement::Statement;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::path::Id;
use crate::reply::Reply;
use crate::statements::{Calendar, statements};

/// Which part.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists a tenant's statements, without their lines: the present period first, back to that of its creation.
#[utoipa::path(get, path = "/tenants/{t}/statements", operation_id = "list_statements", tag = "usage",
    params(("t" = TenantId, Path, description = "The tenant."), Ask),
    responses((status = 200, description = "A page of statements.", body = Page<Statement>)))]
pub async fn handler(
    mut call: Call<ReadUsage>,
    Id(id): Id<TenantId>,
    Query(ask): Query<Ask>,
) -> Result<Reply<Page<Statement>>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let limit = list::limit(ask.limit)?;
    let calendar = Calendar::of(&tenant)?;
    let wrong = || Error::field("cursor", "invalid", "give next_cursor of the page before");
    let mut next = match &ask.cursor {
        None => calendar.at(calendar.now),
        Some(cursor) => {
            let [name] = list::read::<1>(cursor)?;
            calendar.before(&calendar.named(&name).ok_or_else(wrong)?)
        }
    };
    let mut periods = Vec::new();
    while let Some(period) = next.filter(|_| periods.len() <= usize::from(limit)) {
        next = calendar.before(&period);
        periods.push(period);
    }
    let next_cursor = list::cut(&mut periods, limit).map(|last| list::write(&[last.label.as_str()]));
    periods.reverse();
    let mut items = statements(&mut call, &tenant, &calendar, &periods, None).await?;
    items.reverse();
    Ok(Reply::ok(Page { items, next_cursor }))
}

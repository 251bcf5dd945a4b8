//! `GET /users`.

use api_types::Page;
use api_types::session::User;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ManagePeople;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::reply::Reply;
use crate::users::view;

/// Which people.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `-created_at` (newest first) or `created_at`.
    #[param(pattern = "^-?created_at$")]
    sort: Option<String>,
}

/// Lists people.
#[utoipa::path(get, path = "/users", operation_id = "list_users", tag = "people", params(Ask),
    responses((status = 200, description = "A page of people.", body = Page<User>)))]
pub async fn handler(mut call: Call<ManagePeople>, Query(ask): Query<Ask>) -> Result<Reply<Page<User>>> {
    if let Some(id) = ask.tenant_id {
        call.must_reach(id)?;
    }
    let query = ByCreation { limit: ask.limit, cursor: ask.cursor, sort: ask.sort };
    let rows = store::users::list(&mut call.tx, ask.tenant_id, &call.reach, query.window()?).await?;
    Ok(Reply::ok(query.page(rows, |user| user.id.uuid(), |user| view(&user))?))
}

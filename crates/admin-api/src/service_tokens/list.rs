//! `GET /service-tokens`.

use api_types::Page;
use api_types::service_token::ServiceToken;

use crate::auth::Call;
use crate::auth::policy::ManageServiceTokens;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::reply::Reply;
use crate::service_tokens::view;

/// Lists the tokens that are not revoked, without their secrets.
#[utoipa::path(get, path = "/service-tokens", operation_id = "list_service_tokens", tag = "service tokens",
    params(ByCreation), responses((status = 200, description = "A page of tokens.", body = Page<ServiceToken>)))]
pub async fn handler(
    mut call: Call<ManageServiceTokens>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<ServiceToken>>> {
    let rows = store::service_tokens::list(&mut call.tx, query.window()?).await?;
    Ok(Reply::ok(query.page(rows, |row| row.id.uuid(), |row| Ok(view(row)))?))
}

//! `GET /requests/{req}`.

use api_types::request::Request;
use domain::RequestId;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::requests::view;

/// A recorded request: what was set aside, used and charged, and when.
#[utoipa::path(get, path = "/requests/{req}", operation_id = "read_request", tag = "usage",
    params(("req" = RequestId, Path, description = "The request.")),
    responses((status = 200, description = "The request.", body = Request)))]
pub async fn handler(mut call: Call<ReadUsage>, Id(id): Id<RequestId>) -> Result<Reply<Request>> {
    Ok(Reply::ok(view(store::requests::get(&mut call.tx, id, &call.reach).await?)?))
}

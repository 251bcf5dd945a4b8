//! `GET /pools/{id}`.

use api_types::pool::Pool;
use domain::PoolId;

use crate::auth::Call;
use crate::auth::policy::ManagePools;
use crate::error::Result;
use crate::path::Id;
use crate::pools::view;
use crate::reply::Reply;

/// A pool with its members, and what each of them uses of it in the present period.
#[utoipa::path(get, path = "/pools/{id}", operation_id = "read_pool", tag = "pools",
    params(("id" = PoolId, Path, description = "The pool.")),
    responses((status = 200, description = "The pool.", body = Pool, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ManagePools>, Id(id): Id<PoolId>) -> Result<Reply<Pool>> {
    let pool = store::pools::get(&mut call.tx, id).await?;
    let members = store::pools::members(&mut call.tx, id).await?;
    let version = pool.version;
    Ok(Reply::ok(view(&call.app, &mut call.tx, pool, Some(members)).await?).version(version))
}

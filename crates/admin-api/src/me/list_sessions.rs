//! `GET /me/sessions`.

use api_types::Page;
use api_types::person::OwnSession;

use crate::auth::Call;
use crate::auth::policy::AnyPerson;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::me::who;
use crate::reply::Reply;

/// Lists one's own live sessions.
#[utoipa::path(get, path = "/me/sessions", operation_id = "list_own_sessions", tag = "people", params(ByCreation),
    responses((status = 200, description = "A page of sessions.", body = Page<OwnSession>)))]
pub async fn handler(mut call: Call<AnyPerson>, Query(query): Query<ByCreation>) -> Result<Reply<Page<OwnSession>>> {
    let (user, current) = who(&call.caller)?;
    let rows = store::sessions::list(&mut call.tx, user.id, query.window()?).await?;
    let view = |session: store::sessions::Session| {
        Ok(OwnSession {
            id: session.id,
            current: session.id == current,
            created_at: session.created_at.into(),
            last_seen_at: session.last_seen_at.into(),
            address: session.address,
            agent: session.agent,
        })
    };
    Ok(Reply::ok(query.page(rows, |session| session.id.uuid(), view)?))
}

//! `POST /invitations/look-up`.

use std::time::Instant;

use api_types::person::{Invitation, LookUpInvitation};
use store::mailed_tokens::{self, Purpose};

use crate::auth::{Open, mailed};
use crate::body::Json;
use crate::error::Result;
use crate::reply::Reply;
use crate::users::view;

/// Shows what an invitation is for. The token stays good.
#[utoipa::path(post, path = "/invitations/look-up", operation_id = "look_up_invitation", tag = "people",
    request_body = LookUpInvitation,
    responses((status = 200, description = "The invitation.", body = Invitation)))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<LookUpInvitation>) -> Result<Reply<Invitation>> {
    open.app.throttle().take("invitation", &open.meta.address, true, Instant::now())?;
    let mut tx = open.begin().await?;
    let hash = mailed::hash(&open.app, &body.token);
    let found = mailed_tokens::find(&mut tx, Purpose::Invitation, &hash).await.map_err(mailed::or_wrong)?;
    let user = view(&store::users::get(&mut tx, found.user_id).await?)?;
    open.app.throttle().give_back("invitation", &open.meta.address, true);
    Ok(Reply::ok(Invitation { email: user.email, role: user.role, expires_at: found.expires_at.into() }))
}

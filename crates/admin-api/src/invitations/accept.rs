//! `POST /invitations/accept`.

use std::time::Instant;

use api_types::person::AcceptInvitation;
use api_types::session::User;
use store::mailed_tokens::{self, Purpose};

use crate::auth::{Audit, Open, mailed};
use crate::body::Json;
use crate::error::Result;
use crate::reply::Reply;
use crate::setup::password;
use crate::users::view;
use crate::validate::Fields;

/// Accepts an invitation: sets name and password, and uses the token up. The person signs in afterwards.
#[utoipa::path(post, path = "/invitations/accept", operation_id = "accept_invitation", tag = "people",
    request_body = AcceptInvitation,
    responses((status = 200, description = "The person, who can sign in now.", body = User)))]
pub async fn handler(open: Open, Json { value: body, .. }: Json<AcceptInvitation>) -> Result<Reply<User>> {
    let mut fields = Fields::new();
    let name = fields.text("name", &body.name, 200);
    password::check(&mut fields, "password", &body.password);
    fields.done()?;
    open.app.throttle().take("invitation", &open.meta.address, true, Instant::now())?;
    let token = mailed::hash(&open.app, &body.token);
    // Before a password is hashed for nothing, and without a connection while it is.
    mailed_tokens::find(&mut *open.begin().await?, Purpose::Invitation, &token).await.map_err(mailed::or_wrong)?;
    let hash = password::hash(body.password).await?;
    let mut tx = open.begin().await?;
    let id = mailed_tokens::consume(&mut tx, Purpose::Invitation, &token).await.map_err(mailed::or_wrong)?;
    let before = store::users::get(&mut tx, id).await?;
    if !store::users::accept(&mut tx, id, &name, &hash).await? {
        return Err(mailed::wrong());
    }
    let after = view(&store::users::get(&mut tx, id).await?)?;
    let audit = Audit::new("user.accept", id).of_maybe(before.tenant_id).before(&view(&before)?).after(&after);
    open.commit(tx, &id.to_string(), audit).await?;
    open.app.throttle().give_back("invitation", &open.meta.address, true);
    Ok(Reply::ok(after))
}

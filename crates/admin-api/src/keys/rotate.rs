//! `POST /keys/{k}/rotate`.

use api_types::key::RotateSecret;
use api_types::webhook::RotatedSecret;
use domain::KeyId;
use domain::api_key::{KeyKind, KeyText};
use serde_json::json;

use crate::auth::policy::WriteKeys;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::keys::{fields, status};
use crate::path::Id;
use crate::reply::Reply;

/// Gives the key another secret, which is in this reply and nowhere else. The present one works until the grace ends;
/// limits, budget and what was spent stay with the key.
#[utoipa::path(post, path = "/keys/{k}/rotate", operation_id = "rotate_key", tag = "keys", request_body = RotateSecret,
    params(("k" = KeyId, Path, description = "The key.")),
    responses((status = 200, description = "The new secret.", body = RotatedSecret)))]
pub async fn handler(
    mut call: Call<WriteKeys>,
    Id(id): Id<KeyId>,
    Json { value: body, .. }: Json<RotateSecret>,
) -> Result<Reply<RotatedSecret>> {
    let old_valid_until = fields::end_of_grace(&body)?;
    let (key, tenant) = status::find(&mut call, id).await?;
    if key.status != "active" {
        return Err(Error::conflict("the key is disabled: enable it first, or make another"));
    }
    let secret = KeyText::generate(KeyKind::Api, &rand::random());
    let hash = secret.hash(call.app.secret());
    store::keys::rotate(&mut call.tx, id, &hash, secret.shown(), old_valid_until).await?;
    let reply = RotatedSecret { secret: secret.expose().to_owned(), old_valid_until: old_valid_until.into() };
    let audit = Audit::new("key.rotate", id).of(tenant.id).before(&json!({ "prefix": key.prefix }));
    let after = json!({ "prefix": secret.shown(), "old_valid_until": reply.old_valid_until });
    call.commit(audit.after(&after)).await?;
    Ok(Reply::ok(reply))
}

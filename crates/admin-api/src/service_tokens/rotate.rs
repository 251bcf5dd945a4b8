//! `POST /service-tokens/{id}/rotate`.

use api_types::key::RotateSecret;
use api_types::webhook::RotatedSecret;
use domain::api_key::{KeyKind, KeyText};
use domain::ids::ServiceTokenId;
use serde_json::json;

use crate::auth::policy::ManageServiceTokens;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::keys::fields;
use crate::path::Id;
use crate::reply::Reply;

/// Gives the token another secret, which is in this reply and nowhere else. The present one works until the grace ends.
#[utoipa::path(post, path = "/service-tokens/{id}/rotate", operation_id = "rotate_service_token", tag = "service tokens",
    request_body = RotateSecret, params(("id" = ServiceTokenId, Path, description = "The token.")),
    responses((status = 200, description = "The new secret.", body = RotatedSecret)))]
pub async fn handler(
    mut call: Call<ManageServiceTokens>,
    Id(id): Id<ServiceTokenId>,
    Json { value: body, .. }: Json<RotateSecret>,
) -> Result<Reply<RotatedSecret>> {
    let old_valid_until = fields::end_of_grace(&body)?;
    let secret = KeyText::generate(KeyKind::Service, &rand::random());
    let hash = secret.hash(call.app.secret());
    let token = store::service_tokens::rotate(&mut call.tx, id, &hash, secret.shown(), old_valid_until).await?;
    let reply = RotatedSecret { secret: secret.expose().to_owned(), old_valid_until: old_valid_until.into() };
    let after = json!({ "prefix": token.prefix, "old_valid_until": reply.old_valid_until });
    call.commit(Audit::new("service_token.rotate", id).after(&after)).await?;
    Ok(Reply::ok(reply))
}

//! `POST /service-tokens`.

use api_types::service_token::{CreateServiceToken, ServiceToken};
use domain::api_key::{KeyKind, KeyText};
use store::Reach;
use store::service_tokens::NewServiceToken;
use time::OffsetDateTime;

use crate::auth::policy::ManageServiceTokens;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::service_tokens::view;
use crate::validate::Fields;

/// Makes a token. Its secret is in this reply and nowhere else.
#[utoipa::path(post, path = "/service-tokens", operation_id = "create_service_token", tag = "service tokens",
    request_body = CreateServiceToken,
    responses((status = 201, description = "The token with its secret.", body = ServiceToken)))]
pub async fn handler(
    mut call: Call<ManageServiceTokens>,
    Json { value: body, .. }: Json<CreateServiceToken>,
) -> Result<Reply<ServiceToken>> {
    let name = check(&mut call, &body).await?;
    let secret = KeyText::generate(KeyKind::Service, &rand::random());
    let mut scopes: Vec<String> = body.scopes.iter().map(ToString::to_string).collect();
    scopes.sort();
    scopes.dedup();
    let new = NewServiceToken {
        name: &name,
        secret_hash: &secret.hash(call.app.secret()),
        prefix: secret.shown(),
        scopes: &scopes,
        tenant_ids: body.tenant_ids.as_deref(),
        expires_at: body.expires_at.map(Into::into),
    };
    let mut token = view(store::service_tokens::create(&mut call.tx, &new).await?);
    call.commit(Audit::new("service_token.create", token.id).after(&token)).await?;
    token.secret = Some(secret.expose().to_owned());
    Ok(Reply::created(&format!("/service-tokens/{}", token.id), token))
}

async fn check(call: &mut Call<ManageServiceTokens>, body: &CreateServiceToken) -> Result<String> {
    let mut fields = Fields::new();
    let name = fields.text("name", &body.name, 200);
    fields.check(!body.scopes.is_empty(), "scopes", "required", "name at least one scope");
    let in_future = body.expires_at.is_none_or(|at| at.instant() > OffsetDateTime::now_utc());
    fields.check(in_future, "expires_at", "out_of_range", "must be in the future");
    let tenants = body.tenant_ids.as_deref().unwrap_or_default();
    let some = body.tenant_ids.is_none() || (1..=1000).contains(&tenants.len());
    fields.check(some, "tenant_ids", "out_of_range", "name 1 to 1000 tenants, or leave it out for every tenant");
    for (index, id) in tenants.iter().enumerate().take(1000) {
        match store::tenants::get(&mut call.tx, *id, &Reach::All).await {
            Err(store::Error::NotFound) => {
                fields.refuse(&format!("tenant_ids[{index}]"), "not_found", "there is no such tenant")
            }
            Err(other) => return Err(Error::from(other)),
            Ok(_) => {}
        }
    }
    fields.done()?;
    Ok(name)
}

//! `POST /users`.

use api_types::person::InviteUser;
use api_types::session::{Locale, User};
use domain::TenantId;
use store::Reach;
use store::mailed_tokens::Purpose;
use store::users::NewInvited;

use crate::auth::policy::ManagePeople;
use crate::auth::{Audit, Call, mailed};
use crate::body::Json;
use crate::error::Result;
use crate::reply::Reply;
use crate::setup::password;
use crate::users::{is_tenant_role, view};
use crate::validate::Fields;

/// Invites a person: a mail with a link brings them to set a password, within 7 days.
#[utoipa::path(post, path = "/users", operation_id = "create_user", tag = "people", request_body = InviteUser,
    responses((status = 201, description = "The person, invited.", body = User)))]
pub async fn handler(mut call: Call<ManagePeople>, Json { value: body, .. }: Json<InviteUser>) -> Result<Reply<User>> {
    let mut fields = Fields::new();
    let email = password::email(&mut fields, "email", &body.email);
    let tenant_id = tenant(&mut call, &mut fields, &body).await?;
    fields.done()?;
    let locale = body.locale.unwrap_or(Locale::En);
    let new = NewInvited { email: &email, role: body.role.as_str(), tenant_id, locale: locale.as_str() };
    let user = store::users::invite(&mut call.tx, &new).await?;
    mailed::send(&call.app, &mut call.tx, user.id, Purpose::Invitation).await?;
    let view = view(&user)?;
    call.commit(Audit::new("user.invite", user.id).of_maybe(tenant_id).after(&view)).await?;
    Ok(Reply::created(&format!("/users/{}", view.id), view))
}

/// The tenant of the new person: none for a role of the platform, which only the platform's people give.
async fn tenant(call: &mut Call<ManagePeople>, fields: &mut Fields, body: &InviteUser) -> Result<Option<TenantId>> {
    if !is_tenant_role(body.role) {
        let platform = call.reach == Reach::All;
        fields.check(platform, "role", "invalid", "must be tenant_owner or tenant_viewer");
        fields.check(body.tenant_id.is_none(), "tenant_id", "invalid", "a role of the platform has no tenant");
        return Ok(None);
    }
    let id = match (body.tenant_id, &call.reach) {
        (Some(id), _) => Some(id),
        (None, Reach::Tenants(ids)) => ids.first().copied(),
        (None, Reach::All) => None,
    };
    let Some(id) = id else {
        fields.refuse("tenant_id", "required", "a role of a tenant needs its tenant");
        return Ok(None);
    };
    match store::tenants::get(&mut call.tx, id, &call.reach).await {
        Err(store::Error::NotFound) => {
            fields.refuse("tenant_id", "not_found", "there is no such tenant, or it is not yours");
        }
        other => drop(other?),
    }
    Ok(Some(id))
}

//! `PATCH /users/{usr}`.

use api_types::person::ChangeUser;
use api_types::session::{Role, User, UserStatus};
use domain::ids::UserId;
use store::users::User as Row;

use crate::auth::policy::ManagePeople;
use crate::auth::{Audit, Call, Caller};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::path::Id;
use crate::reply::Reply;
use crate::users::{is_tenant_role, keep_an_owner, view};
use crate::validate::Fields;

/// Changes a person, in force at once. The last owner stays one.
#[utoipa::path(patch, path = "/users/{usr}", operation_id = "change_user", tag = "people", request_body = ChangeUser,
    params(("usr" = UserId, Path, description = "The person.")),
    responses((status = 200, description = "The person.", body = User)))]
pub async fn handler(
    mut call: Call<ManagePeople>,
    Id(id): Id<UserId>,
    Json { value: body, .. }: Json<ChangeUser>,
) -> Result<Reply<User>> {
    let before = store::users::get_within(&mut call.tx, id, &call.reach).await?;
    let row = apply(&before, &body)?;
    if row.role != before.role || row.status != before.status {
        keep_an_owner(&mut call.tx, &before, &call.reach).await?;
    }
    if body.totp == Some(false) {
        let own = matches!(&call.caller, Caller::Person { user, .. } if user.id == id);
        if own {
            return Err(Error::conflict("remove your own second factor with DELETE /me/totp and a code"));
        }
        store::totp::remove(&mut call.tx, id).await?;
    }
    if row.status == "disabled" {
        store::sessions::end_others(&mut call.tx, id, None).await?;
    }
    let after = view(&store::users::update(&mut call.tx, &row).await?)?;
    let audit = Audit::new("user.change", id).of_maybe(before.tenant_id).before(&view(&before)?);
    call.commit(audit.after(&after)).await?;
    Ok(Reply::ok(after))
}

fn apply(before: &Row, body: &ChangeUser) -> Result<Row> {
    let (mut fields, mut row) = (Fields::new(), before.clone());
    if let Some(name) = &body.name {
        row.name = fields.text("name", name, 200);
    }
    if let Some(role) = body.role {
        let was: Role = before.role.parse().map_err(|_| Error::internal("a role that this version does not know"))?;
        let same = is_tenant_role(was) == is_tenant_role(role);
        fields.check(same, "role", "invalid", "people of the platform stay so, and people of a tenant too");
        row.role = role.to_string();
    }
    if let Some(locale) = body.locale {
        row.locale = locale.to_string();
    }
    match body.status {
        Some(UserStatus::Disabled) => row.status = UserStatus::Disabled.to_string(),
        // Without a password nobody is active yet.
        Some(UserStatus::Active) if before.password_hash.is_some() => row.status = UserStatus::Active.to_string(),
        Some(UserStatus::Active) => row.status = UserStatus::Invited.to_string(),
        Some(UserStatus::Invited) => fields.refuse("status", "invalid", "must be active or disabled"),
        None => {}
    }
    let removes = body.totp != Some(true);
    fields.check(removes, "totp", "invalid", "must be false: people set up a second factor themselves");
    fields.done()?;
    Ok(row)
}

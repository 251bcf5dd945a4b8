//! Suspending and resuming have one way.

use api_types::tenant::{Reason, Tenant};
use domain::{Scope, Status, TenantId};

use crate::auth::policy::WriteTenants;
use crate::auth::{Audit, Call};
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::tenants::view;
use crate::validate::Fields;
use crate::{force, numbers};

/// Sets the status of tenant and account; what is there already changes nothing.
///
/// # Errors
/// 409 for a closed tenant.
pub async fn set(
    mut call: Call<WriteTenants>,
    id: TenantId,
    reason: &Reason,
    status: Status,
    action: &'static str,
) -> Result<Reply<Tenant>> {
    let mut fields = Fields::new();
    let reason = fields.text("reason", &reason.reason, 1000);
    fields.done()?;
    let before = store::tenants::lock(&mut call.tx, id, &call.reach).await?;
    if before.status == Status::Closed.as_str() {
        return Err(Error::conflict("the tenant is closed, for good"));
    }
    let scope = Scope::Tenant(id);
    let was = before.status.clone();
    // What the reconciler has halted goes on with a resume, whatever level it is.
    let halted = match status {
        Status::Active => store::scopes::halted(&mut call.tx, id).await?,
        _ => Vec::new(),
    };
    let tenant = if was == status.as_str() && halted.is_empty() {
        before
    } else {
        let change = store::accounts::Change { status: Some(status), ..store::accounts::Change::default() };
        for scope in halted.iter().filter(|halted| **halted != scope).chain([&scope]) {
            store::accounts::change(&mut call.tx, scope, &change).await?;
        }
        if status == Status::Suspended {
            let data = serde_json::json!({ "tenant_id": id, "name": before.name, "reason": reason });
            let event = store::outbox::NewEvent {
                kind: "tenant.suspended",
                tenant_id: Some(id),
                webhook_id: None,
                scope: None,
                data,
            };
            store::outbox::append(&mut call.tx, &event).await?;
        }
        store::tenants::set_status(&mut call.tx, id, status.as_str()).await?
    };
    let quota = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
    let version = tenant.version;
    let mut view = view(tenant, quota)?;
    let after = serde_json::json!({ "status": view.status, "reason": reason });
    let before =
        serde_json::json!({ "status": was, "halted": halted.iter().map(ToString::to_string).collect::<Vec<_>>() });
    let audit = Audit::new(action, id).of(id).before(&before).after(&after);
    let app = call.commit(audit).await?;
    let mut changed = halted;
    changed.push(scope);
    changed.dedup();
    view.in_force = Some(force::push(&app, id, &changed).await);
    Ok(Reply::ok(view).version(version))
}

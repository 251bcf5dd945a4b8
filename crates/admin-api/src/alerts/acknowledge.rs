//! `POST /alerts/{id}/acknowledge`.

use api_types::alert::{Acknowledge, Alert};
use domain::AlertId;

use crate::alerts::view;
use crate::auth::policy::AcknowledgeAlerts;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::validate::Fields;

/// Takes note of an alert. It stays open as long as it holds.
#[utoipa::path(post, path = "/alerts/{al}/acknowledge", operation_id = "acknowledge_alert", tag = "alerts", request_body = Acknowledge,
    params(("al" = AlertId, Path, description = "The alert.")),
    responses((status = 200, description = "The alert.", body = Alert)))]
pub async fn handler(
    mut call: Call<AcknowledgeAlerts>,
    Id(id): Id<AlertId>,
    Json { value: body, .. }: Json<Acknowledge>,
) -> Result<Reply<Alert>> {
    let mut fields = Fields::new();
    let note = fields.note("note", &body.note, 1000);
    fields.done()?;
    let before = view(store::alerts::get(&mut call.tx, id, &call.reach).await?)?;
    let actor = call.caller.actor();
    store::alerts::acknowledge(&mut call.tx, id, &actor, &note).await?;
    let after = view(store::alerts::get(&mut call.tx, id, &call.reach).await?)?;
    let said = serde_json::json!({ "note": note });
    call.commit(Audit::new("alert.acknowledge", id).of(before.tenant_id).after(&said)).await?;
    Ok(Reply::ok(after))
}

//! What is told of keys; commits with the change.

use api_types::key::Key;
use serde_json::json;
use store::outbox::NewEvent;

use crate::auth::Call;
use crate::auth::policy::WriteKeys;
use crate::error::Result;

/// A key was created.
///
/// # Errors
/// Those of the store.
pub async fn created(call: &mut Call<WriteKeys>, key: &Key) -> Result<()> {
    let data = json!({
        "tenant_id": key.tenant_id, "project_id": key.project_id, "key_id": key.id, "name": key.name, "prefix": key.prefix,
    });
    let tenant_id = Some(key.tenant_id);
    let event = NewEvent { kind: "key.created", tenant_id, webhook_id: None, scope: None, data };
    store::outbox::append(&mut call.tx, &event).await?;
    Ok(())
}

/// A key stopped working: `disabled` or `deleted`.
///
/// # Errors
/// Those of the store.
pub async fn revoked(call: &mut Call<WriteKeys>, key: &store::keys::Key, reason: &'static str) -> Result<()> {
    let data = json!({
        "tenant_id": key.tenant_id, "project_id": key.project_id, "key_id": key.id, "name": key.name, "prefix": key.prefix,
        "reason": reason,
    });
    let tenant_id = Some(key.tenant_id);
    let event = NewEvent { kind: "key.revoked", tenant_id, webhook_id: None, scope: None, data };
    store::outbox::append(&mut call.tx, &event).await?;
    Ok(())
}

//! The audit log: read and exported. It is written with each change, by [`crate::auth::Call::commit`].

pub mod export;
pub mod list;

use api_types::audit::AuditEntry;
use store::audit::Written;

/// An entry as the API shows it.
pub fn view(entry: Written) -> AuditEntry {
    AuditEntry {
        id: entry.id,
        at: entry.at.into(),
        actor: entry.actor,
        action: entry.action,
        target: entry.target,
        tenant_id: entry.tenant_id,
        before: entry.before,
        after: entry.after,
        address: entry.address,
        request_id: entry.request_id,
    }
}

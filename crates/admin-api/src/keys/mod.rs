//! API keys of a project.

pub mod change;
pub mod create;
pub mod delete;
pub mod disable;
pub mod enable;
mod events;
pub mod fields;
pub mod list;
pub mod read;
pub mod rotate;
pub mod status;

use api_types::key::Key;
use api_types::{Factor, Numbers};
use domain::Unit;

use crate::error::{Error, Result};
use crate::limits;
use crate::projects::budget_view;

/// A key as the API shows it, without its secret.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(key: store::keys::Key, unit: Unit, quota: Numbers) -> Result<Key> {
    Ok(Key {
        id: key.id,
        secret: None,
        prefix: key.prefix,
        tenant_id: key.tenant_id,
        project_id: key.project_id,
        name: key.name,
        status: key.status.parse().map_err(|_| Error::internal("a key's status that this version does not know"))?,
        budget: key.budget.map(|budget| budget_view(&budget, unit)).transpose()?,
        models: key.models,
        ip_ranges: key.ip_ranges,
        expires_at: key.expires_at.map(Into::into),
        safety_factor: key.safety_factor.map(Factor::from_text),
        limits: limits::view(&key.limits, unit)?,
        windows: None,
        quota,
        last_used_at: key.last_used_at.map(Into::into),
        created_at: key.created_at.into(),
        version: key.version,
        in_force: None,
    })
}

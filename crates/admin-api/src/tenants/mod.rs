//! Tenants.

pub mod change;
pub mod close;
pub mod create;
pub mod list;
pub mod plan;
pub mod quota;
pub mod read;
pub mod resume;
pub mod settings;
pub mod status;
pub mod suspend;

use api_types::Numbers;
use api_types::pool::PoolSetting;
use api_types::tenant::{Period, Settings, Tenant};

use crate::error::{Error, Result};
use crate::numbers::unit;
use crate::tenants::settings::StoredSettings;

/// A tenant as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(tenant: store::tenants::Tenant, quota: Numbers) -> Result<Tenant> {
    let unknown = |what| move |_| Error::internal(format_args!("a {what} that this version does not know"));
    let unit = unit(&tenant)?;
    let pool = tenant.pool.map(|(id, weight)| PoolSetting { id, weight: weight.unsigned_abs() });
    Ok(Tenant {
        id: tenant.id,
        status: tenant.status.parse().map_err(unknown("tenant's status"))?,
        unit,
        period: Period { kind: tenant.period_kind.parse().map_err(unknown("period"))?, anchor: tenant.period_anchor },
        quota,
        settings: Settings { pool, ..StoredSettings::read(&tenant)?.view(unit)? },
        windows: None,
        name: tenant.name,
        external_id: tenant.external_id,
        time_zone: tenant.time_zone,
        created_at: tenant.created_at.into(),
        last_used_at: tenant.last_used_at.map(Into::into),
        version: tenant.version,
        in_force: None,
    })
}

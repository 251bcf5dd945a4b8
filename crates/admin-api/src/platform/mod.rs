//! The whole platform: figures, services, settings.

pub mod change_settings;
pub mod overview;
pub mod settings;
pub mod system;

use api_types::platform::{PlatformSettings, Retention, TenantDefaults};
use store::platform::Settings;

use crate::error::{Error, Result};

/// The settings as the API shows them.
///
/// # Errors
/// 500 for stored thresholds that are none.
pub fn view(settings: &Settings) -> Result<PlatformSettings> {
    Ok(PlatformSettings {
        mail_from: settings.mail_from.clone(),
        defaults: TenantDefaults { time_zone: settings.default_time_zone.clone(), thresholds: thresholds(settings)? },
        retention: Retention {
            usage_records_days: settings.keep_usage_records_days,
            events_days: settings.keep_events_days,
            snapshots_days: settings.keep_snapshots_days,
        },
        version: settings.version,
    })
}

/// The thresholds of tenants that are created without their own.
///
/// # Errors
/// 500 for stored thresholds that are none.
pub fn thresholds(settings: &Settings) -> Result<Vec<u32>> {
    let percent = |percent: &i32| u32::try_from(*percent).map_err(Error::internal);
    settings.default_thresholds.iter().map(percent).collect()
}

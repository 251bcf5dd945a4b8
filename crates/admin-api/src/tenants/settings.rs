//! A tenant's settings: as stored (the domain's form), as shown, and what of them stands on its account.

use api_types::tenant::{OverdraftSetting, Settings, SettingsChange};
use api_types::{Decimal, Factor};
use domain::amount_text::AmountText;
use domain::settings::TenantSettings;
use domain::{Amount, LimitSet, Unit};
use serde_json::Value;
use store::tenants::Tenant;

use crate::error::{Error, Result};
use crate::limits;
use crate::validate::Fields;

/// A tenant's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredSettings(TenantSettings);

impl StoredSettings {
    /// Reads a tenant's.
    ///
    /// # Errors
    /// 500 for stored settings that this version does not understand.
    pub fn read(tenant: &Tenant) -> Result<Self> {
        serde_json::from_value(tenant.settings.clone()).map(Self).map_err(Error::internal)
    }

    /// Percent used at which the tenant is warned.
    pub fn set_thresholds(&mut self, thresholds: Vec<u32>) {
        self.0.thresholds = thresholds;
    }

    /// Applies a change; what is wrong is refused by field.
    ///
    /// # Errors
    /// Never in practice: the change is JSON.
    pub fn apply(&mut self, change: &SettingsChange, unit: Unit, fields: &mut Fields) -> Result<()> {
        let mut patch = serde_json::to_value(change).map_err(Error::internal)?;
        if let Some(patch) = patch.as_object_mut() {
            // A pool is no setting of the tenant's row: see `pools::place`.
            patch.retain(|name, value| !value.is_null() && name != "pool");
        }
        match self.0.patched(&patch, unit) {
            Ok(settings) => self.0 = settings,
            Err(errors) => errors.into_iter().for_each(|error| fields.refuse(&error.field, error.code, error.message)),
        }
        Ok(())
    }

    /// As the API shows them.
    ///
    /// # Errors
    /// 500 for a stored amount that is none.
    pub fn view(&self, unit: Unit) -> Result<Settings> {
        let decimal =
            |text: &AmountText| text.amount(unit).map(|amount| Decimal::of(amount, unit)).map_err(Error::internal);
        let limit = self.0.overdraft.limit.as_ref().map(decimal).transpose()?;
        Ok(Settings {
            overdraft: OverdraftSetting {
                enabled: self.0.overdraft.enabled,
                limit,
                percent: self.0.overdraft.percent_in_force(),
            },
            credit_limit: decimal(&self.0.credit_limit)?,
            hard_stop: self.0.hard_stop,
            thresholds: self.0.thresholds.clone(),
            settle_tolerance: Factor::from_text(self.0.settle_tolerance.to_string()),
            multiplier: Factor::from_text(self.multiplier()),
            outage: self.0.outage.clone(),
            limits: limits::view(&self.0.limits, unit)?,
            drain_on_abort: self.0.drain_on_abort,
            pool: None,
        })
    }

    /// For `tenants.multiplier`.
    #[must_use]
    pub fn multiplier(&self) -> String {
        self.0.multiplier.to_string()
    }

    /// For `tenants.settings`.
    ///
    /// # Errors
    /// Never in practice.
    pub fn json(&self) -> Result<Value> {
        serde_json::to_value(&self.0).map_err(Error::internal)
    }

    /// The limits beside the quota, in units, for the account.
    ///
    /// # Errors
    /// 500 for a stored amount that is none.
    pub fn limits(&self, unit: Unit) -> Result<LimitSet> {
        self.0.limits.in_units(unit).map_err(Error::internal)
    }

    /// What the account may spend beyond its total: credit line and overdraft. A hard stop allows neither.
    ///
    /// # Errors
    /// 500 for a stored amount that is none.
    pub fn beyond_total(&self, unit: Unit) -> Result<BeyondTotal> {
        let credit_limit = self.0.credit_limit(unit).map_err(Error::internal)?;
        let overdraft_limit = self.0.overdraft_limit(Amount::ZERO, unit).map_err(Error::internal)?;
        let overdraft_percent = self.0.overdraft.percent_in_force().filter(|_| !self.0.hard_stop);
        Ok(BeyondTotal { credit_limit, overdraft_limit, overdraft_percent })
    }
}

/// What a tenant may spend beyond its total.
#[derive(Debug, Clone, Copy)]
pub struct BeyondTotal {
    /// Credit line.
    pub credit_limit: Amount,
    /// Overdraft as an amount.
    pub overdraft_limit: Amount,
    /// Overdraft as percent of the total, which then takes the amount's place.
    pub overdraft_percent: Option<u32>,
}

//! The form's content, from a tenant and back to the change that the API takes.

use api_types::Factor;
use api_types::tenant::{ChangeTenant, OverdraftSetting, SettingsChange, Tenant};
use domain::settings::{OutageMode, OutageStep};
use leptos::prelude::*;

use crate::pages::form::{Form, Whole, filled, lines, typed};
use crate::pages::limits_fields::LimitsTyped;
use crate::pages::tenant::wire;

/// A step of what happens while the ledger is away.
#[derive(Debug, Clone, Copy)]
pub struct StepTyped {
    /// Tells it from the others while some come and go.
    pub number: usize,
    /// The mode's word.
    pub mode: RwSignal<String>,
    /// Seconds; empty: until the ledger is back.
    pub for_s: RwSignal<String>,
}

impl StepTyped {
    /// A step as it is stored.
    #[must_use]
    pub fn of(number: usize, step: &OutageStep) -> Self {
        let for_s = step.for_s.map(|seconds| seconds.to_string()).unwrap_or_default();
        Self { number, mode: typed(step.mode.as_str()), for_s: typed(for_s) }
    }
}

/// The whole form.
#[derive(Clone, Copy)]
pub struct SettingsTyped {
    /// Name.
    pub name: RwSignal<String>,
    /// The billing system's id.
    pub external_id: RwSignal<String>,
    /// IANA name.
    pub time_zone: RwSignal<String>,
    /// A factor.
    pub multiplier: RwSignal<String>,
    /// An amount.
    pub credit_limit: RwSignal<String>,
    /// Whether there is an overdraft.
    pub overdraft: RwSignal<bool>,
    /// `percent` or `amount`.
    pub overdraft_as: RwSignal<&'static str>,
    /// Whole percent of the total.
    pub percent: RwSignal<String>,
    /// An amount.
    pub limit: RwSignal<String>,
    /// Whether neither counts.
    pub hard_stop: RwSignal<bool>,
    /// Whole percentages.
    pub thresholds: RwSignal<String>,
    /// A factor.
    pub tolerance: RwSignal<String>,
    /// The six limits.
    pub limits: LimitsTyped,
    /// In order.
    pub outage: RwSignal<Vec<StepTyped>>,
}

impl SettingsTyped {
    /// What is stored.
    #[must_use]
    pub fn of(tenant: &Tenant) -> Self {
        let settings = &tenant.settings;
        let overdraft = &settings.overdraft;
        let thresholds: Vec<String> = settings.thresholds.iter().map(ToString::to_string).collect();
        let steps = settings.outage.iter().enumerate().map(|(number, step)| StepTyped::of(number, step)).collect();
        Self {
            name: typed(tenant.name.clone()),
            external_id: typed(tenant.external_id.clone().unwrap_or_default()),
            time_zone: typed(tenant.time_zone.clone()),
            multiplier: typed(settings.multiplier.to_string()),
            credit_limit: typed(settings.credit_limit.to_string()),
            overdraft: RwSignal::new(overdraft.enabled),
            overdraft_as: RwSignal::new(if overdraft.limit.is_some() { "amount" } else { "percent" }),
            percent: typed(overdraft.percent.unwrap_or(20).to_string()),
            limit: typed(overdraft.limit.as_ref().map(ToString::to_string).unwrap_or_default()),
            hard_stop: RwSignal::new(settings.hard_stop),
            thresholds: typed(thresholds.join(", ")),
            tolerance: typed(settings.settle_tolerance.to_string()),
            limits: LimitsTyped::of(&settings.limits),
            outage: RwSignal::new(steps),
        }
    }

    /// The change, or `None` where the form has refused something.
    #[must_use]
    pub fn change(self, form: Form) -> Option<ChangeTenant> {
        let mut whole = Whole::default();
        let overdraft = self.overdraft(&mut whole);
        let thresholds = self.thresholds(&mut whole);
        let outage = self.outage(&mut whole);
        let factor = |value: RwSignal<String>| filled(value).map(Factor::from_text);
        let change = ChangeTenant {
            name: Some(self.name.get_untracked().trim().to_owned()),
            external_id: Some(filled(self.external_id)),
            time_zone: Some(self.time_zone.get_untracked()),
            settings: Some(SettingsChange {
                overdraft: Some(overdraft),
                credit_limit: Some(wire::amount(&filled(self.credit_limit).unwrap_or_else(|| "0".to_owned()))),
                hard_stop: Some(self.hard_stop.get_untracked()),
                thresholds: Some(thresholds),
                settle_tolerance: factor(self.tolerance),
                multiplier: factor(self.multiplier),
                outage: Some(outage),
                limits: Some(self.limits.value()),
                // These stay as they are.
                drain_on_abort: None,
                pool: None,
            }),
        };
        whole.fits(form).then_some(change)
    }

    fn overdraft(self, whole: &mut Whole) -> OverdraftSetting {
        let enabled = self.overdraft.get_untracked();
        let by_amount = self.overdraft_as.get_untracked() == "amount";
        let limit = filled(self.limit).filter(|_| by_amount).map(|text| wire::amount(&text));
        if enabled && by_amount && limit.is_none() {
            whole.refuse("settings.overdraft.limit", "required");
        }
        let percent = if by_amount { None } else { whole.read("settings.overdraft.percent", self.percent) };
        OverdraftSetting { enabled, limit, percent }
    }

    fn thresholds(self, whole: &mut Whole) -> Vec<u32> {
        let read = |text: String| text.trim_end_matches('%').parse().ok();
        let texts = lines(self.thresholds).unwrap_or_default();
        let numbers: Option<Vec<u32>> = texts.into_iter().map(read).collect();
        if numbers.is_none() {
            whole.refuse("settings.thresholds", "not_number");
        }
        numbers.unwrap_or_default()
    }

    fn outage(self, whole: &mut Whole) -> Vec<OutageStep> {
        let one = |step: StepTyped| {
            let word = step.mode.get_untracked();
            let known = [OutageMode::Deny, OutageMode::Allowance, OutageMode::Bypass];
            let mode = known.into_iter().find(|mode| mode.as_str() == word).unwrap_or(OutageMode::Deny);
            OutageStep { mode, for_s: whole.read("settings.outage", step.for_s) }
        };
        self.outage.get_untracked().into_iter().map(one).collect()
    }
}

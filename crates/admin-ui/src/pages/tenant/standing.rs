//! What state a tenant is in, from its status and its numbers.

use api_types::tenant::{Tenant, TenantStatus};
use leptos::prelude::*;

use crate::components::badge::{Badge, Tone};
use crate::figures::{Figures, Standing};
use crate::i18n::language;

/// The tenant's numbers as integers; `None` where the API sent something that is no amount.
#[must_use]
pub fn figures_of(tenant: &Tenant) -> Option<Figures> {
    let credit = tenant.settings.credit_limit.amount(tenant.unit).ok()?;
    Figures::read(&tenant.quota, credit).ok()
}

/// The class of the tenant's row in a list.
#[must_use]
pub fn row_class(tenant: &Tenant, figures: Option<&Figures>) -> &'static str {
    if tenant.status != TenantStatus::Active {
        return "off";
    }
    match figures.map(Figures::state) {
        Some(Standing::Debt | Standing::Dry) => "bad",
        Some(Standing::Overdraft) => "warn",
        _ => "",
    }
}

/// The tenant's state in a word.
#[component]
pub fn TenantBadge(
    /// The tenant.
    tenant: Tenant,
) -> impl IntoView {
    let t = language();
    let (tone, words) = match (tenant.status, figures_of(&tenant).map(|figures| figures.state())) {
        (TenantStatus::Suspended, _) => (Tone::Held, t.suspended()),
        (TenantStatus::Closed, _) => (Tone::Neutral, t.closed()),
        (TenantStatus::Active, Some(Standing::Debt)) => (Tone::Bad, t.in_debt()),
        (TenantStatus::Active, Some(Standing::Dry)) => (Tone::Bad, t.dry()),
        (TenantStatus::Active, Some(Standing::Overdraft)) => (Tone::Warn, t.in_overdraft()),
        (TenantStatus::Active, Some(Standing::Low)) => (Tone::Warn, t.low()),
        (TenantStatus::Active, _) => (Tone::Ok, t.active()),
    };
    view! { <Badge tone=tone text=words/> }
}

//! What the tenant may spend beyond its total, and how.

use api_types::grant::TenantQuota;
use api_types::tenant::Tenant;
use leptos::prelude::*;

use crate::fetch::Fetch;
use crate::format;
use crate::i18n::language;

/// Credit line, overdraft, debt and the settings behind them.
#[component]
pub fn BeyondTheGate(
    /// Whose.
    tenant: Tenant,
    /// The live numbers.
    quota: Fetch<TenantQuota>,
) -> impl IntoView {
    let t = language();
    let settings = tenant.settings;
    let overdraft = settings.overdraft;
    let unit = tenant.unit;
    let has_credit = settings.credit_limit.amount(unit).is_ok_and(|line| line.is_positive());
    let credit = if has_credit { format::short(settings.credit_limit.as_str()) } else { t.none().to_owned() };
    let limit = move |quota: &TenantQuota| {
        if overdraft.enabled {
            format::short(quota.numbers.overdraft.limit.as_str())
        } else {
            t.not_opted_in().to_owned()
        }
    };
    let shown = move |write: &dyn Fn(&TenantQuota) -> String| quota.data.read().as_deref().map(write);
    view! {
        <section class="card" aria-labelledby="h-beyond">
            <div class="card-head"><h2 id="h-beyond">{t.beyond_the_gate()}</h2></div>
            <div class="card-body">
                <dl class="kv">
                    <dt>{t.credit_line()}</dt><dd class="num">{credit}</dd>
                    <dt>{t.overdraft()}</dt><dd class="num">{move || shown(&limit)}</dd>
                    <dt>{t.overdraft_used()}</dt>
                    <dd class="num">{move || shown(&|quota| format::short(quota.numbers.overdraft.used.as_str()))}</dd>
                    <dt>{t.debt()}</dt><dd class="num">{move || shown(&|quota| format::short(quota.numbers.debt.as_str()))}</dd>
                    <dt>{t.hard_stop()}</dt><dd>{if settings.hard_stop { t.on() } else { t.off() }}</dd>
                    <dt>{t.multiplier()}</dt><dd class="num">{settings.multiplier.to_string()}</dd>
                </dl>
            </div>
        </section>
    }
}

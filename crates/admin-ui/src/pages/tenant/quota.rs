//! The four numbers, live: the one thing one came for.

use api_types::grant::TenantQuota;
use api_types::tenant::Tenant;
use domain::Amount;
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::equation::Equation;
use crate::components::gate::{Gate, Size};
use crate::components::live::live;
use crate::components::notice::Notice;
use crate::components::states::{Failed, Loading};
use crate::components::written;
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;

/// The card with the equation and the gate.
#[component]
pub fn QuotaCard(
    /// Whose.
    tenant: Tenant,
    /// Read every two seconds.
    quota: Fetch<TenantQuota>,
) -> impl IntoView {
    let t = language();
    let as_of = move || quota.data.read().as_ref().map(|quota| t.live_as_of(&written::clock(quota.numbers.as_of, t)));
    let version = move || quota.data.read().as_ref().map(|quota| format::integer(quota.numbers.version));
    let name = StoredValue::new(tenant.name.clone());
    // A credit line that is no amount would draw a wrong bar; the API never sends one.
    let credit = tenant.settings.credit_limit.amount(tenant.unit);
    let body = live(move || match (quota.data.get(), quota.failure.get()) {
        (Some(data), failure) => {
            let figures = credit.and_then(|credit| Figures::read(&data.numbers, credit));
            view! { {failure.map(|_| older())}<Numbers quota=data figures=figures.ok() about=name.get_value()/> }
                .into_any()
        }
        (None, Some(failure)) => {
            view! { <Failed failure=failure on_again=Callback::new(move |()| quota.again())/> }.into_any()
        }
        (None, None) => view! { <Loading rows=4/> }.into_any(),
    });
    view! {
        <section class="card" aria-labelledby="h-quota" data-live="quota">
            <div class="card-head">
                <h2 id="h-quota">{t.quota()}</h2>
                <div class="end">
                    <span class="live-mark">{as_of}</span>
                    <span>{t.version()} " " <span class="num" data-number="version">{version}</span></span>
                </div>
            </div>
            {body}
        </section>
    }
}

fn older() -> AnyView {
    view! { <div class="card-body"><Notice tone=Tone::Warn>{language().older_data()}</Notice></div> }.into_any()
}

#[component]
fn Numbers(quota: TenantQuota, figures: Option<Figures>, about: String) -> impl IntoView {
    let t = language();
    let made_of = t.grants_in_force(quota.grants.len());
    let numbers = quota.numbers.clone();
    view! {
        {figures.map(|figures| view! {
            <div class="card-body">
                <Equation numbers=numbers figures=figures made_of=made_of/>
                <Gate figures=figures about=about size=Size::Full/>
            </div>
        })}
        <Foot quota=quota figures=figures/>
    }
}

/// What stands beside the equation: overdraft, debt, what was rolled back.
#[component]
fn Foot(quota: TenantQuota, figures: Option<Figures>) -> impl IntoView {
    let t = language();
    let numbers = quota.numbers;
    let overdraft = if numbers.overdraft.enabled {
        t.part_of(&format::short(numbers.overdraft.used.as_str()), &format::short(numbers.overdraft.limit.as_str()))
    } else {
        t.not_opted_in().to_owned()
    };
    let held = quota.in_tranches.amount(numbers.unit).ok().filter(|held| *held > Amount::ZERO);
    let blocked = figures.is_some_and(|figures| figures.debt.is_positive());
    view! {
        <div class="card-foot">
            <dl class="facts">
                <div><dt>{t.overdraft()}</dt><dd class="num">{overdraft}</dd></div>
                <div><dt>{t.debt()}</dt><dd class={if blocked { "num strong" } else { "num" }}>{format::short(numbers.debt.as_str())}</dd></div>
                <div><dt>{t.rolled_back()}</dt><dd class="num">{format::short(numbers.refunded.as_str())}</dd></div>
                {held.map(|held| view! { <div><dt>{t.held_in_tranches()}</dt><dd class="num">{format::amount(held, numbers.unit)}</dd></div> })}
            </dl>
        </div>
    }
}

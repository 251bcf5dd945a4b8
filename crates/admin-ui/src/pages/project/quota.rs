//! A project's four numbers, live.

use api_types::project::Project;
use domain::Amount;
use leptos::prelude::*;

use crate::components::figure::Exact;
use crate::components::gate::{Gate, Size};
use crate::components::written;
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;

/// Budget, four numbers, bar.
#[component]
pub fn BudgetCard(
    /// Read every two seconds.
    project: Fetch<Project>,
    /// As it was first read.
    first: Project,
) -> impl IntoView {
    let t = language();
    let now = Memo::new(move |_| project.data.get().unwrap_or_else(|| first.clone()));
    let as_of = move || t.live_as_of(&written::clock(now.read().quota.as_of, t));
    let body = move || {
        let project = now.get();
        let numbers = project.quota;
        let figures = Figures::read(&numbers, Amount::ZERO).ok();
        let exact = |text: String| view! { <Exact text=text/> }.into_any();
        let limit = |text: Option<api_types::Decimal>| match text {
            Some(text) => exact(text.to_string()),
            None => t.no_limit().into_any(),
        };
        let budget = project.budget.map(|budget| t.amount_per(&format::short(budget.amount.as_str()), budget.period));
        view! {
            <dl class="kv">
                <dt>{t.budget()}</dt><dd class="num">{budget.unwrap_or_else(|| t.none().to_owned())}</dd>
                <dt>{t.total()}</dt><dd class="num" data-number="total">{limit(numbers.total)}</dd>
                <dt>{t.used()}</dt><dd class="num" data-number="used">{exact(numbers.used.to_string())}</dd>
                <dt>{t.in_flight()}</dt><dd class="num" data-number="frozen">{exact(numbers.frozen.to_string())}</dd>
                <dt>{t.remaining()}</dt><dd class="num strong" data-number="remaining">{limit(numbers.remaining)}</dd>
            </dl>
            {figures.map(|figures| view! { <Gate figures=figures about=project.name size=Size::Plain/> })}
        }
    };
    view! {
        <section class="card" aria-labelledby="h-budget" data-live="project">
            <div class="card-head"><h2 id="h-budget">{t.quota()}</h2><div class="end"><span class="live-mark">{as_of}</span></div></div>
            <div class="card-body stack">{body}</div>
        </section>
    }
}

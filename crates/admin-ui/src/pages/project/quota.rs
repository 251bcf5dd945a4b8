//! A project's four numbers, live.

use api_types::Numbers;
use api_types::project::{Budget, Project};
use domain::Amount;
use leptos::prelude::*;

use crate::components::figure::Exact;
use crate::components::gate::{Gate, Size};
use crate::components::kv::Kv;
use crate::components::written;
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;

/// Budget, four numbers, bar of a project.
#[component]
pub fn BudgetCard(
    /// Read every two seconds.
    project: Fetch<Project>,
    /// As it was first read.
    first: Project,
) -> impl IntoView {
    let now = Signal::derive(move || {
        let project = project.data.get().unwrap_or_else(|| first.clone());
        (project.name, project.budget, project.quota)
    });
    view! { <NumbersCard now=now live="project"/> }
}

/// Budget, four numbers, bar.
#[component]
pub fn NumbersCard(
    /// Whose, what it may spend, and the numbers.
    now: Signal<(String, Option<Budget>, Numbers)>,
    /// Marks the card.
    live: &'static str,
) -> impl IntoView {
    let t = language();
    let as_of = move || t.live_as_of(&written::clock(now.read().2.as_of, t));
    let body = move || {
        let (name, budget, numbers) = now.get();
        let figures = Figures::read(&numbers, Amount::ZERO).ok();
        let number = |mark: &'static str, value: Option<api_types::Decimal>| {
            let inside = match value {
                Some(value) => view! { <Exact text=value.to_string()/> }.into_any(),
                None => t.no_limit().into_any(),
            };
            view! { <span class="num" data-number=mark>{inside}</span> }.into_any()
        };
        let budget = budget.map(|budget| t.amount_per(&format::short(budget.amount.as_str()), budget.period));
        let rows = vec![
            (t.budget(), budget.unwrap_or_else(|| t.none().to_owned()).into_any()),
            (t.total(), number("total", numbers.total)),
            (t.used(), number("used", Some(numbers.used))),
            (t.in_flight(), number("frozen", Some(numbers.frozen))),
            (t.remaining(), number("remaining", numbers.remaining)),
        ];
        view! {
            <Kv rows=rows/>
            {figures.map(|figures| view! { <Gate figures=figures about=name size=Size::Plain/> })}
        }
    };
    view! {
        <section class="card" aria-labelledby="h-budget" data-live=live>
            <div class="card-head"><h2 id="h-budget">{t.quota()}</h2><div class="end"><span class="live-mark">{as_of}</span></div></div>
            <div class="card-body stack">{body}</div>
        </section>
    }
}

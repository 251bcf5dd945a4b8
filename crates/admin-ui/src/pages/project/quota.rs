//! A project's four numbers, live.

use std::sync::Arc;

use api_types::Numbers;
use api_types::project::{Budget, Project};
use domain::Amount;
use leptos::prelude::*;

use crate::components::figure::Exact;
use crate::components::gate::{Gate, Size};
use crate::components::kv::Kv;
use crate::components::live::live;
use crate::components::written;
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;

/// Name, budget and numbers as they are now; tracks. A closure and no signal: a part of the page that is about to be built anew
/// may ask once more, and a signal of that part would be gone by then.
pub type Now = Arc<dyn Fn() -> (String, Option<Budget>, Numbers) + Send + Sync>;

/// Budget, four numbers, bar of a project.
#[component]
pub fn BudgetCard(
    /// Read every two seconds.
    project: Fetch<Project>,
    /// As it was first read.
    first: Project,
) -> impl IntoView {
    let now: Now = Arc::new(move || {
        let project = project.data.get().unwrap_or_else(|| first.clone());
        (project.name, project.budget, project.quota)
    });
    view! { <NumbersCard now=now mark="project"/> }
}

/// Budget, four numbers, bar.
#[component]
pub fn NumbersCard(
    /// Whose, what it may spend, and the numbers.
    now: Now,
    /// Marks the card.
    mark: &'static str,
) -> impl IntoView {
    let t = language();
    let at = Arc::clone(&now);
    let as_of = move || t.live_as_of(&written::clock(at().2.as_of, t));
    let body = live(move || {
        let (name, budget, numbers) = now();
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
    });
    view! {
        <section class="card" aria-labelledby="h-budget" data-live=mark>
            <div class="card-head"><h2 id="h-budget">{t.quota()}</h2><div class="end"><span class="live-mark">{as_of}</span></div></div>
            <div class="card-body stack">{body}</div>
        </section>
    }
}

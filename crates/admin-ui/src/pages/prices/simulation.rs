//! What the last days would have cost at the prices in the table.

use std::time::Duration;

use api_types::Timestamp;
use api_types::simulation::{Simulate, SimulatedPrice, Simulation, SimulationGroup};
use leptos::prelude::*;

use super::cells::Cells;
use crate::api::prices;
use crate::browser;
use crate::components::card::Card;
use crate::components::field::{SelectField, TextField};
use crate::components::live::live;
use crate::components::notice::FormFailure;
use crate::components::table::{Column, Row, Table, named, text};
use crate::format;
use crate::i18n::{Language, language};
use crate::json;
use crate::pages::form::{Form, Whole, typed};
use crate::pages::overview::hours::{exact, units};

const DAY: u64 = 86_400;
const ONE: i128 = 100_000_000;

/// The card with the question and its answer.
#[component]
pub fn SimulationCard(
    /// The table.
    cells: Cells,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let (days, group) = (typed("30"), typed("model"));
    let answer = RwSignal::new(None::<Simulation>);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let mut wrong = Whole::default();
        let days: u64 = wrong.need("days", days);
        let asked = asked(cells, &mut wrong);
        if asked.is_empty() {
            wrong.refuse("prices", "unchanged");
        }
        let Some(now) = browser::now() else { return };
        if !wrong.fits(form) {
            return;
        }
        let from = Timestamp::from(now.instant() - Duration::from_secs(days.clamp(1, 366) * DAY));
        let group_by = group.get_untracked().parse::<SimulationGroup>().ok();
        let body = Simulate { from, to: now, prices: asked, group_by };
        form.send(async move { prices::simulate(&body).await }, move |found| answer.set(Some(found)));
    };
    let groups = [("model", t.model()), ("tenant", t.tenant()), ("project", t.project()), ("key", t.key())];
    let groups = groups.map(|(word, words)| (word.to_owned(), words.to_owned())).into();
    let unchanged = crate::components::field::field_error(t, form.failure, "prices");
    view! {
        <Card id="simulation" title=t.simulation()>
            <form class="card-body stack" novalidate on:submit=submit>
                <p class="small muted">{t.simulation_hint()}</p>
                {live(move || if unchanged.get().is_some() {
                    view! { <p class="error">{t.change_a_price()}</p> }.into_any()
                } else {
                    view! { <FormFailure failure=form.failure/> }.into_any()
                })}
                <div class="form-grid narrow">
                    <TextField name="days" label=t.last_days() value=days failure=form.failure/>
                    <SelectField name="group_by" label=t.group_word() choices=groups value=group failure=form.failure/>
                    <TextField name="valid_from" label=t.valid_from() hint=t.new_prices_from_hint() value=cells.from failure=form.failure kind="datetime-local"/>
                </div>
                <div><button class="btn" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.simulate()}</button></div>
            </form>
            {live(move || answer.get().map(|answer| shown(t, answer)))}
        </Card>
    }
}

/// The prices that were changed.
fn asked(cells: Cells, wrong: &mut Whole) -> Vec<SimulatedPrice> {
    let mut asked = Vec::new();
    for line in cells.lines() {
        if let Some(mut prices) = cells.prices(&line, wrong) {
            if let Some(prices) = prices.as_object_mut() {
                prices.remove("valid_from");
                prices.remove("token_weights");
            }
            if let Some(price) = json::reread(&prices) {
                asked.push(SimulatedPrice { model: line.model, price });
            }
        }
    }
    asked
}

fn shown(t: Language, answer: Simulation) -> AnyView {
    let difference = |actual: &str, simulated: &str| {
        let (actual, simulated) = (units(actual), units(simulated));
        let sign = if simulated > actual { "+" } else { "" };
        format!("{sign}{}", exact(simulated - actual, ONE))
    };
    let columns = vec![
        Column::name(t.group_word()),
        Column::number(t.requests()),
        Column::number(t.was_charged()),
        Column::number(t.would_be()),
        Column::number(t.difference_word()),
    ];
    let row = |one: api_types::simulation::Simulated| {
        Row::new(vec![
            named(one.group.clone(), None, text("")),
            text(format::integer(one.requests)),
            text(format::exact(one.actual.as_str())),
            text(format::exact(one.simulated.as_str())),
            text(difference(one.actual.as_str(), one.simulated.as_str())),
        ])
    };
    let figure = |name: &'static str, value: String, mark: &'static str| {
        view! { <div class="kpi"><dt>{name}</dt><dd class="fig" data-figure=mark>{value}</dd></div> }.into_any()
    };
    let (actual, simulated) = (answer.actual.to_string(), answer.simulated.to_string());
    let rows = answer.items.into_iter().map(row).collect();
    view! {
        <dl class="kpis flat three">
            {figure(t.was_charged(), format::exact(&actual), "actual")}
            {figure(t.would_be(), format::exact(&simulated), "simulated")}
            {figure(t.difference_word(), difference(&actual, &simulated), "difference")}
        </dl>
        <Table caption=t.simulation() columns=columns rows=rows class="c3"/>
    }
    .into_any()
}

//! The first page: what goes on, what is near its end, what needs somebody.

mod alerts;
mod dry;
pub mod health;
pub mod hours;
mod refusals;

use std::time::Duration;

use api_types::platform::Overview;
use domain::Unit;
use leptos::prelude::*;

use crate::api::platform;
use crate::browser;
use crate::components::card::Card;
use crate::components::live::live;
use crate::components::plot::Plot;
use crate::components::segmented::Segmented;
use crate::components::written;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::listed::read;

use alerts::OpenAlerts;
use dry::DriestCard;
use health::HealthCard;
use hours::{Hours, Measure, exact};
use refusals::RefusalsCard;

/// How often the page asks again.
pub const REFRESH: Duration = Duration::from_secs(10);

/// The overview.
#[component]
pub fn OverviewPage() -> impl IntoView {
    let t = language();
    browser::set_title(t.overview());
    let overview = fetch(|| (), |()| platform::overview());
    overview.poll(REFRESH);
    let unit = RwSignal::new("credit");
    let as_of = live(move || {
        overview.data.read().map(|data| {
            view! { <span class="live-mark small">{t.live_as_of(&written::clock(data.as_of, t))}</span> }
        })
    });
    // A switch between units only where there are both.
    let has_both = Memo::new(move |_| {
        overview.data.read().is_some_and(|data| data.hours.iter().any(|hour| hour.unit == Unit::Token))
    });
    let units = live(move || {
        has_both.get().then(|| {
            let choices = vec![("credit", t.unit_credit()), ("token", t.unit_token())];
            view! { <Segmented name="unit" label=t.unit() label_hidden=true choices=choices value=unit/> }
        })
    });
    // Built once: what moves is inside.
    let known = Memo::new(move |_| overview.data.read().is_some());
    let inside = live(move || {
        if !known.get() {
            return view! { <section class="card">{read(overview, 6, |_| ().into_any())}</section> }.into_any();
        }
        view! {
            <Figures overview=overview.data unit=unit/>
            <div class="cols main-side">
                <div class="stack"><SpendCard overview=overview.data unit=unit/><DriestCard overview=overview.data/><HealthCard/></div>
                <div class="stack side-first"><OpenAlerts/><RefusalsCard overview=overview.data/></div>
            </div>
        }
        .into_any()
    });
    view! {
        <header class="page-head">
            <div class="page-title"><h1>{t.overview()}</h1>{as_of}<div class="actions">{units}</div></div>
        </header>
        {inside}
    }
}

/// What the page knows; there before anything asks.
type Known = crate::fetch::Data<Overview>;

#[component]
fn Figures(overview: Known, unit: RwSignal<&'static str>) -> impl IntoView {
    let t = language();
    live(move || {
        let data = overview.get()?;
        let hours = Hours::of(&data, unit.get());
        let one = |name: &'static str, value: String, about: String, mark: &'static str| {
            view! { <div class="kpi"><dt>{name}</dt><dd class="fig" data-figure=mark>{value}</dd><dd class="sub">{about}</dd></div> }.into_any()
        };
        let (spend, asked) = (hours.sum(Measure::Charge), hours.requests + hours.refused);
        let frozen = data.freezes.map_or_else(|| t.not_known().to_owned(), crate::format::count);
        Some(view! {
            <dl class="kpis" data-live="overview">
                {one(t.spend_24h(), exact(spend, hours.one), t.tenants_and_keys(data.tenants, data.keys), "spend")}
                {one(t.requests(), crate::format::integer(hours.requests), t.last_24h().to_owned(), "requests")}
                {one(t.tokens(), exact(hours.sum(Measure::Tokens), 1), t.in_and_out(hours.prompt, hours.completion), "tokens")}
                {one(t.in_flight_now(), frozen, t.running_requests().to_owned(), "freezes")}
                {one(t.refused(), share(hours.refused, asked), t.refused_requests(hours.refused), "refused")}
            </dl>
        })
    })
}

/// A share in percent with one decimal.
#[must_use]
pub fn share(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return "0 %".to_owned();
    }
    let tenths = i128::from(part) * 1000 / i128::from(whole);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[component]
fn SpendCard(overview: Known, unit: RwSignal<&'static str>) -> impl IntoView {
    let t = language();
    let measure = RwSignal::new(Measure::Charge.word());
    let view = RwSignal::new("plot");
    let figure = Signal::derive(move || {
        let Some(data) = overview.read() else { return crate::components::plot::Figure::default() };
        Hours::of(&data, unit.get()).figure(t, Measure::of(measure.get()))
    });
    let choices = Measure::ALL.map(|measure| (measure.word(), measure.words(t))).into();
    let end = view! { <Segmented name="measure" label=t.measure() label_hidden=true choices=choices value=measure small=true/> };
    view! {
        <Card id="hours" title=t.by_hour_24h() end=end.into_any()>
            <Plot figure=figure name="hours-view" head=t.hour() view=view write=exact/>
        </Card>
    }
}

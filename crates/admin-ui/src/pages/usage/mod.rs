//! Usage over time: plot, sums, files. What is asked for is in the address.

mod ask;
mod export;
mod groups;
mod sums;

use api_types::usage::UsagePage as Sums;
use leptos::prelude::*;

use crate::api::platform;
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::plot::{Figure, Plot};
use crate::components::segmented::Segmented;
use crate::components::states::Empty;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::address::Address;
use crate::pages::listed::read;
use crate::pages::overview::hours::{Measure, exact};

use ask::{Group, Question, Range};
pub use export::Exports;
use groups::Names;
use sums::SumsCard;

/// The page.
#[component]
pub fn UsagePage() -> impl IntoView {
    let t = language();
    let address = Address::of_page();
    let question = Memo::new(move |_| Question::of(address));
    let sums = fetch(move || question.get().parameters(), |asked| async move { platform::usage(&asked).await });
    let names = Names::of(question);
    let files = live(move || view! { <Exports path="/usage/export" asked=question.get().parameters()/> });
    view! {
        <PageHead title=t.usage() hint=t.usage_hint() actions=files/>
        <section class="card" aria-label=t.usage()>
            <Controls address=address question=question/>
            {read(sums, 6, move |sums: Sums| view! { <Drawn sums=sums question=question names=names/> }.into_any())}
        </section>
        {live(move || sums.data.get().filter(|sums| !sums.items.is_empty()).map(|sums| view! {
            <SumsCard sums=sums question=question.get() names=names/>
        }))}
    }
}

/// A choice that is kept in the address; the usual one is not.
fn chosen(
    address: Address,
    name: &'static str,
    words: Vec<&'static str>,
    usual: &'static str,
) -> RwSignal<&'static str> {
    let find = move || {
        let now = address.get(name);
        words.iter().copied().find(|word| *word == now).unwrap_or(usual)
    };
    let value = RwSignal::new(untrack(&find));
    Effect::new(move |_| {
        let now = find();
        if value.get_untracked() != now {
            value.set(now);
        }
    });
    Effect::new(move |before: Option<&'static str>| {
        let now = value.get();
        if before.is_some_and(|before| before != now) {
            address.set(name, if now == usual { "" } else { now });
        }
        now
    });
    value
}

#[component]
fn Controls(address: Address, question: Memo<Question>) -> impl IntoView {
    let t = language();
    let group = chosen(address, "group_by", Group::ALL.map(Group::word).into(), "model");
    let range = chosen(address, "range", Range::ALL.map(Range::word).into(), "30d");
    let measure = chosen(address, "measure", Measure::ALL.map(Measure::word).into(), "charge");
    let unit = chosen(address, "unit", vec!["credit", "token"], "credit");
    let groups = Group::ALL.map(|group| (group.word(), group.words(t))).into();
    let ranges = Range::ALL.map(|range| (range.word(), range.words(t))).into();
    let measures = Measure::ALL.map(|measure| (measure.word(), measure.words(t))).into();
    let units = vec![("credit", t.unit_credit()), ("token", t.unit_token())];
    let narrowed = live(move || {
        let question = question.get();
        let one = |name: &'static str, words: &'static str, value: String| {
            (!value.is_empty()).then(|| {
                view! {
                    <button class="filter on" type="button" on:click=move |_| address.set(name, "")>
                        {words}" "<span class="mono">{crate::format::short_id(&value)}</span><crate::components::icon::Icon name="x"/>
                    </button>
                }
                .into_any()
            })
        };
        [
            one("tenant_id", t.tenant(), question.tenant),
            one("project_id", t.project(), question.project),
            one("key_id", t.key(), question.key),
            one("model", t.model(), question.model),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
    });
    view! {
        <div class="toolbar">
            <Segmented name="range" label=t.range() label_hidden=true choices=ranges value=range small=true/>
            <Segmented name="group" label=t.grouped_by() label_hidden=true choices=groups value=group small=true/>
            <Segmented name="measure" label=t.measure() label_hidden=true choices=measures value=measure small=true/>
            <Segmented name="unit" label=t.unit() label_hidden=true choices=units value=unit small=true/>
            {narrowed}
        </div>
    }
}

#[component]
fn Drawn(sums: Sums, question: Memo<Question>, names: Names) -> impl IntoView {
    let t = language();
    if sums.items.is_empty() {
        return view! { <Empty icon="usage" title=t.nothing_used() hint=t.nothing_used_hint()>""</Empty> }.into_any();
    }
    let view = RwSignal::new("plot");
    let head = question.get_untracked().range.bucket_words(t);
    let figure = Signal::derive(move || -> Figure { groups::figure(t, &sums, &question.get(), names) });
    view! { <Plot figure=figure name="usage-view" head=head view=view write=exact/> }.into_any()
}

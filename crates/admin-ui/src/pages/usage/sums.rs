//! The sums of the whole time, group by group.

use std::collections::BTreeMap;

use api_types::usage::UsagePage;
use leptos::prelude::*;

use super::ask::Question;
use super::groups::{self, Names};
use crate::components::card::Card;
use crate::components::live::live;
use crate::components::table::{Column, Row, Table, named, text};
use crate::format;
use crate::i18n::language;
use crate::pages::overview::hours::Measure;
use crate::pages::overview::share;

/// One group's sums.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    requests: i64,
    refused: i64,
    prompt: i64,
    cached: i64,
    completion: i64,
    charge: i128,
}

/// The table of sums.
#[component]
pub fn SumsCard(
    /// What was read.
    sums: UsagePage,
    /// What was asked for.
    question: Question,
    /// What ids are called.
    names: Names,
) -> impl IntoView {
    let t = language();
    let more = sums.next_cursor.is_some();
    let mut whole = BTreeMap::<String, Sum>::new();
    for sum in sums.items.iter().filter(|sum| sum.unit == question.unit) {
        let group = whole.entry(groups::id_of(sum, question.group)).or_default();
        group.requests += sum.requests;
        group.refused += sum.refused;
        group.prompt += sum.prompt_tokens;
        group.cached += sum.cached_tokens;
        group.completion += sum.completion_tokens;
        group.charge += Measure::Charge.value(sum);
    }
    let mut rows: Vec<(String, Sum)> = whole.into_iter().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.charge));
    let table = live(move || {
        let columns = vec![
            Column::name(question.group.words(t)),
            Column::number(t.requests()),
            Column::number(t.refused()),
            Column::number(t.tokens_in()),
            Column::number(t.tokens_cached()),
            Column::number(t.tokens_out()),
            Column::number(t.charge()),
        ];
        let row = |(id, sum): &(String, Sum)| {
            let requests = groups::requests_of(&question, id);
            let refused =
                format!("{} ({})", format::integer(sum.refused), share(sum.refused, sum.requests + sum.refused));
            Row::new(vec![
                named(names.name(id), groups::href(&question, id), text("")),
                view! { <a href=requests>{format::integer(sum.requests)}</a> }.into_any(),
                text(refused),
                text(format::integer(sum.prompt)),
                text(format::integer(sum.cached)),
                text(format::integer(sum.completion)),
                text(groups::charge(sum.charge, &question)),
            ])
        };
        let rows = rows.iter().map(row).collect();
        view! { <Table caption=t.sums_of_all() columns=columns rows=rows class="c3"/> }
    });
    let note = more.then(|| view! { <p class="card-note small muted">{t.sums_cut()}</p> });
    view! { <Card id="sums" title=t.sums_of_all()>{note}{table}</Card> }
}

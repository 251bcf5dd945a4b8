//! Redis' copy beside Postgres, scope by scope, and making it anew.

use std::sync::Arc;

use api_types::live::{Difference, Live, LiveScope};
use leptos::prelude::*;

use crate::api::live;
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::components::table::{Column, Row, Table, named, text};
use crate::components::toasts::{Toast, Toasts};
use crate::fetch::Fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::form::Form;
use crate::pages::form_dialog::Ask;
use crate::pages::listed::read;
use crate::session::Session;

/// Both copies.
#[component]
pub fn BooksCard(
    /// Whose.
    tenant: String,
    /// Read every two seconds.
    books: Fetch<Live>,
) -> impl IntoView {
    let t = language();
    let may = expect_context::<Session>().may_operate();
    let asking = RwSignal::new(None::<()>);
    let tenant = StoredValue::new(tenant);
    let shown = move |live: Live| {
        let columns = vec![
            Column::name(t.scope()),
            Column::number("Redis"),
            Column::number("Postgres"),
            Column::number(t.in_flight()),
            Column::number(t.version()),
            Column::state(t.comparison()),
        ];
        let words = compared(t, &live);
        let rows = live.scopes.into_iter().map(|scope| row(t, scope)).collect();
        view! {
            <p class="card-body small muted" data-books="summary">{words}</p>
            <Table caption=t.both_copies() columns=columns rows=rows class="c3"/>
            <p class="card-foot">{t.not_loaded_hint()}</p>
        }
        .into_any()
    };
    let dialog = move || {
        asking.get().map(|()| {
            let close = Callback::new(move |()| {
                asking.set(None);
                books.again();
            });
            let live = books.data.read_untracked();
            view! { <RebuildDialog tenant=tenant.get_value() live=live on_close=close/> }
        })
    };
    let end = may.then(|| view! { <Button words=t.rebuild() icon="refresh" class="sm" on_press=opener(asking, ())/> });
    view! {
        <Card id="books" title=t.both_copies() end=end.into_any()>{read(books, 4, shown)}</Card>
        {dialog}
    }
}

/// Copies that nobody has to look at.
const fn is_fine(difference: Difference) -> bool {
    matches!(difference, Difference::Equal | Difference::Absent | Difference::Behind)
}

fn compared(t: Language, live: &Live) -> String {
    let differing = live.scopes.iter().filter(|scope| scope.halted || !is_fine(scope.difference)).count();
    t.compared(live.scopes.len(), differing)
}

fn row(t: Language, scope: LiveScope) -> Row {
    let (tone, words) = match scope.difference {
        _ if scope.halted => (Tone::Bad, t.halted()),
        Difference::Equal => (Tone::Ok, t.equal()),
        Difference::Absent => (Tone::Neutral, t.absent()),
        Difference::Behind => (Tone::Live, t.behind()),
        other => (Tone::Bad, t.difference(other)),
    };
    let used = |numbers: &api_types::Numbers| format::short(numbers.used.as_str());
    let version = scope.redis.as_ref().map_or_else(
        || scope.postgres.version.to_string(),
        |redis| format!("{} / {}", redis.version, scope.postgres.version),
    );
    Row {
        class: if scope.halted || !is_fine(scope.difference) { "bad" } else { "" },
        cells: vec![
            named(format::short_id(&scope.scope), None, text("")),
            text(scope.redis.as_ref().map_or_else(|| "–".to_owned(), used)),
            text(used(&scope.postgres)),
            text(format::short(scope.postgres.frozen.as_str())),
            text(version),
            view! { <Badge tone=tone text=words/> }.into_any(),
        ],
    }
}

#[component]
fn RebuildDialog(tenant: String, live: Option<Arc<Live>>, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let yes = Callback::new(move |()| {
        let tenant = tenant.clone();
        form.send(async move { live::rebuild(&tenant).await }, move |done| {
            let detail = done.after.as_ref().map(|after| compared(t, after));
            toasts.show(Toast::ok(t.rebuilt().to_owned(), detail));
            on_close.run(());
        });
    });
    let now = live.map(|live| compared(t, &live));
    view! {
        <Ask title=t.rebuild() words=t.rebuild_words() action=t.rebuild() form=form on_yes=yes on_close=on_close>
            <p class="small muted">{now}</p>
        </Ask>
    }
}

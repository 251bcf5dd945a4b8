//! Accounts at providers.

mod form;

use api_types::upstream::Upstream;
use leptos::prelude::*;

use crate::api::upstreams;
use crate::components::button::{Button, opener};
use crate::components::page_head::PageHead;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::toasts::{Toast, Toasts};
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::form::Form;
use crate::pages::form_dialog::Ask;
use crate::pages::listed::listed;
use crate::session::Session;

use form::UpstreamDialog;

/// The dialog that is open.
#[derive(Clone)]
enum Open {
    Create,
    Change(Box<Upstream>),
    Delete(Box<Upstream>),
}

/// The list of upstreams.
#[component]
pub fn UpstreamsPage() -> impl IntoView {
    let t = language();
    let may = expect_context::<Session>().may_operate();
    let page = fetch(|| (), |()| upstreams::list());
    let open = RwSignal::new(None::<Open>);
    let new = move |class: &'static str| {
        may.then(
            || view! { <Button words=t.new_upstream() icon="plus" class=class on_press=opener(open, Open::Create)/> },
        )
    };
    let table = move |items: Vec<Upstream>| {
        let mut columns = vec![
            Column::name(t.upstream()),
            Column::text(t.speaks()),
            Column::text(t.provider_key()),
            Column::number(t.connect_timeout()),
            Column::number(t.read_timeout()),
        ];
        if may {
            columns.push(Column::actions(t.actions()));
        }
        let rows = items.into_iter().map(|upstream| row(t, upstream, open)).collect();
        view! { <Table caption=t.upstreams() columns=columns rows=rows/> }.into_any()
    };
    let empty = move || {
        view! { <Empty icon="upstreams" title=t.no_upstreams() hint=t.no_upstreams_hint()>{new("")}</Empty> }.into_any()
    };
    let close = Callback::new(move |()| {
        open.set(None);
        page.again();
    });
    let dialog = move || {
        open.get().map(|which| match which {
            Open::Create => view! { <UpstreamDialog on_close=close/> }.into_any(),
            Open::Change(upstream) => view! { <UpstreamDialog upstream=*upstream on_close=close/> }.into_any(),
            Open::Delete(upstream) => view! { <DeleteDialog upstream=*upstream on_close=close/> }.into_any(),
        })
    };
    view! {
        <PageHead title=t.upstreams() hint=t.upstreams_hint() actions=new("primary").into_any()/>
        <section class="card" aria-label=t.upstreams()>{listed(page, 3, table, empty)}</section>
        {dialog}
    }
}

fn row(t: Language, upstream: Upstream, open: RwSignal<Option<Open>>) -> Row {
    let hint = upstream.key_hint.as_deref();
    let key = hint.map_or_else(|| text(t.no_key()), |hint| mono(t.key_hint(hint, upstream.key_version)));
    let milliseconds = |ms: i32| text(format::integer(i64::from(ms)));
    let (change_label, delete_label) = (t.of_row(t.change_it(), &upstream.name), t.of_row(t.delete(), &upstream.name));
    let change = opener(open, Open::Change(Box::new(upstream.clone())));
    let delete = opener(open, Open::Delete(Box::new(upstream.clone())));
    Row::new(vec![
        named(upstream.name, None, mono(upstream.base_url)),
        text(upstream.kind.as_str()),
        key,
        milliseconds(upstream.connect_timeout_ms),
        milliseconds(upstream.read_timeout_ms),
        view! {
            <Button words=t.change_it() label=change_label class="ghost sm" on_press=change/>
            <Button words=t.delete() label=delete_label class="ghost sm" on_press=delete/>
        }
        .into_any(),
    ])
}

#[component]
fn DeleteDialog(upstream: Upstream, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let id = upstream.id.to_string();
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { upstreams::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.upstream_deleted().to_owned(), None));
            on_close.run(());
        });
    });
    view! {
        <Ask title=t.delete_upstream() words=t.delete_upstream_words() action=t.delete() form=form on_yes=yes on_close=on_close>
            <p class="strong small">{upstream.name}</p>
        </Ask>
    }
}

//! A model's targets.

use api_types::target::Target;
use api_types::upstream::Upstream;
use leptos::prelude::*;

use super::target_form::{DeleteTargetDialog, TargetDialog};
use crate::api::{models, upstreams};
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::listed::listed;
use crate::session::Session;

/// The dialog that is open.
#[derive(Clone)]
enum Open {
    Add,
    Change(Box<Target>),
    Delete(Box<Target>),
}

/// The targets, in the order in which they are tried.
#[component]
pub fn TargetsCard(
    /// The model.
    model: String,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let id = StoredValue::new(model);
    let page = fetch(move || id.get_value(), |id| async move { models::targets(&id).await });
    let known = fetch(|| (), |()| upstreams::list());
    let accounts = move || known.data.get().map(|page| page.items).unwrap_or_default();
    let open = RwSignal::new(None::<Open>);
    let may = session.may_operate();
    let table = move |mut items: Vec<Target>| {
        items.sort_by_key(|target| (target.priority, std::cmp::Reverse(target.weight)));
        let mut columns = vec![
            Column::name(t.upstream()),
            Column::text(t.upstream_model()),
            Column::text(t.dialects()),
            Column::number(t.priority()),
            Column::number(t.weight()),
            Column::number(t.multiplier()),
            Column::state(t.state()),
        ];
        if may {
            columns.push(Column::actions(t.actions()));
        }
        let accounts = accounts();
        let rows = items.into_iter().map(|target| row(t, target, &accounts, open)).collect();
        view! { <Table caption=t.targets() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let empty =
        move || view! { <Empty icon="upstreams" title=t.no_targets() hint=t.no_targets_hint()>""</Empty> }.into_any();
    let end =
        may.then(|| view! { <Button words=t.new_target() icon="plus" class="sm" on_press=opener(open, Open::Add)/> });
    let close = Callback::new(move |()| {
        open.set(None);
        page.again();
    });
    let dialog = move || {
        open.get().map(|which| {
            let (model, accounts) = (id.get_value(), accounts());
            match which {
                Open::Add => view! { <TargetDialog model=model upstreams=accounts on_close=close/> }.into_any(),
                Open::Change(target) => {
                    view! { <TargetDialog model=model upstreams=accounts target=*target on_close=close/> }.into_any()
                }
                Open::Delete(target) => view! { <DeleteTargetDialog target=*target on_close=close/> }.into_any(),
            }
        })
    };
    view! {
        <Card id="targets" title=t.targets() end=end.into_any()>
            {listed(page, 2, table, empty)}
            <p class="card-foot">{t.targets_hint()}</p>
        </Card>
        {dialog}
    }
}

fn row(t: Language, target: Target, accounts: &[Upstream], open: RwSignal<Option<Open>>) -> Row {
    let upstream = target.upstream_id.to_string();
    let name = accounts.iter().find(|account| account.id == target.upstream_id).map(|account| account.name.clone());
    let name = name.unwrap_or_else(|| format::short_id(&upstream));
    let dialects: Vec<&str> = target.dialects.iter().map(|dialect| dialect.as_str()).collect();
    let (tone, words) = if target.enabled { (Tone::Ok, t.enabled()) } else { (Tone::Held, t.disabled()) };
    let (change, delete) =
        (opener(open, Open::Change(Box::new(target.clone()))), opener(open, Open::Delete(Box::new(target.clone()))));
    let (change_label, delete_label) = (t.of_row(t.change_it(), &name), t.of_row(t.delete(), &name));
    Row {
        class: if target.enabled { "" } else { "off" },
        cells: vec![
            named(name, None, mono(format::short_id(&target.id.to_string()))),
            mono(target.upstream_model),
            text(dialects.join(", ")),
            text(target.priority.to_string()),
            text(target.weight.to_string()),
            text(target.multiplier.to_string()),
            view! { <Badge tone=tone text=words/> }.into_any(),
            view! {
                <Button words=t.change_it() label=change_label class="ghost sm" on_press=change/>
                <Button words=t.delete() label=delete_label class="ghost sm" on_press=delete/>
            }
            .into_any(),
        ],
    }
}

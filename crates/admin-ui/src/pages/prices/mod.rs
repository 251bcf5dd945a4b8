//! All prices in one table: edited, read from a file, tried on last month, put in force after a look at what changes.

mod cells;
mod changes;
mod simulation;

use api_types::matrix::PriceMatrix;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use crate::api::prices;
use crate::browser;
use crate::components::icon::Icon;
use crate::components::live::live;
use crate::components::notice::FormFailure;
use crate::components::page_head::PageHead;
use crate::components::states::Empty;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::form::Form;
use crate::pages::listed::page;
use crate::session::Session;

use cells::{Cells, PriceTable};
use changes::ChangesDialog;
use simulation::SimulationCard;

/// The page.
#[component]
pub fn PricesPage() -> impl IntoView {
    let t = language();
    let matrix = fetch(|| (), |()| prices::matrix());
    let again = Callback::new(move |()| {
        matrix.data.clear();
        matrix.again();
    });
    let shown = page(
        matrix,
        |_: &PriceMatrix, _| true,
        move |matrix| view! { <Editor matrix=matrix on_changed=again/> }.into_any(),
    );
    let file = view! { <a class="btn" href=prices::FILE download="price-matrix.json"><Icon name="download"/>{t.save_matrix()}</a> };
    view! { <PageHead title=t.prices() hint=t.prices_page_hint() actions=file.into_any()/>{shown} }
}

#[component]
fn Editor(matrix: PriceMatrix, on_changed: Callback<()>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    if matrix.models.is_empty() {
        return view! { <section class="card"><Empty icon="models" title=t.no_models() hint=t.no_models_hint()>""</Empty></section> }
            .into_any();
    }
    let may = untrack(|| session.may_operate());
    let form = Form::new();
    let cells = Cells::of(&matrix);
    // The catalog that is looked at before it is put in force.
    let looked_at = RwSignal::new(None::<(Value, api_types::matrix::MatrixChanges)>);
    let look = Callback::new(move |wanted: Value| {
        let asked = wanted.clone();
        form.send(async move { prices::write(&asked, true).await }, move |changes| {
            looked_at.set(Some((wanted, changes)))
        });
    });
    let edited = move |_| {
        if let Some(wanted) = cells.read(form) {
            look.run(wanted);
        }
    };
    let close = Callback::new(move |()| looked_at.set(None));
    let done = Callback::new(move |()| {
        looked_at.set(None);
        on_changed.run(());
    });
    let dialog = live(move || {
        looked_at.get().map(
            |(wanted, changes)| view! { <ChangesDialog wanted=wanted changes=changes on_close=close on_done=done/> },
        )
    });
    let buttons = may.then(|| {
        view! {
            <div class="toolbar">
                <button class="btn primary" type="button" aria-busy=move || form.busy.get().then_some("true") on:click=edited>{t.look_at_changes()}</button>
                <button class="btn" type="button" on:click=move |_| cells.forget()>{t.as_in_force()}</button>
                <FileButton on_read=look form=form/>
                <span class="small muted" role="status">{move || t.cells_changed(cells.changed())}</span>
            </div>
        }
    });
    view! {
        <section class="card" aria-label=t.prices()>
            <div class="card-body"><FormFailure failure=form.failure/></div>
            {buttons}
            <PriceTable cells=cells may=may/>
        </section>
        {may.then(|| view! { <SimulationCard cells=cells/> })}
        {dialog}
    }
    .into_any()
}

/// Reads a catalog from a file of the person's own.
#[component]
fn FileButton(on_read: Callback<Value>, form: Form) -> impl IntoView {
    let t = language();
    let node = NodeRef::<html::Input>::new();
    let read = move |_| {
        let Some(input) = node.get_untracked() else { return };
        spawn_local(async move {
            let text = browser::chosen_file(&input).await;
            input.set_value(""); // the same file may be chosen again
            match text.and_then(|text| serde_json::from_str(&text).ok()) {
                Some(wanted) => on_read.run(wanted),
                None => {
                    let field = api_types::FieldError {
                        field: "file".into(),
                        code: "not_json".into(),
                        message: t.not_json().into(),
                    };
                    form.refuse(vec![field]);
                }
            }
        });
    };
    let error = crate::components::field::field_error(t, form.failure, "file");
    view! {
        <label class="btn file">
            <Icon name="copy"/>{t.read_file()}
            <input class="vh" type="file" accept="application/json,.json" node_ref=node on:change=read/>
        </label>
        {live(move || error.get().map(|words| view! { <span class="error">{words}</span> }))}
    }
}

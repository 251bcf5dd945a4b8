//! A new model, and a changed one.

use api_types::Factor;
use api_types::model::{ChangeModel, CreateModel, Model, ModelMode};
use leptos::prelude::*;

use crate::api::{Failure, models};
use crate::components::field::{SelectField, TextField};
use crate::components::switch::Switch;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, filled, typed};
use crate::pages::form_dialog::FormDialog;

/// What is typed.
#[derive(Clone, Copy)]
struct Typed {
    tokenizer: RwSignal<String>,
    context: RwSignal<String>,
    longest: RwSignal<String>,
    freeze: RwSignal<String>,
    factor: RwSignal<String>,
    reasoning: RwSignal<bool>,
}

#[component]
fn Fields(fields: Typed, failure: RwSignal<Option<Failure>>) -> impl IntoView {
    let t = language();
    view! {
        <div class="form-grid">
            <TextField name="context_window" label=t.context_window() hint=t.context_hint() value=fields.context failure=failure/>
            <TextField name="max_output_tokens" label=t.max_output() value=fields.longest failure=failure/>
            <TextField name="freeze_output_tokens" label=t.freeze_output() hint=t.freeze_output_hint() value=fields.freeze failure=failure/>
            <TextField name="tokenizer" label=t.tokenizer() value=fields.tokenizer failure=failure/>
            <TextField name="safety_factor" label=t.safety_factor() hint=t.safety_hint() value=fields.factor failure=failure/>
        </div>
        <Switch name="hidden_reasoning" label=t.hidden_reasoning() value=fields.reasoning/>
    }
}

/// A new model.
#[component]
pub fn CreateModelDialog(
    /// It is unwanted.
    on_close: Callback<()>,
    /// It was made.
    on_made: Callback<Model>,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let (name, mode) = (typed(""), typed(ModelMode::Chat.as_str()));
    let fields = Typed {
        tokenizer: typed("o200k_base"),
        context: typed("128000"),
        longest: typed("16384"),
        freeze: typed("1000"),
        factor: typed("1.05"),
        reasoning: RwSignal::new(false),
    };
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let body = CreateModel {
            name: name.get_untracked().trim().to_owned(),
            mode: mode.get_untracked().parse().unwrap_or(ModelMode::Chat),
            tokenizer: fields.tokenizer.get_untracked().trim().to_owned(),
            context_window: whole.need("context_window", fields.context),
            max_output_tokens: whole.need("max_output_tokens", fields.longest),
            freeze_output_tokens: whole.read("freeze_output_tokens", fields.freeze),
            hidden_reasoning: fields.reasoning.get_untracked(),
            safety_factor: filled(fields.factor).map(Factor::from_text),
        };
        if whole.fits(form) {
            form.send(async move { models::create(&body).await }, move |made| on_made.run(made));
        }
    });
    let modes = ModelMode::ALL.iter().map(|mode| (mode.to_string(), mode.to_string())).collect();
    view! {
        <FormDialog title=t.new_model() form=form action=t.create_model().to_owned() on_submit=submit on_close=on_close>
            <div class="form-grid">
                <TextField name="name" label=t.name() hint=t.model_name_hint() value=name failure=form.failure autofocus=true/>
                <SelectField name="mode" label=t.does() choices=modes value=mode failure=form.failure/>
            </div>
            <Fields fields=fields failure=form.failure/>
        </FormDialog>
    }
}

/// Other figures for a model.
#[component]
pub fn ChangeModelDialog(
    /// As it was read.
    model: Model,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was changed.
    on_changed: Callback<Model>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let fields = Typed {
        tokenizer: typed(model.tokenizer),
        context: typed(model.context_window.to_string()),
        longest: typed(model.max_output_tokens.to_string()),
        freeze: typed(model.freeze_output_tokens.to_string()),
        factor: typed(model.safety_factor.to_string()),
        reasoning: RwSignal::new(model.hidden_reasoning),
    };
    let (id, version) = (model.id.to_string(), model.version);
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let body = ChangeModel {
            tokenizer: Some(fields.tokenizer.get_untracked().trim().to_owned()),
            context_window: Some(whole.need("context_window", fields.context)),
            max_output_tokens: Some(whole.need("max_output_tokens", fields.longest)),
            freeze_output_tokens: Some(whole.need("freeze_output_tokens", fields.freeze)),
            hidden_reasoning: Some(fields.reasoning.get_untracked()),
            safety_factor: filled(fields.factor).map(Factor::from_text),
        };
        if whole.fits(form) {
            let id = id.clone();
            form.send(async move { models::change(&id, version, &body).await }, move |changed| {
                toasts.show(Toast::ok(t.model_changed().to_owned(), None));
                on_close.run(());
                on_changed.run(changed);
            });
        }
    });
    view! {
        <FormDialog title=t.change_model() subtitle=model.name form=form action=t.save().to_owned() on_submit=submit on_close=on_close>
            <Fields fields=fields failure=form.failure/>
        </FormDialog>
    }
}

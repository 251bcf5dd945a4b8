//! A new target, a changed one, and the question before one is removed.

use api_types::Factor;
use api_types::target::{ChangeTarget, CreateTarget, Dialect, Target};
use api_types::upstream::Upstream;
use leptos::prelude::*;

use crate::api::models;
use crate::components::check_set::CheckSet;
use crate::components::field::{SelectField, TextField};
use crate::components::switch::Switch;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, filled, typed};
use crate::pages::form_dialog::{Ask, FormDialog};

/// Adds a target, or changes the given one, whose upstream stays.
#[component]
pub fn TargetDialog(
    /// The model.
    model: String,
    /// The upstreams that there are.
    upstreams: Vec<Upstream>,
    /// The one to be changed.
    #[prop(optional)]
    target: Option<Target>,
    /// It is done or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let is_new = target.is_none();
    let before = target.as_ref();
    let upstream = typed(upstreams.first().map(|upstream| upstream.id.to_string()).unwrap_or_default());
    let name = typed(before.map(|target| target.upstream_model.clone()).unwrap_or_default());
    let priority = typed(before.map_or(0, |target| target.priority).to_string());
    let weight = typed(before.map_or(1, |target| target.weight).to_string());
    let multiplier = typed(before.map_or_else(|| "1".to_owned(), |target| target.multiplier.to_string()));
    let enabled = RwSignal::new(before.is_none_or(|target| target.enabled));
    let speaks = before.map(|target| target.dialects.iter().map(ToString::to_string).collect::<Vec<_>>());
    let speaks = RwSignal::new(speaks.unwrap_or_default());
    let existing = StoredValue::new(before.map(|target| (target.id.to_string(), target.version)));
    let dialects = move || {
        let words = speaks.get_untracked();
        Dialect::ALL.iter().copied().filter(|one| words.iter().any(|word| word == one.as_str())).collect::<Vec<_>>()
    };
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let upstream_model = name.get_untracked().trim().to_owned();
        let (priority, weight) = (whole.need("priority", priority), whole.need("weight", weight));
        let multiplier = filled(multiplier).map(Factor::from_text);
        let (dialects, enabled, model) = (dialects(), enabled.get_untracked(), model.clone());
        let upstream_id = upstream.get_untracked().parse();
        if upstream_id.is_err() {
            whole.refuse("upstream_id", "required");
        }
        let (Ok(upstream_id), true) = (upstream_id, whole.fits(form)) else { return };
        let saved = move |_| {
            toasts.show(Toast::ok(t.target_saved().to_owned(), None));
            on_close.run(());
        };
        match existing.get_value() {
            Some((id, version)) => {
                let body = ChangeTarget {
                    upstream_model: Some(upstream_model),
                    dialects: Some(dialects),
                    priority: Some(priority),
                    weight: Some(weight),
                    multiplier,
                    enabled: Some(enabled),
                };
                form.send(async move { models::change_target(&id, version, &body).await }, saved);
            }
            None => {
                // None ticked: what its upstream speaks.
                let dialects = (!dialects.is_empty()).then_some(dialects);
                let body =
                    CreateTarget { upstream_id, upstream_model, dialects, priority, weight, multiplier, enabled };
                form.send(async move { models::add_target(&model, &body).await }, saved);
            }
        }
    });
    let failure = form.failure;
    let accounts = upstreams.into_iter().map(|upstream| (upstream.id.to_string(), upstream.name)).collect::<Vec<_>>();
    let choice = is_new.then(|| {
        view! { <SelectField name="upstream_id" label=t.upstream() choices=accounts value=upstream failure=failure/> }
    });
    let words = Dialect::ALL.iter().map(|dialect| (dialect.to_string(), dialect.to_string())).collect();
    let (title, action) = if is_new { (t.new_target(), t.add_target()) } else { (t.change_target(), t.save()) };
    view! {
        <FormDialog title=title form=form action=action.to_owned() on_submit=submit on_close=on_close>
            <div class="form-grid">
                {choice}
                <TextField name="upstream_model" label=t.upstream_model() value=name failure=failure autofocus=true/>
                <TextField name="priority" label=t.priority() hint=t.priority_hint() value=priority failure=failure/>
                <TextField name="weight" label=t.weight() hint=t.weight_hint() value=weight failure=failure/>
                <TextField name="multiplier" label=t.multiplier() value=multiplier failure=failure/>
            </div>
            <CheckSet name="dialects" label=t.dialects() choices=words chosen=speaks failure=failure/>
            <Switch name="enabled" label=t.use_it() value=enabled/>
        </FormDialog>
    }
}

/// Asks before a target is removed.
#[component]
pub fn DeleteTargetDialog(
    /// Which.
    target: Target,
    /// It is done or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let id = target.id.to_string();
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { models::delete_target(&id).await }, move |()| {
            toasts.show(Toast::ok(t.target_deleted().to_owned(), None));
            on_close.run(());
        });
    });
    view! {
        <Ask title=t.delete_target() words=t.delete_target_words() action=t.delete() form=form on_yes=yes on_close=on_close>
            <p class="mono small">{target.upstream_model}</p>
        </Ask>
    }
}

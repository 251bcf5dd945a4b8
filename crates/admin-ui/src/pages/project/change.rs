//! Another name and other limits for a project.

use api_types::project::{ChangeProject, Project, SoftAction, SoftBudget};
use domain::Unit;
use leptos::prelude::*;

use crate::api::projects;
use crate::components::field::{SelectField, TextField};
use crate::components::live::live;
use crate::components::toasts::Toasts;
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, Whole, filled, typed};
use crate::pages::form_dialog::FormDialog;
use crate::pages::limits_fields::{LimitsFields, LimitsTyped, OWN};

/// The dialog.
#[component]
pub fn ChangeProjectDialog(
    /// As it was read.
    project: Project,
    /// What it counts in.
    unit: Unit,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was changed.
    on_changed: Callback<Project>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let (name, limits) = (typed(project.name.clone()), LimitsTyped::of(&project.limits));
    let soft = project.soft_budget.clone();
    let percent = typed(soft.as_ref().map(|soft| soft.percent.to_string()).unwrap_or_default());
    let action = typed(soft.as_ref().map_or(SoftAction::Warn, |soft| soft.action).as_str());
    let model = typed(soft.and_then(|soft| soft.model).unwrap_or_default());
    let has_budget = project.budget.is_some();
    let (id, version) = (project.id.to_string(), project.version);
    let submit = Callback::new(move |()| {
        let id = id.clone();
        let mut whole = Whole::default();
        let percent: Option<u32> = whole.read("soft_budget.percent", percent);
        if !whole.fits(form) {
            return;
        }
        let what = action.get_untracked().parse().unwrap_or(SoftAction::Warn);
        let model = filled(model).filter(|_| what == SoftAction::Downgrade);
        let soft = percent.map(|percent| SoftBudget { percent, action: what, model });
        let body = ChangeProject {
            name: Some(name.get_untracked().trim().to_owned()),
            soft_budget: Some(soft),
            limits: Some(Some(limits.value())),
        };
        form.send(async move { projects::change(&id, version, &body).await }, move |changed| {
            tell(toasts, t, t.project_changed(), changed.in_force);
            on_close.run(());
            on_changed.run(changed);
        });
    });
    view! {
        <FormDialog title=t.change_project() subtitle=project.name form=form action=t.save().to_owned() on_submit=submit on_close=on_close>
            <TextField name="name" label=t.name() value=name failure=form.failure autofocus=true/>
            {has_budget.then(|| view! { <SoftBudgetFields percent=percent action=action model=model form=form/> })}
            <h3>{t.limits()}</h3>
            <LimitsFields typed=limits names=OWN unit=unit failure=form.failure/>
        </FormDialog>
    }
}

/// When a budget begins to warn, or to answer with another model.
#[component]
fn SoftBudgetFields(
    percent: RwSignal<String>,
    action: RwSignal<String>,
    model: RwSignal<String>,
    form: Form,
) -> impl IntoView {
    let t = language();
    let failure = form.failure;
    let actions = [(SoftAction::Warn, t.soft_warn()), (SoftAction::Downgrade, t.soft_downgrade())];
    let actions = actions.map(|(action, words)| (action.as_str().to_owned(), words.to_owned())).into();
    let downgrades = move || *action.read() == SoftAction::Downgrade.as_str();
    view! {
        <div class="form-grid">
            <TextField name="soft_budget.percent" label=t.soft_budget() hint=t.soft_budget_hint() value=percent failure=failure/>
            <SelectField name="soft_budget.action" label=t.soft_action() choices=actions value=action failure=failure/>
        </div>
        {live(move || downgrades().then(|| view! {
            <TextField name="soft_budget.model" label=t.soft_model() value=model failure=failure/>
        }))}
    }
}

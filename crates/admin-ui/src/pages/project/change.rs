//! Another name and other limits for a project.

use api_types::project::{ChangeProject, Project};
use domain::Unit;
use leptos::prelude::*;

use crate::api::projects;
use crate::components::field::TextField;
use crate::components::toasts::Toasts;
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, typed};
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
    let (id, version) = (project.id.to_string(), project.version);
    let submit = Callback::new(move |()| {
        let id = id.clone();
        let body = ChangeProject {
            name: Some(name.get_untracked().trim().to_owned()),
            soft_budget: None, // stays as it is
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
            <h3>{t.limits()}</h3>
            <LimitsFields typed=limits names=OWN unit=unit failure=form.failure/>
        </FormDialog>
    }
}

//! A new project, with a budget where wanted.

use api_types::project::{Budget, CreateProject};
use api_types::tenant::PeriodKind;
use domain::Unit;
use leptos::prelude::*;

use crate::api::projects;
use crate::components::field::{AmountField, SelectField, TextField};
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, filled};
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;
use crate::pages::tenants::create::period_choices;
use crate::router::Router;

/// A budget as typed: amount and period; none where no amount is.
#[must_use]
pub fn typed_budget(amount: RwSignal<String>, period: RwSignal<String>) -> Option<Budget> {
    let period = period.get_untracked().parse().unwrap_or(PeriodKind::Month);
    filled(amount).map(|amount| Budget { amount: wire::amount(&amount), period })
}

/// The dialog. Leads to the project, where its first key is made.
#[component]
pub fn CreateProjectDialog(
    /// Whose.
    tenant: String,
    /// What it counts in.
    unit: Unit,
    /// It is done or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let router = expect_context::<Router>();
    let form = Form::new();
    let [name, amount] = [(); 2].map(|()| RwSignal::new(String::new()));
    let period = RwSignal::new(PeriodKind::Month.as_str().to_owned());
    let submit = Callback::new(move |()| {
        let body = CreateProject {
            name: name.get_untracked().trim().to_owned(),
            budget: typed_budget(amount, period),
            soft_budget: None,
            limits: None,
        };
        let key = form.key_for(&body);
        let tenant = tenant.clone();
        let path = format!("/tenants/{tenant}/projects");
        form.send(async move { projects::create(&tenant, &body, &key).await }, move |project| {
            toasts.show(Toast::ok(t.created_named(t.project(), &project.name), None));
            on_close.run(());
            router.go(&format!("{path}/{}", project.id));
        });
    });
    view! {
        <FormDialog title=t.new_project() form=form action=t.create_project().to_owned() on_submit=submit on_close=on_close>
            <TextField name="name" label=t.name() value=name failure=form.failure autofocus=true/>
            <div class="form-grid">
                <AmountField name="budget.amount" label=t.budget() hint=t.budget_hint() unit=unit.as_str() value=amount failure=form.failure/>
                <SelectField name="budget.period" label=t.per() choices=period_choices(t) value=period failure=form.failure/>
            </div>
        </FormDialog>
    }
}

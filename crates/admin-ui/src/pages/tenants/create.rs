//! A new tenant, with its first plan where wanted.

use api_types::tenant::{CreateTenant, FirstPlan, Period, PeriodKind};
use domain::Unit;
use leptos::prelude::*;

use crate::api::tenants;
use crate::browser;
use crate::components::field::{AmountField, SelectField, TextField};
use crate::components::segmented::Segmented;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::{Language, language};
use crate::pages::form::{Form, filled};
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;
use crate::router::Router;

/// What is typed.
#[derive(Clone, Copy)]
struct Typed {
    name: RwSignal<String>,
    external_id: RwSignal<String>,
    unit: RwSignal<&'static str>,
    time_zone: RwSignal<String>,
    period: RwSignal<String>,
    plan: RwSignal<String>,
}

impl Typed {
    fn new() -> Self {
        Self {
            name: RwSignal::new(String::new()),
            external_id: RwSignal::new(String::new()),
            unit: RwSignal::new(Unit::Credit.as_str()),
            time_zone: RwSignal::new(browser::own_time_zone()),
            period: RwSignal::new(PeriodKind::Month.as_str().to_owned()),
            plan: RwSignal::new(String::new()),
        }
    }

    fn body(self) -> CreateTenant {
        let kind = self.period.get_untracked().parse().unwrap_or(PeriodKind::Month);
        CreateTenant {
            name: self.name.get_untracked().trim().to_owned(),
            external_id: filled(self.external_id),
            unit: if self.unit.get_untracked() == Unit::Token.as_str() { Unit::Token } else { Unit::Credit },
            time_zone: Some(self.time_zone.get_untracked()),
            period: Period { kind, anchor: None },
            plan: filled(self.plan).map(|amount| FirstPlan { amount: wire::amount(&amount), renews_at: None }),
            settings: None,
        }
    }
}

/// The dialog.
#[component]
pub fn CreateTenantDialog(
    /// It is done or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let router = expect_context::<Router>();
    let form = Form::new();
    let typed = Typed::new();
    let submit = Callback::new(move |()| {
        let body = typed.body();
        let key = form.key_for(&body);
        form.send(async move { tenants::create(&body, &key).await }, move |tenant| {
            toasts.show(Toast::ok(t.created_named(t.tenant(), &tenant.name), None));
            on_close.run(());
            router.go(&format!("/tenants/{}", tenant.id));
        });
    });
    view! {
        <FormDialog title=t.new_tenant() form=form action=t.create_tenant().to_owned() on_submit=submit on_close=on_close>
            <Fields typed=typed form=form/>
        </FormDialog>
    }
}

#[component]
fn Fields(typed: Typed, form: Form) -> impl IntoView {
    let t = language();
    let failure = form.failure;
    let zones = browser::time_zones().into_iter().map(|zone| (zone.clone(), zone)).collect::<Vec<_>>();
    let unit = Signal::derive(move || typed.unit.get());
    view! {
        <div class="form-grid">
            <TextField name="name" label=t.name() hint=t.name_tenant_hint() value=typed.name failure=failure autofocus=true/>
            <TextField name="external_id" label=t.external_id() hint=t.external_id_hint() value=typed.external_id failure=failure/>
            <Segmented name="unit" label=t.unit() hint=t.unit_hint() value=typed.unit
                choices=vec![(Unit::Credit.as_str(), t.credit()), (Unit::Token.as_str(), t.token())]/>
            <SelectField name="time_zone" label=t.time_zone() hint=t.time_zone_hint() choices=zones value=typed.time_zone failure=failure/>
            <SelectField name="period.kind" label=t.period() choices=period_choices(t) value=typed.period failure=failure/>
            <AmountField name="plan.amount" label=t.first_plan() hint=t.first_plan_hint() unit=unit value=typed.plan failure=failure/>
        </div>
    }
}

/// Every kind of period with its name.
pub fn period_choices(t: Language) -> Vec<(String, String)> {
    PeriodKind::ALL.iter().map(|kind| (kind.as_str().to_owned(), t.period_kind(*kind).to_owned())).collect()
}

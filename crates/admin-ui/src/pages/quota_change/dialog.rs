//! A delta, tried out while it is typed and made when the person says so.

use std::time::Duration;

use api_types::Numbers;
use api_types::quota_change::{CreateQuotaChange, QuotaChange};
use domain::{Amount, Unit};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::preview::{Preview, Refusal};
use crate::api::quota_changes::{self, Whose};
use crate::api::{Failure, call};
use crate::browser;
use crate::components::field::{AmountField, TextField};
use crate::components::switch::Switch;
use crate::components::toasts::Toasts;
use crate::format;
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, filled, typed};
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;

/// What the server says to the delta as typed.
#[derive(Debug, Clone, Default)]
enum Tried {
    /// Nothing to say: nothing was typed, or the answer is under way.
    #[default]
    Nothing,
    Fits(Box<QuotaChange>),
    Below(Box<Numbers>),
}

/// The dialog.
#[component]
pub fn QuotaChangeDialog(
    /// Whose quota.
    whose: Whose,
    /// By name.
    about: String,
    /// What it counts in.
    unit: Unit,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was changed.
    on_changed: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let (delta, reason, recurring) = (typed(""), typed(""), RwSignal::new(false));
    let body = move |dry_run: bool| CreateQuotaChange {
        delta: wire::amount(&delta.get_untracked()),
        reason: filled(reason).unwrap_or_else(|| if dry_run { "-".to_owned() } else { String::new() }),
        recurring: recurring.get_untracked(),
        dry_run,
    };
    let tried = tried_out(whose.clone(), unit, delta, recurring, body);
    let whose = StoredValue::new(whose);
    let submit = Callback::new(move |()| {
        let body = body(false);
        let key = form.key_for(&body);
        let whose = whose.get_value();
        form.send(async move { quota_changes::create(&whose, &body, &key).await }, move |made| {
            let total = made.after.total.as_ref().map(|total| format::short(total.as_str())).unwrap_or_default();
            tell(toasts, t, t.total_is_now(&total), made.in_force);
            on_changed.run(());
            on_close.run(());
        });
    });
    let action = Signal::derive(move || match Amount::parse(&format::typed_amount(&delta.read()), unit) {
        Ok(by) if by.is_positive() => t.change_total_by(true, &format::amount(by, unit)),
        Ok(by) if by.is_negative() => {
            t.change_total_by(false, &format::amount(Amount::ZERO.checked_sub(by).unwrap_or_default(), unit))
        }
        _ => t.change_quota().to_owned(),
    });
    // Refused by the server when it was made, not only when it was tried.
    let refused = move || {
        let failure = form.failure.get()?;
        refused_numbers(&failure).map(|numbers| view! { <Refusal numbers=numbers/> })
    };
    let preview = move || match tried.get() {
        Tried::Nothing => None,
        Tried::Fits(change) => Some(view! { <Preview change=*change/> }.into_any()),
        Tried::Below(numbers) => Some(view! { <Refusal numbers=*numbers/> }.into_any()),
    };
    let failure = form.failure;
    view! {
        <FormDialog title=t.change_quota() subtitle=about form=form action=action on_submit=submit on_close=on_close>
            <AmountField name="delta" label=t.change_by() hint=t.change_by_hint() unit=unit.as_str() value=delta failure=failure autofocus=true/>
            <div aria-live="polite" data-preview="quota">{preview}{move || matches!(tried.get(), Tried::Nothing).then_some(refused)}</div>
            <TextField name="reason" label=t.reason() hint=t.reason_hint() value=reason failure=failure/>
            <Switch name="recurring" label=t.recurring() hint=t.recurring_hint() value=recurring/>
        </FormDialog>
    }
}

/// Asks the server by `dry_run`, a moment after the typing has stopped; the latest answer wins.
fn tried_out(
    whose: Whose,
    unit: Unit,
    delta: RwSignal<String>,
    recurring: RwSignal<bool>,
    body: impl Fn(bool) -> CreateQuotaChange + Copy + Send + Sync + 'static,
) -> RwSignal<Tried> {
    const PAUSE: Duration = Duration::from_millis(300);
    let tried = RwSignal::new(Tried::Nothing);
    let number = StoredValue::new(0_u64);
    let ask = move |asked: u64| {
        let (whose, body) = (whose.clone(), body(true));
        spawn_local(async move {
            let key = browser::random_token().unwrap_or_default();
            let answer = quota_changes::create(&whose, &body, &key).await;
            if number.try_get_value() != Some(asked) {
                return;
            }
            let _ = tried.try_set(match answer {
                Ok(change) => Tried::Fits(Box::new(change)),
                Err(failure) => {
                    refused_numbers(&failure).map_or(Tried::Nothing, |numbers| Tried::Below(Box::new(numbers)))
                }
            });
        });
    };
    let mut later = debounce(PAUSE, ask);
    Effect::new(move |_| {
        recurring.track();
        let typed = Amount::parse(&format::typed_amount(&delta.read()), unit);
        let asked = number.get_value() + 1;
        number.set_value(asked);
        tried.set(Tried::Nothing);
        if typed.is_ok_and(|by| by != Amount::ZERO) {
            later(asked);
        }
    });
    tried
}

/// The four numbers that a refusal carries.
fn refused_numbers(failure: &Failure) -> Option<Numbers> {
    let Failure::Problem(problem) = failure else { return None };
    if problem.code != "below_committed" {
        return None;
    }
    call::numbers(problem.more.get("quota")?)
}

//! Form fields: label, control, hint, and the field's own error from the API.

use leptos::prelude::*;

use super::icon::Icon;
use crate::api::Failure;
use crate::i18n::{Language, language};

/// The frame of a field: label above, hint and error below, tied to the control by ids.
#[component]
pub fn Field(
    /// The field's path in the request body, such as `plan.amount`; also makes the ids.
    name: &'static str,
    /// Above the control.
    label: &'static str,
    /// Below it.
    #[prop(optional)]
    hint: &'static str,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
    /// The control; its `id` is [`control_id`] of the name.
    children: Children,
) -> impl IntoView {
    let t = language();
    let error = field_error(t, failure, name);
    let hint = (!hint.is_empty()).then(|| view! { <p class="hint" id=format!("{}-hint", control_id(name))>{hint}</p> });
    view! {
        <div class="field">
            <label for=control_id(name)>{label}</label>
            {children()}
            {move || error.get().map(|words| view! { <FieldError name=name words=words/> })}
            {hint}
        </div>
    }
}

/// What the form's last failure says about a field, or about an entry of its list.
#[must_use]
pub fn field_error(t: Language, failure: RwSignal<Option<Failure>>, name: &'static str) -> Memo<Option<String>> {
    Memo::new(move |_| {
        let failure = failure.read();
        let Some(Failure::Problem(problem)) = &*failure else { return None };
        problem.errors.iter().find(|error| is_about(&error.field, name)).map(|error| t.field_error(error))
    })
}

fn is_about(field: &str, name: &str) -> bool {
    field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// The error below a control.
#[component]
pub fn FieldError(
    /// The field.
    name: &'static str,
    /// What is wrong with it.
    words: String,
) -> impl IntoView {
    view! { <p class="error" id=format!("{}-error", control_id(name))><Icon name="warn"/><span>{words}</span></p> }
}

/// The id of the control of a field.
#[must_use]
pub fn control_id(name: &str) -> String {
    format!("f-{}", name.replace('.', "-"))
}

/// True where the form's last failure names the field.
pub fn is_invalid(failure: RwSignal<Option<Failure>>, name: &'static str) -> impl Fn() -> Option<&'static str> + Copy {
    move || {
        let failure = failure.read();
        let Some(Failure::Problem(problem)) = &*failure else { return None };
        problem.errors.iter().any(|error| is_about(&error.field, name)).then_some("true")
    }
}

/// Error and hint of a control, for `aria-describedby`.
#[must_use]
pub fn described_by(name: &str) -> String {
    let id = control_id(name);
    format!("{id}-error {id}-hint")
}

/// A line of text.
#[component]
pub fn TextField(
    /// The field's path in the request body.
    name: &'static str,
    /// Above it.
    label: &'static str,
    /// Below it.
    #[prop(optional)]
    hint: &'static str,
    /// What is typed.
    value: RwSignal<String>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
    /// `text`, `email`, `password`, `datetime-local`.
    #[prop(default = "text")]
    kind: &'static str,
    /// For password managers.
    #[prop(optional)]
    autocomplete: Option<&'static str>,
    /// Takes the focus when it appears.
    #[prop(optional)]
    autofocus: bool,
) -> impl IntoView {
    view! {
        <Field name=name label=label hint=hint failure=failure>
            <input class="input" id=control_id(name) name=name type=kind autocomplete=autocomplete.unwrap_or("off")
                autofocus=autofocus spellcheck="false" aria-invalid=is_invalid(failure, name)
                aria-describedby=described_by(name) bind:value=value/>
        </Field>
    }
}

/// An amount with its unit behind it.
#[component]
pub fn AmountField(
    /// The field's path in the request body.
    name: &'static str,
    /// Above it.
    label: &'static str,
    /// Below it.
    #[prop(optional)]
    hint: &'static str,
    /// `credit` or `token`.
    #[prop(into)]
    unit: Signal<&'static str>,
    /// What is typed.
    value: RwSignal<String>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
    /// Takes the focus when it appears.
    #[prop(optional)]
    autofocus: bool,
) -> impl IntoView {
    view! {
        <Field name=name label=label hint=hint failure=failure>
            <div class="affix">
                <input class="input num" id=control_id(name) name=name type="text" inputmode="decimal" autocomplete="off"
                    autofocus=autofocus aria-invalid=is_invalid(failure, name) aria-describedby=described_by(name)
                    bind:value=value/>
                <span class="unit">{move || unit.get()}</span>
            </div>
        </Field>
    }
}

/// One of a list.
#[component]
pub fn SelectField(
    /// The field's path in the request body.
    name: &'static str,
    /// Above it.
    label: &'static str,
    /// Below it.
    #[prop(optional)]
    hint: &'static str,
    /// Each choice's value and words.
    choices: Vec<(String, String)>,
    /// The value chosen.
    value: RwSignal<String>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let option = move |(key, words): (String, String)| {
        let own = key.clone();
        view! { <option value=key prop:selected=move || *value.read() == own>{words}</option> }
    };
    view! {
        <Field name=name label=label hint=hint failure=failure>
            <select class="input" id=control_id(name) name=name aria-invalid=is_invalid(failure, name)
                aria-describedby=described_by(name) on:change=move |event| value.set(event_target_value(&event))>
                {choices.into_iter().map(option).collect_view()}
            </select>
        </Field>
    }
}

/// Several lines of text.
#[component]
pub fn LinesField(
    /// The field's path in the request body.
    name: &'static str,
    /// Above it.
    label: &'static str,
    /// Below it.
    #[prop(optional)]
    hint: &'static str,
    /// What is typed.
    value: RwSignal<String>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    view! {
        <Field name=name label=label hint=hint failure=failure>
            <textarea class="input mono" id=control_id(name) name=name rows="3" spellcheck="false"
                aria-invalid=is_invalid(failure, name) aria-describedby=described_by(name) prop:value=value
                on:input=move |event| value.set(event_target_value(&event))></textarea>
        </Field>
    }
}

#[cfg(test)]
mod tests {
    use super::is_about;

    #[test]
    fn an_entry_of_a_list_is_about_the_list() {
        assert!(is_about("settings.outage[0].for_s", "settings.outage"));
        assert!(is_about("name", "name"));
        assert!(!is_about("names", "name"));
        assert!(!is_about("plan.amount", "amount"));
    }
}

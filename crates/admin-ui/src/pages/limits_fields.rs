//! The six limits as fields.

use api_types::limits::Limits;
use domain::{LimitName, Unit};
use leptos::prelude::*;
use serde_json::{Map, Value};

use super::form::{filled, typed};
use crate::api::Failure;
use crate::components::field::{AmountField, TextField};
use crate::format;
use crate::i18n::language;

/// Paths of the fields of a tenant's settings.
pub const OF_SETTINGS: [&str; 6] = [
    "settings.limits.rpm",
    "settings.limits.rpd",
    "settings.limits.tpm",
    "settings.limits.tpd",
    "settings.limits.in_flight",
    "settings.limits.max_per_request",
];
/// Paths of the fields of a project or key.
pub const OWN: [&str; 6] =
    ["limits.rpm", "limits.rpd", "limits.tpm", "limits.tpd", "limits.in_flight", "limits.max_per_request"];

/// What is typed, in the order of [`LimitName::ALL`].
#[derive(Debug, Clone, Copy)]
pub struct LimitsTyped([RwSignal<String>; 6]);

impl LimitsTyped {
    /// The limits that are set now.
    #[must_use]
    pub fn of(limits: &Limits) -> Self {
        let number = |limit: Option<u64>| typed(limit.map(|limit| limit.to_string()).unwrap_or_default());
        let most = limits.max_per_request.as_ref().map(ToString::to_string).unwrap_or_default();
        let Limits { rpm, rpd, tpm, tpd, in_flight, .. } = limits;
        Self([number(*rpm), number(*rpd), number(*tpm), number(*tpd), number(*in_flight), typed(most)])
    }

    /// The whole object: an empty field lifts its limit. What is no number goes to the API as it is, which refuses it at
    /// the field.
    #[must_use]
    pub fn value(self) -> Value {
        let one = |(name, value): (LimitName, RwSignal<String>)| {
            let text = filled(value).map(|text| format::typed_amount(&text));
            let value = match text {
                None => Value::Null,
                Some(text) if name == LimitName::MaxPerRequest => Value::String(text),
                Some(text) => text.parse::<u64>().map_or(Value::String(text), Value::from),
            };
            (name.as_str().to_owned(), value)
        };
        Value::Object(LimitName::ALL.into_iter().zip(self.0).map(one).collect::<Map<_, _>>())
    }
}

/// The fields.
#[component]
pub fn LimitsFields(
    /// What is typed.
    typed: LimitsTyped,
    /// [`OF_SETTINGS`] or [`OWN`].
    names: [&'static str; 6],
    /// What the account counts in.
    unit: Unit,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let one = move |((limit, value), name): ((LimitName, RwSignal<String>), &'static str)| {
        if limit == LimitName::MaxPerRequest {
            let unit = unit.as_str();
            return view! { <AmountField name=name label=t.limit_name(limit) unit=unit value=value failure=failure/> }
                .into_any();
        }
        view! { <TextField name=name label=t.limit_name(limit) value=value failure=failure/> }.into_any()
    };
    let fields = LimitName::ALL.into_iter().zip(typed.0).zip(names).map(one).collect::<Vec<_>>();
    view! { <div class="form-grid">{fields}</div><p class="hint">{t.limits_hint()}</p> }
}

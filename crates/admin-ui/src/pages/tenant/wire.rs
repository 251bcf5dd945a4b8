//! From what people type to wire types.

use api_types::{Decimal, Timestamp};
use leptos::prelude::RwSignal;

use crate::browser;
use crate::format;
use crate::pages::form::filled;

/// A typed amount. What is no decimal goes to the API as it is, which refuses it at the field.
#[must_use]
pub fn amount(text: &str) -> Decimal {
    Decimal::from_text(format::typed_amount(text))
}

/// A `datetime-local` field's instant; `None` where it is empty.
#[must_use]
pub fn instant(field: RwSignal<String>) -> Option<Timestamp> {
    browser::instant(&browser::instant_of_local(&filled(field)?)?)
}

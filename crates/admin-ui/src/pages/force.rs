//! Saying that something was done, and whether every gateway knows it already.

use crate::components::toasts::{Toast, Toasts};
use crate::i18n::Language;

/// Tells of a change that gateways decide by.
pub fn tell(toasts: Toasts, t: Language, title: impl Into<String>, in_force: Option<bool>) {
    toasts.show(match in_force {
        Some(false) => Toast::warn(title.into(), Some(t.takes_effect_later().to_owned())),
        Some(true) => Toast::ok(title.into(), Some(t.in_force_everywhere().to_owned())),
        None => Toast::ok(title.into(), None),
    });
}

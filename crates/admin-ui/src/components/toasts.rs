//! Messages after the server said so, in a corner; they stay until dismissed or for eight seconds.

use std::time::Duration;

use leptos::prelude::*;

use super::icon::Icon;
use crate::i18n::language;

const LIFETIME: Duration = Duration::from_secs(8);

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    class: &'static str,
    icon: &'static str,
    title: String,
    detail: Option<String>,
}

impl Toast {
    /// Something was done.
    #[must_use]
    pub const fn ok(title: String, detail: Option<String>) -> Self {
        Self { class: "notice ok", icon: "check", title, detail }
    }

    /// Something was done, with a reservation.
    #[must_use]
    pub const fn warn(title: String, detail: Option<String>) -> Self {
        Self { class: "notice warn", icon: "warn", title, detail }
    }

    /// Something was not done.
    #[must_use]
    pub const fn bad(title: String, detail: Option<String>) -> Self {
        Self { class: "notice bad", icon: "warn", title, detail }
    }
}

/// The messages now shown, shared by the whole console.
#[derive(Debug, Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<(u32, Toast)>>,
    next: StoredValue<u32>,
}

impl Toasts {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self { shown: RwSignal::new(Vec::new()), next: StoredValue::new(0) }
    }

    /// Shows a message.
    pub fn show(self, toast: Toast) {
        let number = self.next.get_value();
        self.next.set_value(number.wrapping_add(1));
        self.shown.update(|shown| shown.push((number, toast)));
        set_timeout(move || self.dismiss(number), LIFETIME);
    }

    fn dismiss(self, number: u32) {
        self.shown.update(|shown| shown.retain(|(other, _)| *other != number));
    }
}

impl Default for Toasts {
    fn default() -> Self {
        Self::new()
    }
}

/// The corner in which messages appear.
#[component]
pub fn ToastCorner(
    /// The messages.
    toasts: Toasts,
) -> impl IntoView {
    let t = language();
    let one = move |(number, toast): (u32, Toast)| {
        view! {
            <div class=toast.class>
                <Icon name=toast.icon/>
                <span><strong>{toast.title}</strong>{toast.detail.map(|detail| view! { <br/><span class="muted">{detail}</span> })}</span>
                <button class="btn ghost sm icon-only" type="button" aria-label=t.dismiss() on:click=move |_| toasts.dismiss(number)>
                    <Icon name="x"/>
                </button>
            </div>
        }
    };
    view! {
        <div class="toasts float" role="status">
            <For each=move || toasts.shown.get() key=|(number, _)| *number children=one/>
        </div>
    }
}

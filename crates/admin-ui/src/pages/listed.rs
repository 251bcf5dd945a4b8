//! The four states of a list: loading, empty, failed, there.

use std::sync::Arc;

use api_types::Page;
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::notice::Notice;
use crate::components::states::{Failed, Loading};
use crate::fetch::Fetch;
use crate::i18n::language;

/// Shows a list in whatever state it is. Old entries stay while newer ones can't be read, and are called older.
pub fn listed<T: Clone + Send + Sync + 'static>(
    page: Fetch<Page<T>>,
    rows: usize,
    table: impl Fn(Vec<T>) -> AnyView + Send + Sync + 'static,
    empty: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let shown = move || match (page.data.get(), page.failure.get()) {
        (Some(data), failure) if !data.items.is_empty() => with_age(failure.is_some(), table(data.items)),
        (_, Some(failure)) => failed(failure, Callback::new(move |()| page.again())),
        (Some(_), None) => empty(),
        (None, None) => view! { <Loading rows=rows/> }.into_any(),
    };
    shown.into_any()
}

/// Shows one thing in whatever state it is.
pub fn read<T: Clone + Send + Sync + 'static>(
    one: Fetch<T>,
    rows: usize,
    shown: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let view = move || match (one.data.get(), one.failure.get()) {
        (Some(data), failure) => with_age(failure.is_some(), shown(data)),
        (None, Some(failure)) => failed(failure, Callback::new(move |()| one.again())),
        (None, None) => view! { <Loading rows=rows/> }.into_any(),
    };
    view.into_any()
}

/// The page of one thing: nothing else is on it while the thing is not there. It is built anew only where the thing is no
/// longer the `same`: what moves by itself is no reason to close a dialog that someone fills in.
pub fn page<T: Clone + Send + Sync + 'static>(
    one: Fetch<T>,
    same: fn(&T, &T) -> bool,
    shown: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let known = Memo::new(move |_| one.data.read().map(|data| Shown { data, same }));
    let view = move || match known.get() {
        Some(now) => shown(Arc::unwrap_or_clone(now.data)),
        None => {
            let inside = match one.failure.get() {
                Some(failure) => failed(failure, Callback::new(move |()| one.again())),
                None => view! { <Loading rows=6/> }.into_any(),
            };
            view! { <section class="card">{inside}</section> }.into_any()
        }
    };
    view.into_any()
}

/// A thing as its page was built.
struct Shown<T> {
    data: Arc<T>,
    same: fn(&T, &T) -> bool,
}

impl<T> Clone for Shown<T> {
    fn clone(&self) -> Self {
        Self { data: Arc::clone(&self.data), same: self.same }
    }
}

impl<T> PartialEq for Shown<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.same)(&self.data, &other.data)
    }
}

fn failed(failure: crate::api::Failure, again: Callback<()>) -> AnyView {
    view! { <Failed failure=failure on_again=again/> }.into_any()
}

fn with_age(is_older: bool, inside: AnyView) -> AnyView {
    if is_older {
        view! { <div class="card-body"><Notice tone=Tone::Warn>{language().older_data()}</Notice></div>{inside} }
            .into_any()
    } else {
        inside
    }
}

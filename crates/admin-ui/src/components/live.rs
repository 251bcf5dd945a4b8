//! Parts of a page that follow signals.

use leptos::prelude::*;

/// A part of a page that is drawn anew when what it reads changes. All of them are one type, so that what surrounds them is
/// compiled once; a closure by itself is a type of its own.
pub fn live<V: IntoAny>(mut view: impl FnMut() -> V + Send + 'static) -> AnyView {
    let drawn: Box<dyn FnMut() -> AnyView + Send> = Box::new(move || view().into_any());
    drawn.into_any()
}

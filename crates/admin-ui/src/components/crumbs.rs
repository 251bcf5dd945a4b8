//! Where one is.

use leptos::prelude::*;

use crate::i18n::language;

/// A step of the way: its name and, but for the last, its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crumb {
    /// Shown.
    pub name: String,
    /// Led to; empty for the page one is on.
    pub href: String,
}

impl Crumb {
    /// A step that leads somewhere.
    #[must_use]
    pub fn to(name: impl Into<String>, href: impl Into<String>) -> Self {
        Self { name: name.into(), href: href.into() }
    }

    /// The page one is on.
    #[must_use]
    pub fn here(name: impl Into<String>) -> Self {
        Self { name: name.into(), href: String::new() }
    }
}

/// The way to this page.
#[component]
pub fn Crumbs(
    /// From the outside in.
    way: Vec<Crumb>,
) -> impl IntoView {
    let step = |crumb: Crumb| {
        if crumb.href.is_empty() {
            view! { <li aria-current="page">{crumb.name}</li> }.into_any()
        } else {
            view! { <li><a href=crumb.href>{crumb.name}</a></li> }.into_any()
        }
    };
    view! {
        <nav aria-label=language().breadcrumb()>
            <ol class="crumbs">{way.into_iter().map(step).collect_view()}</ol>
        </nav>
    }
}

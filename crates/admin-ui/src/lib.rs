//! Tollgate's web console: Leptos, rendered in the browser, served by the admin API.
//!
//! Pages fetch, components show: a component gets plain values and says what was wanted by callbacks, it never calls the
//! API. State that a reader would want back after a reload (search, sort, page, tab) lives in the address. Money is
//! computed on integers and written from the API's decimal strings, never through a float.
//!
//! The console deliberately does not know passwords, tokens or keys beyond the moment they are typed or shown: the session
//! is a cookie that scripts cannot read.
//!
//! To add a page: one folder in `pages/`, a line in `place.rs`, `parts.rs` and `app.rs`, an entry in `components/navigation.rs`, its texts in `i18n/`.

#![recursion_limit = "256"]

pub mod api;
pub mod app;
pub mod browser;
pub mod components;
pub mod fetch;
pub mod figures;
pub mod format;
pub mod i18n;
pub mod json;
pub mod pages;
pub mod parts;
pub mod place;
pub mod plot;
pub mod router;
pub mod session;
pub mod sse;
pub mod theme;

/// Shows the console in the page's body.
pub fn start() {
    leptos::mount::mount_to_body(app::App);
}

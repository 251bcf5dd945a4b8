//! A remark inside a page.

use leptos::prelude::*;

use super::badge::Tone;
use super::icon::Icon;
use super::live::live;
use crate::api::Failure;
use crate::i18n::language;

/// A remark: what is so, and what helps.
#[component]
pub fn Notice(
    /// How it is to be taken.
    tone: Tone,
    /// The words.
    children: Children,
) -> impl IntoView {
    let (class, icon) = match tone {
        Tone::Ok => ("notice ok", "check"),
        Tone::Warn => ("notice warn", "warn"),
        Tone::Bad => ("notice bad", "warn"),
        Tone::Neutral | Tone::Held | Tone::Live => ("notice info", "info"),
    };
    view! { <div class=class><Icon name=icon/><div>{children()}</div></div> }
}

/// The failure of a form as a whole; announced when it appears. Fields say their own below themselves.
#[component]
pub fn FormFailure(
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let shown = live(move || {
        failure.get().map(|failure| {
            let id = match &failure {
                Failure::Problem(problem) if problem.status >= 500 => Some(problem.request_id.clone()),
                _ => None,
            };
            view! {
                <Notice tone=Tone::Bad>
                    {t.failure(&failure)}
                    {id.map(|id| view! { <p class="tiny muted">{t.request_id()} " " <span class="mono">{id}</span></p> })}
                </Notice>
            }
        })
    });
    view! { <div role="alert">{shown}</div> }
}

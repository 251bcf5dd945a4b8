//! Where one is signed in.

use api_types::person::OwnSession;
use leptos::prelude::*;

use crate::api::users;
use crate::components::badge::{Badge, Tone};
use crate::components::button::Button;
use crate::components::card::Card;
use crate::components::notice::FormFailure;
use crate::components::toasts::{Toast, Toasts};
use crate::components::written;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::form::Form;
use crate::pages::listed::listed;

/// The sessions, each with a way to end it.
#[component]
pub fn SessionsCard() -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let page = fetch(|| (), |()| users::sessions());
    let form = Form::new();
    let end = Callback::new(move |id: String| {
        form.send(async move { users::end_session(&id).await }, move |()| {
            toasts.show(Toast::ok(t.session_ended().to_owned(), None));
            page.again();
        });
    });
    let list = move |items: Vec<OwnSession>| {
        let one = |session: OwnSession| {
            let id = session.id.to_string();
            let label = t.of_row(t.end_session(), &session.address);
            let action = if session.current {
                view! { <Badge tone=Tone::Ok text=t.this_session() plain=true/> }.into_any()
            } else {
                let press = Callback::new(move |()| end.run(id.clone()));
                view! { <Button words=t.end_session() label=label class="sm" on_press=press/> }.into_any()
            };
            let since = t.signed_in_since(
                &written::moment(session.created_at, t, None),
                &written::moment(session.last_seen_at, t, None),
            );
            view! {
                <li>
                    <div class="spread"><span class="mono">{session.address}</span>{action}</div>
                    <span class="small muted">{since}</span>
                    <span class="tiny faint wrap">{session.agent}</span>
                </li>
            }
            .into_any()
        };
        view! { <ul class="items" data-list="sessions">{items.into_iter().map(one).collect::<Vec<_>>()}</ul> }
            .into_any()
    };
    let empty = move || view! { <p class="card-body small muted">{t.no_sessions()}</p> }.into_any();
    view! {
        <Card id="sessions" title=t.sessions()>
            <FormFailure failure=form.failure/>
            {listed(page, 2, list, empty)}
        </Card>
    }
}

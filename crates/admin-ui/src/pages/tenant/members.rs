//! The people of one tenant.

use leptos::prelude::*;

use crate::api::users;
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::listed::listed;
use crate::pages::users::{Open, dialogs, table};

/// The list, for whoever may invite.
#[component]
pub fn MembersCard(
    /// Whose people.
    tenant: String,
) -> impl IntoView {
    let t = language();
    let id = StoredValue::new(tenant.clone());
    let page = fetch(move || id.get_value(), |id| async move { users::of_tenant(&id).await });
    let open = RwSignal::new(None::<Open>);
    let invite = opener(open, Open::Invite);
    let close = Callback::new(move |()| {
        open.set(None);
        page.again();
    });
    let end = view! { <Button words=t.invite() icon="plus" class="sm" on_press=invite/> }.into_any();
    let empty = move || view! { <p class="card-body small muted">{t.no_users_hint()}</p> }.into_any();
    view! {
        <Card id="members" title=t.members() end=end>{listed(page, 2, move |items| table(t, items, open), empty)}</Card>
        {dialogs(open, Some(tenant), close)}
    }
}

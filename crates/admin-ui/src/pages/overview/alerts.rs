//! Alerts that hold.

use api_types::alert::Alert;
use leptos::prelude::*;

use super::REFRESH;
use crate::api::platform;
use crate::components::card::Card;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::alerts::{grade_badge, words};
use crate::pages::listed::listed;

/// The newest open alerts.
#[component]
pub fn OpenAlerts() -> impl IntoView {
    let t = language();
    let alerts = fetch(
        || (),
        |()| async move { platform::alerts(&vec![("state", "open".to_owned()), ("limit", "6".to_owned())]).await },
    );
    alerts.poll(REFRESH);
    let list = move |items: Vec<Alert>| {
        let one = |alert: Alert| {
            let href = format!("/tenants/{}", alert.tenant_id);
            view! {
                <li>
                    <div class="spread">{grade_badge(t, alert.grade)}<span class="tiny faint">{crate::components::written::moment(alert.opened_at, t, None)}</span></div>
                    <span class="strong">{t.alert_kind(&alert.kind).to_owned()}</span>
                    <span class="muted">{words(t, &alert)}" "<a href=href>{t.look()}</a></span>
                </li>
            }
            .into_any()
        };
        view! { <ul class="items">{items.into_iter().map(one).collect::<Vec<_>>()}</ul> }.into_any()
    };
    let empty = move || view! { <p class="card-body small muted">{t.no_open_alerts()}</p> }.into_any();
    let end = view! { <a href="/alerts">{t.all_alerts()}</a> }.into_any();
    view! { <Card id="open-alerts" title=t.open_alerts() end=end>{listed(alerts, 2, list, empty)}</Card> }
}

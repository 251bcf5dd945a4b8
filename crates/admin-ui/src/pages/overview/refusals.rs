//! Why requests were refused.

use leptos::prelude::*;

use super::Known;
use crate::components::card::Card;
use crate::components::live::live;
use crate::figures::svg_percent;
use crate::format;
use crate::i18n::language;

/// Refusals of the last day by reason, most first.
#[component]
pub fn RefusalsCard(
    /// What the page knows.
    overview: Known,
) -> impl IntoView {
    let t = language();
    let inside = live(move || {
        let refusals = overview.get().map(|data| data.refusals).unwrap_or_default();
        if refusals.is_empty() {
            return view! { <p class="card-body small muted">{t.nothing_refused()}</p> }.into_any();
        }
        let all: i64 = refusals.iter().map(|one| one.requests).sum();
        let most = refusals.iter().map(|one| one.requests).max().unwrap_or(1).max(1);
        let row = |one: api_types::platform::Refusals| {
            let width = svg_percent(one.requests.saturating_mul(10_000) / most);
            let share = super::share(one.requests, all);
            view! {
                <tr>
                    <th scope="row">{t.refusal(&one.reason)}</th>
                    <td><svg class="hbar" role="img" aria-label=share>
                        <rect class="t" width="100%" height="10" rx="2"></rect><rect class="v" width=width height="10" rx="2"></rect>
                    </svg></td>
                    <td class="r">{format::integer(one.requests)}</td>
                </tr>
            }
            .into_any()
        };
        let rows = refusals.into_iter().map(row).collect::<Vec<_>>();
        view! {
            <div class="table-wrap">
                <table class="table dense">
                    <thead><tr><th scope="col">{t.reason()}</th><th scope="col">{t.share()}</th><th scope="col" class="r">{t.requests()}</th></tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
        .into_any()
    });
    view! { <Card id="refusals" title=t.refusals_24h()>{inside}</Card> }
}

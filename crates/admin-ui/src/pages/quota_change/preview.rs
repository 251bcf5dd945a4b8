//! What a change would make of the numbers, by the server's own arithmetic.

use api_types::quota_change::QuotaChange;
use api_types::{Decimal, Numbers};
use domain::{Amount, Unit};
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::gate::{Gate, Size};
use crate::components::notice::Notice;
use crate::figures::Figures;
use crate::format;
use crate::i18n::{Language, language};

/// A number with its name; `None`: no limit.
type Named = (&'static str, Option<Decimal>);

/// Before, change, after.
#[component]
pub fn Preview(
    /// What the server would make of it.
    change: QuotaChange,
) -> impl IntoView {
    let t = language();
    let (before, after) = (change.before, change.after);
    let bar = |numbers: &Numbers, about: &'static str| {
        let figures = Figures::read(numbers, Amount::ZERO).ok();
        figures.map(|figures| view! { <span>{about}</span><Gate figures=figures about=about size=Size::Mini/> })
    };
    let bars = (bar(&before, t.before()), bar(&after, t.after()));
    let unit = before.unit;
    let rows = four(t, before).into_iter().zip(four(t, after));
    let row = |((name, before), (_, after)): (Named, Named)| {
        let change = difference(before.as_ref(), after.as_ref(), unit);
        let class = if change.is_some() { "changed" } else { "" };
        let shown = |value: Option<Decimal>| {
            value.map_or_else(|| t.no_limit().to_owned(), |value| format::short(value.as_str()))
        };
        let change = change.map_or_else(|| "0.00".to_owned(), |by| format::amount(by, unit));
        view! {
            <tr class=class>
                <th scope="row">{name}</th>
                <td class="r">{shown(before)}</td><td class="r">{change}</td><td class="r">{shown(after)}</td>
            </tr>
        }
        .into_any()
    };
    view! {
        <div class="preview">
            <div class="bars">{bars.0}{bars.1}</div>
            <table class="table dense">
                <caption class="vh">{t.before_and_after()}</caption>
                <thead><tr>
                    <td></td><th scope="col" class="r">{t.before()}</th><th scope="col" class="r">{t.change()}</th><th scope="col" class="r">{t.after()}</th>
                </tr></thead>
                <tbody>{rows.map(row).collect::<Vec<_>>()}</tbody>
            </table>
        </div>
    }
}

fn four(t: Language, numbers: Numbers) -> [Named; 4] {
    [
        (t.total(), numbers.total),
        (t.used(), Some(numbers.used)),
        (t.in_flight(), Some(numbers.frozen)),
        (t.remaining(), numbers.remaining),
    ]
}

/// By how much a number changes; `None` where it stays.
fn difference(before: Option<&Decimal>, after: Option<&Decimal>, unit: Unit) -> Option<Amount> {
    let before = before?.amount(unit).ok()?;
    let by = after?.amount(unit).ok()?.checked_sub(before).ok()?;
    (by != Amount::ZERO).then_some(by)
}

/// Why a change is refused, with the four numbers that are in its way.
#[component]
pub fn Refusal(
    /// As they are.
    numbers: Numbers,
) -> impl IntoView {
    let t = language();
    let most = numbers.remaining.as_ref().and_then(|left| left.amount(numbers.unit).ok()).unwrap_or_default();
    let most = format::amount(if most.is_negative() { Amount::ZERO } else { most }, numbers.unit);
    let one = |(name, value): Named| {
        let value = value.map_or_else(|| t.no_limit().to_owned(), |value| format::short(value.as_str()));
        view! { <div><dt>{name}</dt><dd class="num">{value}</dd></div> }.into_any()
    };
    let rows = four(t, numbers).into_iter().map(one).collect::<Vec<_>>();
    view! {
        <Notice tone=Tone::Bad>
            <strong>{t.below_committed()}</strong>
            <dl class="facts" data-refused="numbers">{rows}</dl>
            <p class="small">{t.lower_by_at_most(&most)}</p>
        </Notice>
    }
}

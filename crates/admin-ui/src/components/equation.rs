//! The four numbers as the equation they are: total = used + in flight + remaining.

use api_types::Numbers;
use leptos::prelude::*;

use super::badge::{Badge, Tone};
use super::figure::Exact;
use super::swatch::{Part, Swatch};
use crate::figures::{Figures, Standing};
use crate::format;
use crate::i18n::language;

/// The four numbers of an account, the largest thing on its page.
#[component]
pub fn Equation(
    /// As the API sent them.
    numbers: Numbers,
    /// The same as integers.
    figures: Figures,
    /// What the total is made of.
    #[prop(into)]
    made_of: String,
) -> impl IntoView {
    let t = language();
    let unlimited = move || view! { <span class="faint">{t.no_limit()}</span> }.into_any();
    let exact = |text: String| view! { <Exact text=text/> }.into_any();
    let total = numbers.total.map_or_else(unlimited, |total| exact(total.to_string()));
    let remaining = numbers.remaining.map_or_else(unlimited, |remaining| exact(remaining.to_string()));
    let share = figures.total.map(|total| format::percent(figures.used, total)).filter(|share| !share.is_empty());
    view! {
        <dl class="equation">
            <div class="eq">
                <dt><Swatch part=Part::Total/>{t.total()}</dt>
                <dd class="fig" data-number="total">{total}</dd>
                <dd class="sub">{made_of}</dd>
            </div>
            <div class="eq is">
                <dt><Swatch part=Part::Used/>{t.used()}</dt>
                <dd class="fig" data-number="used">{exact(numbers.used.to_string())}</dd>
                <dd class="sub">{share.map(|share| t.of_total(&share))}</dd>
            </div>
            <div class="eq plus">
                <dt><Swatch part=Part::Frozen/>{t.in_flight()}</dt>
                <dd class="fig" data-number="frozen">{exact(numbers.frozen.to_string())}</dd>
            </div>
            <div class="eq plus">
                <dt><Swatch part=Part::Remaining/>{t.remaining()}</dt>
                <dd class="fig" data-number="remaining">{remaining}</dd>
                <dd class="sub">{standing(&figures)}</dd>
            </div>
        </dl>
    }
}

fn standing(figures: &Figures) -> Option<AnyView> {
    let t = language();
    let (tone, text) = match figures.state() {
        Standing::Good => return None,
        Standing::Low => (Tone::Warn, t.low().to_owned()),
        Standing::Dry => (Tone::Bad, t.dry().to_owned()),
        Standing::Overdraft => (Tone::Warn, t.overdraft_in_use(&format::amount(figures.overdraft_used, figures.unit))),
        Standing::Debt => (Tone::Bad, t.owed(&format::amount(figures.debt, figures.unit))),
    };
    Some(view! { <Badge tone=tone text=text plain=true/> }.into_any())
}

//! What was set aside, charged and given back.

use api_types::Decimal;
use api_types::request::Request;
use domain::{Amount, Unit};
use leptos::prelude::*;

use super::usage_of;
use crate::components::figure::Exact;
use crate::format;
use crate::i18n::language;

/// The four figures of a request.
#[component]
pub fn RequestFigures(
    /// The request.
    request: Request,
) -> impl IntoView {
    let t = language();
    // Whole tokens are written without a point; which of the two it is does not matter for a difference.
    let unit = if request.charge.as_str().contains('.') { Unit::Credit } else { Unit::Token };
    let read = |text: &Decimal| text.amount(unit).unwrap_or_default();
    let left = read(&request.freeze).checked_sub(read(&request.charge)).unwrap_or_default();
    let over = left.is_negative();
    let left = if over { Amount::ZERO.checked_sub(left).unwrap_or_default() } else { left };
    let tokens =
        usage_of(&request).map(|usage| t.token_count(&format::count(usage.total_tokens()))).unwrap_or_default();
    let (last, about) = if over { (t.overrun(), t.beyond_the_freeze()) } else { (t.given_back(), t.at_settlement()) };
    let one = |name: &'static str, value: String, about: String, mark: &'static str| {
        view! {
            <div class="kpi">
                <dt>{name}</dt><dd class="fig" data-figure=mark><Exact text=value/></dd><dd class="sub">{about}</dd>
            </div>
        }
        .into_any()
    };
    view! {
        <dl class="kpis">
            {one(t.estimate_first(), request.estimate.to_string(), t.before_the_call().to_owned(), "estimate")}
            {one(t.frozen_at_most(), request.freeze.to_string(), t.extensions(request.extensions), "freeze")}
            {one(t.charge(), request.charge.to_string(), tokens, "charge")}
            {one(last, left.format(unit), about.to_owned(), "left")}
        </dl>
    }
}

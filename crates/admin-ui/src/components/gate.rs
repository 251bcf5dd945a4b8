//! The quota bar: the gate stands at 80 % in every one of them. Geometry is SVG attributes in percent, so that it fits every
//! width without script and without style attributes, which the content security policy forbids.

use leptos::prelude::*;

use crate::figures::{Bar, Figures, GATE, Stretch, bar, svg_percent};
use crate::format;
use crate::i18n::{Language, language};

/// How large a bar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// With captions, once a page.
    Full,
    /// Without captions, in a dialog or a card.
    Plain,
    /// In a row of a list.
    Mini,
}

/// Heights and places of a size, in pixels.
struct Frame {
    class: &'static str,
    top: i32,
    height: i32,
    half_top: i32,
    half_height: i32,
    post: (i32, i32),
}

impl Size {
    const fn frame(self) -> Frame {
        match self {
            Self::Full => Frame { class: "gate", top: 24, height: 20, half_top: 29, half_height: 10, post: (15, 50) },
            Self::Plain => {
                Frame { class: "gate plain", top: 7, height: 18, half_top: 11, half_height: 10, post: (1, 31) }
            }
            Self::Mini => Frame { class: "gate mini", top: 4, height: 10, half_top: 6, half_height: 6, post: (0, 18) },
        }
    }
}

/// The quota bar of an account.
#[component]
pub fn Gate(
    /// The numbers.
    figures: Figures,
    /// Whose: begins the bar's description.
    #[prop(into)]
    about: String,
    /// How large.
    size: Size,
) -> impl IntoView {
    let t = language();
    let bar = bar(&figures);
    let frame = size.frame();
    let label = described(t, &about, &figures);
    let inside = if bar.limited { limited(&bar, &frame) } else { unlimited(&bar, &frame) };
    let captions = (size == Size::Full && bar.limited).then(|| captions(t, &figures));
    view! { <svg class=frame.class role="img" aria-label=label>{inside}{captions}</svg> }
}

fn limited(bar: &Bar, frame: &Frame) -> AnyView {
    let (top, height, half_top, half_height) = (frame.top, frame.height, frame.half_top, frame.half_height);
    let part = |class: &'static str, stretch: Stretch, y: i32, height: i32, round: Option<&'static str>| {
        (stretch.width > 0)
            .then(|| view! { <rect class=class x=stretch.x() y=y width=stretch.w() height=height rx=round></rect> })
    };
    let pattern = |fill: &'static str, stretch: Stretch, y: i32, height: i32| {
        (stretch.width > 0).then(|| view! { <rect x=stretch.x() y=y width=stretch.w() height=height fill=fill></rect> })
    };
    view! {
        <rect class="q-track" x="0" y=top width=svg_percent(GATE) height=height rx="2"></rect>
        {part("q-credit-track", bar.credit, half_top, half_height, None)}
        {part("q-od-track", bar.overdraft, half_top, half_height, Some("1"))}
        {part("q-used", bar.used, top, height, Some("2"))}
        {part("q-frozen-bg", bar.frozen, top, height, None)}
        {pattern("url(#pat-frozen)", bar.frozen, top, height)}
        {part("q-od-bg", bar.overdraft_used, half_top, half_height, None)}
        {pattern("url(#pat-od)", bar.overdraft_used, half_top, half_height)}
        {part("q-debt-bg", bar.debt, top, height, Some("2"))}
        {pattern("url(#pat-debt)", bar.debt, top, height)}
        <line class="q-gate" x1=svg_percent(GATE) x2=svg_percent(GATE) y1=frame.post.0 y2=frame.post.1></line>
    }
    .into_any()
}

/// Without a limit there is no gate to draw: an open track with a stub that says something was used.
fn unlimited(bar: &Bar, frame: &Frame) -> AnyView {
    let used = bar.used;
    view! {
        <rect class="q-od-track" x="0" y=frame.top width="100%" height=frame.height rx="2"></rect>
        {(used.width > 0).then(|| view! { <rect class="q-used" x="0" y=frame.top width=used.w() height=frame.height rx="2"></rect> })}
    }
    .into_any()
}

fn captions(t: Language, figures: &Figures) -> AnyView {
    let total = figures.total.map(|total| format::caption(total, figures.unit)).unwrap_or_default();
    let overdraft = figures
        .overdraft_limit
        .is_positive()
        .then(|| t.overdraft_label(&format::caption(figures.overdraft_limit, figures.unit)));
    view! {
        <svg x=svg_percent(GATE) y="13"><rect class="q-gate-cap" x="-5" y="0" width="10" height="4" rx="1"></rect></svg>
        <text class="q-label" x="0" y="63">"0"</text>
        <text class="q-label b" x=svg_percent(GATE) y="63" text-anchor="middle">{t.gate_label(&total)}</text>
        {overdraft.map(|words| view! { <text class="q-label end" x="100%" y="63" text-anchor="end">{words}</text> })}
    }
    .into_any()
}

fn described(t: Language, about: &str, figures: &Figures) -> String {
    let unit = figures.unit;
    let write = |amount| format::amount(amount, unit);
    let mut words = t.bar(
        about,
        &write(figures.used),
        figures.total.map(|total| format::caption(total, unit)).as_deref(),
        &write(figures.frozen),
        figures.remaining.map(write).as_deref(),
    );
    if figures.overdraft_limit.is_positive() {
        words.push_str(
            &t.bar_overdraft(&write(figures.overdraft_used), &format::caption(figures.overdraft_limit, unit)),
        );
    }
    if figures.debt.is_positive() {
        words.push_str(&t.bar_debt(&write(figures.debt)));
    }
    words
}

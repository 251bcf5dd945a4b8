//! Stretches of time, one lane each, drawn to one scale. Geometry is SVG attributes in percent, so that it fits every width.

use leptos::prelude::*;

use crate::figures::svg_percent;
use crate::format;

const LANE: usize = 30;
/// Nothing that is there is thinner than this, in hundredths of a percent.
const THINNEST: i64 = 70;

/// A lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Its words.
    pub words: String,
    /// Where it begins, in milliseconds.
    pub from: i64,
    /// Where it ends.
    pub to: i64,
    /// `ok`, `bad`, `wait` or nothing.
    pub class: &'static str,
}

/// The lanes over their common time.
#[component]
pub fn TimeLine(
    /// In order.
    lanes: Vec<Lane>,
    /// The end of the scale, in milliseconds.
    whole: i64,
    /// What it shows, in words.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    let whole = whole.max(1);
    let at = |ms: i64| ms.clamp(0, whole).saturating_mul(10_000) / whole;
    let height = lanes.len() * LANE;
    let lane = |(index, lane): (usize, Lane)| {
        let top = index * LANE;
        let width = (at(lane.to) - at(lane.from)).max(THINNEST);
        let from = at(lane.from).min(10_000 - THINNEST);
        let words = format!("{} · {}", lane.words, format::seconds(lane.to - lane.from));
        view! {
            <text x="0" y={top + 14}>{words}</text>
            <rect class=format!("lane {}", lane.class) x=svg_percent(from) y={top + 18} width=svg_percent(width) height="7" rx="1.5"></rect>
        }
        .into_any()
    };
    let tick = |quarter: i64| {
        let anchor = match quarter {
            0 => "start",
            4 => "end",
            _ => "middle",
        };
        let (x, words) = (svg_percent(quarter * 2_500), format::seconds(whole * quarter / 4));
        // Every other one only where there is room.
        let class = if quarter % 2 == 1 { "p2" } else { "" };
        view! {
            <line class="grid" x1=x.clone() x2=x.clone() y1="0" y2=height></line>
            <text class=class x=x y={height + 16} text-anchor=anchor>{words}</text>
        }
        .into_any()
    };
    let ticks = (0..=4).map(tick).collect::<Vec<_>>();
    let lanes = lanes.into_iter().enumerate().map(lane).collect::<Vec<_>>();
    view! {
        <svg class="time-line" role="img" aria-label=label height={height + 22}>
            {ticks}
            <line class="base" x1="0" x2="100%" y1=height y2=height></line>
            {lanes}
        </svg>
    }
}

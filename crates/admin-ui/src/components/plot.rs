//! Stacked bars over time, with a legend and a table of the same figures. The bars differ in lightness and texture; geometry
//! is SVG attributes in percent, so that a plot fits every width.

use leptos::prelude::*;

use super::live::live;
use super::segmented::Segmented;
use crate::figures::svg_percent;
use crate::i18n::language;
use crate::plot::{self, Scale, Stack};

/// More than this many named series can't be told apart: the rest is one called others.
pub const SERIES: usize = 5;

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figure {
    /// The places of the horizontal axis, in order.
    pub stacks: Vec<Stack>,
    /// The series' names, the lowest first.
    pub names: Vec<String>,
    /// How many units make one.
    pub one: i128,
    /// What it shows, in a sentence.
    pub label: String,
}

/// A plot, or the table of it.
#[component]
pub fn Plot(
    /// What is drawn.
    figure: Signal<Figure>,
    /// Names the radios.
    name: &'static str,
    /// What the horizontal axis counts, such as an hour.
    head: &'static str,
    /// `plot` or `table`.
    view: RwSignal<&'static str>,
    /// An exact value, for the table.
    write: fn(i128, i128) -> String,
) -> impl IntoView {
    let t = language();
    let choices = vec![("plot", t.as_plot()), ("table", t.as_table())];
    let drawn = live(move || {
        let figure = figure.get();
        if view.get() == "table" { tabled(&figure, head, write) } else { bars(&figure, write) }
    });
    view! {
        <div class="card-body stack">
            <div class="spread">
                {live(move || legend(&figure.read().names))}
                <Segmented name=name label=t.show_as() label_hidden=true choices=choices value=view small=true/>
            </div>
            {drawn}
        </div>
    }
}

/// What the textures stand for; nothing where there is one series.
fn legend(names: &[String]) -> AnyView {
    let one = |(index, name): (usize, &String)| {
        let (class, texture) = (format!("sw{}", index + 1), texture(index));
        view! {
            <span>
                <svg class="swatch" viewBox="0 0 14 14" aria-hidden="true">
                    <rect class=class y="1" width="14" height="12" rx="2"></rect>
                    {texture.map(|fill| view! { <rect y="1" width="14" height="12" fill=fill></rect> })}
                </svg>
                <span class="wrap">{name.clone()}</span>
            </span>
        }
        .into_any()
    };
    let parts = if names.len() > 1 { names.iter().enumerate().map(one).collect() } else { Vec::new() };
    view! { <div class="legend">{parts}</div> }.into_any()
}

const fn texture(series: usize) -> Option<&'static str> {
    match series {
        1 => Some("url(#pat-s2)"),
        3 => Some("url(#pat-s4)"),
        _ => None,
    }
}

fn px(tenths: i64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn bars(figure: &Figure, write: fn(i128, i128) -> String) -> AnyView {
    let scale = plot::scale(match figure.stacks.iter().map(Stack::sum).max() {
        // An empty plot has an axis of ones, not of the smallest amount there is.
        Some(most) if most > 0 => most,
        _ => figure.one,
    });
    let bar = |bar: plot::Bar| {
        let (x, width, y, height) = (svg_percent(bar.x), svg_percent(bar.width), px(bar.y), px(bar.height));
        let class = format!("s{} gap", bar.series + 1);
        let over = texture(bar.series).map(|fill| {
            view! { <rect x=x.clone() y=y.clone() width=width.clone() height=height.clone() fill=fill></rect> }
        });
        view! { <rect class=class x=x.clone() y=y.clone() width=width.clone() height=height.clone()></rect>{over} }
            .into_any()
    };
    let inside = plot::bars(&figure.stacks, &scale).into_iter().map(bar).collect::<Vec<_>>();
    view! {
        <svg class="plot wide h180" role="img" aria-label=figure.label.clone()>
            {axis(&scale, figure.one)}
            {inside}
            <line class="base" x1="0" x2="100%" y1="188" y2="188"></line>
            {places(figure, write)}
        </svg>
    }
    .into_any()
}

/// The steps of the values.
fn axis(scale: &Scale, one: i128) -> Vec<AnyView> {
    let tick = |value: &i128| {
        let at = plot::down(*value, scale);
        let line = (*value > 0).then(|| view! { <line class="grid" x1="0" x2="100%" y1=px(at) y2=px(at)></line> });
        view! { <text x="-8" y=px(at + 40) text-anchor="end">{plot::short(*value, one)}</text>{line} }.into_any()
    };
    scale.ticks.iter().map(tick).collect()
}

/// The names of the places, as many as there is room for, and what a pointer over one is told.
fn places(figure: &Figure, write: fn(i128, i128) -> String) -> Vec<AnyView> {
    const NAMED: usize = 6;
    let count = figure.stacks.len();
    let every = count.div_ceil(NAMED).max(1);
    let one = |(index, stack): (usize, &Stack)| {
        let (from, room) = plot::place(index, count);
        let nth = index / every;
        let name = index.is_multiple_of(every).then(|| {
            // Every other one only where there is room.
            let class = if nth % 2 == 1 { "p2" } else { "" };
            let (x, anchor) = if index == 0 { (from, "start") } else { (from + room / 2, "middle") };
            view! { <text class=class x=svg_percent(x) y="204" text-anchor=anchor>{stack.words.clone()}</text> }
        });
        let words = format!("{}: {}", stack.words, write(stack.sum(), figure.one));
        view! {
            {name}
            <rect class="hit" x=svg_percent(from) y="8" width=svg_percent(room) height="180"><title>{words}</title></rect>
        }
        .into_any()
    };
    figure.stacks.iter().enumerate().map(one).collect()
}

fn tabled(figure: &Figure, head: &'static str, write: fn(i128, i128) -> String) -> AnyView {
    let t = language();
    let sums = figure.names.len() > 1;
    let heads = figure.names.iter().map(|name| view! { <th scope="col" class="r">{name.clone()}</th> }.into_any());
    let heads = heads.collect::<Vec<_>>();
    let row = |stack: &Stack| {
        let cells =
            stack.values.iter().map(|value| view! { <td class="r">{write(*value, figure.one)}</td> }.into_any());
        let cells = cells.collect::<Vec<_>>();
        let sum = sums.then(|| view! { <td class="r strong">{write(stack.sum(), figure.one)}</td> });
        view! { <tr><th scope="row">{stack.words.clone()}</th>{cells}{sum}</tr> }.into_any()
    };
    let rows = figure.stacks.iter().rev().map(row).collect::<Vec<_>>();
    view! {
        <div class="table-wrap plot-table" tabindex="0" role="group" aria-label=figure.label.clone()>
            <table class="table dense">
                <thead><tr><th scope="col">{head}</th>{heads}{sums.then(|| view! { <th scope="col" class="r">{t.together()}</th> })}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

//! Tables: one way of drawing for all of them. Below 640 px the rows become cards: the first column is a card's heading, a
//! column with a label shows it beside its value.

use leptos::prelude::*;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    words: &'static str,
    class: &'static str,
    /// Shown beside the value in a card.
    has_label: bool,
}

impl Column {
    /// Names the row. The first one.
    #[must_use]
    pub const fn name(words: &'static str) -> Self {
        Self { words, class: "full", has_label: false }
    }

    /// A text.
    #[must_use]
    pub const fn text(words: &'static str) -> Self {
        Self { words, class: "", has_label: true }
    }

    /// A number, at the right.
    #[must_use]
    pub const fn number(words: &'static str) -> Self {
        Self { words, class: "r", has_label: true }
    }

    /// A text that only wide screens have room for.
    #[must_use]
    pub const fn aside(words: &'static str) -> Self {
        Self { words, class: "p3", has_label: true }
    }

    /// A text over the whole width of a card.
    #[must_use]
    pub const fn wide(words: &'static str) -> Self {
        Self { words, class: "full", has_label: true }
    }

    /// A state, in the corner of a card.
    #[must_use]
    pub const fn state(words: &'static str) -> Self {
        Self { words, class: "corner", has_label: false }
    }

    /// A bar, over the whole width of a card.
    #[must_use]
    pub const fn bar(words: &'static str) -> Self {
        Self { words, class: "bar-cell full", has_label: false }
    }

    /// Buttons; the heading is for screen readers.
    #[must_use]
    pub const fn actions(words: &'static str) -> Self {
        Self { words, class: "acts full", has_label: false }
    }
}

/// A row: one cell per column.
pub struct Row {
    /// `off`, `warn`, `bad` or nothing.
    pub class: &'static str,
    /// The first one names the row.
    pub cells: Vec<AnyView>,
}

impl Row {
    /// An ordinary row.
    #[must_use]
    pub const fn new(cells: Vec<AnyView>) -> Self {
        Self { class: "", cells }
    }
}

/// A cell of text.
pub fn text(words: impl Into<String>) -> AnyView {
    let words: String = words.into();
    words.into_any()
}

/// A cell of text in the type of code.
pub fn mono(words: impl Into<String>) -> AnyView {
    let words: String = words.into();
    view! { <span class="mono">{words}</span> }.into_any()
}

/// A naming cell: a link where there is somewhere to go, and a line under it.
pub fn named(name: impl Into<String>, href: Option<String>, under: AnyView) -> AnyView {
    let name: String = name.into();
    let name = match href {
        Some(href) => view! { <a class="name" href=href>{name}</a> }.into_any(),
        None => view! { <span class="name">{name}</span> }.into_any(),
    };
    view! { {name}<span class="under">{under}</span> }.into_any()
}

/// A table.
#[component]
pub fn Table(
    /// What it lists.
    #[prop(into)]
    caption: String,
    /// Its columns.
    columns: Vec<Column>,
    /// Its rows.
    rows: Vec<Row>,
    /// More classes, such as `c3` for three values a line in a card.
    #[prop(default = "")]
    class: &'static str,
) -> impl IntoView {
    let head = |column: &Column| {
        let words = column.words;
        let words = if column.class.starts_with("acts") {
            view! { <span class="vh">{words}</span> }.into_any()
        } else {
            words.into_any()
        };
        view! { <th role="columnheader" scope="col" class=column.class>{words}</th> }.into_any()
    };
    let heads = columns.iter().map(head).collect::<Vec<_>>();
    let rows = rows.into_iter().map(|row| drawn(&columns, row)).collect::<Vec<_>>();
    let label = caption.clone();
    view! {
        <div class="table-wrap" tabindex="0" role="group" aria-label=label>
            <table role="table" class=format!("table cards {class}")>
                <caption class="vh">{caption}</caption>
                <thead role="rowgroup"><tr role="row">{heads}</tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </div>
    }
}

fn drawn(columns: &[Column], row: Row) -> AnyView {
    let cell = |(index, (column, inside)): (usize, (&Column, AnyView))| {
        let class = column.class;
        if index == 0 {
            return view! { <th role="rowheader" scope="row" class=class>{inside}</th> }.into_any();
        }
        let label = column.has_label.then_some(column.words);
        view! { <td role="cell" class=class data-label=label>{inside}</td> }.into_any()
    };
    let cells = columns.iter().zip(row.cells).enumerate().map(cell).collect::<Vec<_>>();
    view! { <tr role="row" class=row.class>{cells}</tr> }.into_any()
}

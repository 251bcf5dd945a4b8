//! The table's cells: what is in force, and what was typed over it.

use api_types::matrix::PriceMatrix;
use leptos::prelude::*;
use serde_json::Value;

use crate::browser;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::form::{Form, Whole, typed};

/// The kinds that have a column, as the API names them.
pub const KINDS: [&str; 7] = ["input", "cached_input", "cache_write_5m", "output", "reasoning", "image", "per_request"];

/// A kind for people.
#[must_use]
pub const fn kind_words(t: Language, kind: usize) -> &'static str {
    match kind {
        0 => t.kind_input(),
        1 => t.kind_cached_input(),
        2 => t.kind_cache_write_5m(),
        3 => t.kind_output(),
        4 => t.kind_reasoning(),
        5 => t.kind_image(),
        _ => t.kind_request(),
    }
}

/// A model's row.
#[derive(Debug, Clone)]
pub struct Line {
    /// The model's name.
    pub model: String,
    before: [String; 7],
    /// What is typed.
    pub now: [RwSignal<String>; 7],
}

/// All cells.
#[derive(Clone, Copy)]
pub struct Cells {
    whole: StoredValue<Value>,
    lines: StoredValue<Vec<Line>>,
    /// From when the new prices are; empty: at once.
    pub from: RwSignal<String>,
}

impl Cells {
    /// As it is in force.
    #[must_use]
    pub fn of(matrix: &PriceMatrix) -> Self {
        let whole = serde_json::to_value(matrix).unwrap_or_default();
        let line = |model: &Value| {
            let price = |kind: &str| {
                let text = model.pointer(&format!("/prices/{kind}")).and_then(Value::as_str).unwrap_or_default();
                plain(text)
            };
            let before = KINDS.map(price);
            let now = before.clone().map(typed);
            Line { model: model.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(), before, now }
        };
        let lines = whole.get("models").and_then(Value::as_array).into_iter().flatten().map(line).collect();
        Self { whole: StoredValue::new(whole), lines: StoredValue::new(lines), from: typed("") }
    }

    /// The rows.
    #[must_use]
    pub fn lines(self) -> Vec<Line> {
        self.lines.get_value()
    }

    /// Throws away what was typed.
    pub fn forget(self) {
        for line in self.lines() {
            for (cell, before) in line.now.into_iter().zip(line.before) {
                cell.set(before);
            }
        }
    }

    /// How many cells differ; tracks.
    #[must_use]
    pub fn changed(self) -> usize {
        self.lines()
            .iter()
            .map(|line| line.now.iter().zip(&line.before).filter(|(now, before)| now.read().trim() != *before).count())
            .sum()
    }

    /// The whole catalog with what was typed; `None` where something is no price.
    #[must_use]
    pub fn read(self, form: Form) -> Option<Value> {
        let mut whole = self.whole.get_value();
        let mut wrong = Whole::default();
        let models = whole.get_mut("models").and_then(Value::as_array_mut)?;
        for (line, model) in self.lines().iter().zip(models) {
            if let Some(prices) = self.prices(line, &mut wrong) {
                model["prices"] = prices;
            }
        }
        wrong.fits(form).then_some(whole)
    }

    /// A model's price as it was typed; `None` where nothing was changed.
    pub fn prices(self, line: &Line, wrong: &mut Whole) -> Option<Value> {
        let unchanged = line.now.iter().zip(&line.before).all(|(now, before)| now.read_untracked().trim() == *before);
        if unchanged {
            return None;
        }
        let models = self.whole.get_value();
        let found = models
            .get("models")?
            .as_array()?
            .iter()
            .find(|model| model.get("name").and_then(Value::as_str) == Some(&line.model))?;
        // Kinds without a column stay as they are.
        let mut prices = found.get("prices").cloned().filter(Value::is_object).unwrap_or_else(|| serde_json::json!({}));
        for (kind, cell) in KINDS.into_iter().zip(line.now) {
            let text = format::typed_amount(&cell.get_untracked());
            let is_number = text.chars().all(|c| c.is_ascii_digit() || c == '.');
            if !is_number {
                wrong.refuse(&format!("{}.{kind}", line.model), "not_decimal");
            }
            prices[kind] = if text.is_empty() { Value::Null } else { Value::String(text) };
        }
        prices["valid_from"] = browser::instant_of_local(&self.from.get_untracked()).map_or(Value::Null, Value::String);
        Some(prices)
    }
}

/// A decimal without zeros at its end.
fn plain(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, rest)) => {
            let rest = rest.trim_end_matches('0');
            if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
        }
        None => text.to_owned(),
    }
}

/// The table.
#[component]
pub fn PriceTable(
    /// What it shows.
    cells: Cells,
    /// Whether it may be edited.
    may: bool,
) -> impl IntoView {
    let t = language();
    let head = |kind: usize| view! { <th scope="col" class="r">{kind_words(t, kind)}</th> }.into_any();
    let heads = (0..KINDS.len()).map(head).collect::<Vec<_>>();
    let row = |line: Line| {
        let cell = |(kind, value): (usize, RwSignal<String>)| {
            if !may {
                return view! { <td class="r">{value.get_untracked()}</td> }.into_any();
            }
            let label = t.of_row(kind_words(t, kind), &line.model);
            let before = line.before.get(kind).cloned().unwrap_or_default();
            let differs = move || if value.read().trim() == before { "input num" } else { "input num differs" };
            view! {
                <td class="r"><input class=differs type="text" inputmode="decimal" autocomplete="off" aria-label=label bind:value=value/></td>
            }
            .into_any()
        };
        let inside = line.now.into_iter().enumerate().map(cell).collect::<Vec<_>>();
        view! { <tr><th scope="row"><span class="name">{line.model.clone()}</span></th>{inside}</tr> }.into_any()
    };
    let rows = cells.lines().into_iter().map(row).collect::<Vec<_>>();
    view! {
        <div class="table-wrap matrix" tabindex="0" role="group" aria-label=t.prices()>
            <table class="table dense">
                <caption class="vh">{t.prices()}</caption>
                <thead><tr><th scope="col">{t.model()}</th>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <div class="card-foot small muted">{t.price_units()}</div>
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn prices_are_shown_without_empty_decimals() {
        assert_eq!(super::plain("2.50000000"), "2.5");
        assert_eq!(super::plain("10.00000000"), "10");
        assert_eq!(super::plain(""), "");
    }
}

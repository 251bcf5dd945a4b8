//! What was measured: a table for people, JSON for programs.

use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value, json};

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!("at least {least}"),
            Self::AtMost(most) => format!("at most {most}"),
        }
    }
}

#[derive(Debug)]
struct Line {
    name: String,
    value: String,
    target: String,
    holds: Option<bool>,
}

/// Everything measured in one run.
#[derive(Debug, Default)]
pub struct Report {
    lines: Vec<Line>,
    raw: Map<String, Value>,
}

impl Report {
    /// Keeps raw figures.
    pub fn raw(&mut self, name: &str, value: Value) {
        self.raw.insert(name.to_owned(), value);
    }

    /// A line without a number to reach; `holds` where it is right or wrong.
    pub fn line(&mut self, name: &str, value: String, holds: Option<bool>) {
        progress(&format!("{name}: {value}"));
        self.lines.push(Line { name: name.to_owned(), value, target: String::new(), holds });
    }

    /// A ratio with its target.
    pub fn ratio(&mut self, name: &str, value: f64, bound: Bound) {
        self.bounded(name, value, format!("{value:.2}"), bound.text(), bound);
    }

    /// A time with its target.
    pub fn milliseconds(&mut self, name: &str, value: f64, bound: Bound) {
        self.value(name, value, "ms", bound);
    }

    /// A figure with its unit and target.
    pub fn value(&mut self, name: &str, value: f64, unit: &str, bound: Bound) {
        self.bounded(name, value, format!("{value:.2} {unit}"), format!("{} {unit}", bound.text()), bound);
    }

    fn bounded(&mut self, name: &str, value: f64, text: String, target: String, bound: Bound) {
        progress(&format!("{name}: {text} ({target})"));
        self.lines.push(Line { name: name.to_owned(), value: text, target, holds: Some(bound.holds(value)) });
    }

    /// Writes everything as JSON.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let lines: Vec<Value> = self
            .lines
            .iter()
            .map(|line| json!({"name": line.name, "value": line.value, "target": line.target, "holds": line.holds}))
            .collect();
        let text = serde_json::to_string_pretty(&json!({"table": lines, "raw": self.raw}))?;
        std::fs::write(path, text + "\n").with_context(|| format!("{} can't be written", path.display()))
    }

    /// Prints the table.
    #[expect(clippy::print_stdout, reason = "a program for people at a terminal")]
    pub fn print(&self) {
        println!("\n| measured | value | target | |\n|---|---|---|---|");
        for line in &self.lines {
            let holds = line.holds.map_or("", |holds| if holds { "holds" } else { "MISSED" });
            println!("| {} | {} | {} | {holds} |", line.name, line.value, line.target);
        }
    }
}

/// Says how far it is.
#[expect(clippy::print_stderr, reason = "progress of long work, for people at a terminal")]
pub fn progress(text: &str) {
    eprintln!("{text}");
}

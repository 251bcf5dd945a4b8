//! Sums by group: who they are, and which of them a plot has room to name.

use std::collections::BTreeMap;

use api_types::Timestamp;
use api_types::usage::{UsagePage, UsageSum};
use leptos::prelude::*;

use super::ask::{Group, Question, Range};
use crate::api::platform::Asked;
use crate::api::{projects, tenants};
use crate::browser;
use crate::components::plot::{Figure, SERIES};
use crate::fetch::{Data, fetch};
use crate::format;
use crate::i18n::Language;
use crate::pages::overview::hours::{Measure, exact};
use crate::plot::Stack;

/// The names of tenants and of a tenant's projects: sums carry ids.
#[derive(Clone, Copy)]
pub struct Names(Data<BTreeMap<String, String>>);

impl Names {
    /// Reads those that the question can meet.
    #[must_use]
    pub fn of(question: Memo<Question>) -> Self {
        let about = move || {
            let question = question.get();
            (question.group, question.tenant)
        };
        let ask = |(group, tenant): (Group, String)| async move {
            Ok(match group {
                Group::Tenant => {
                    let query = tenants::TenantQuery { limit: 200, ..tenants::TenantQuery::default() };
                    let page = tenants::list(&query).await?;
                    page.items.into_iter().map(|tenant| (tenant.id.to_string(), tenant.name)).collect()
                }
                Group::Project if !tenant.is_empty() => {
                    let page = projects::list(&tenant).await?;
                    page.items.into_iter().map(|project| (project.id.to_string(), project.name)).collect()
                }
                _ => BTreeMap::new(),
            })
        };
        Self(fetch(about, ask).data)
    }

    /// What a group is called; an id without a name is cut in the middle.
    #[must_use]
    pub fn name(self, id: &str) -> String {
        let name = self.0.read().and_then(|names| names.get(id).cloned());
        name.unwrap_or_else(|| format::short_id(id))
    }
}

/// The group that a sum is of.
#[must_use]
pub fn id_of(sum: &UsageSum, group: Group) -> String {
    let text = |id: Option<String>| id.unwrap_or_default();
    match group {
        Group::Model => text(sum.model.clone()),
        Group::Tenant => text(sum.tenant_id.map(|id| id.to_string())),
        Group::Project => text(sum.project_id.map(|id| id.to_string())),
        Group::Key => text(sum.key_id.map(|id| id.to_string())),
    }
}

/// The parameter of the address that narrows down to one group.
#[must_use]
pub const fn parameter(group: Group) -> &'static str {
    match group {
        Group::Model => "model",
        Group::Tenant => "tenant_id",
        Group::Project => "project_id",
        Group::Key => "key_id",
    }
}

/// The groups by their whole sum, largest first.
#[must_use]
pub fn ranked(sums: &UsagePage, question: &Question) -> Vec<(String, i128)> {
    let mut whole = BTreeMap::<String, i128>::new();
    for sum in sums.items.iter().filter(|sum| sum.unit == question.unit) {
        *whole.entry(id_of(sum, question.group)).or_default() += question.measure.value(sum);
    }
    let mut ranked: Vec<_> = whole.into_iter().collect();
    ranked.sort_by(|(a, most), (b, least)| least.cmp(most).then_with(|| a.cmp(b)));
    ranked
}

/// Which place of the axis a bucket has. Rounded: days are an hour shorter or longer where clocks are changed, and months differ.
fn index(bucket: Timestamp, from: Timestamp, range: Range) -> usize {
    let seconds = bucket.instant().unix_timestamp() - from.instant().unix_timestamp();
    usize::try_from((seconds + range.bucket_s() / 2) / range.bucket_s()).unwrap_or(0)
}

/// The plot: at most four groups by name, the rest as one.
#[must_use]
pub fn figure(t: Language, sums: &UsagePage, question: &Question, names: Names) -> Figure {
    let ranked = ranked(sums, question);
    let named = if ranked.len() > SERIES { SERIES - 1 } else { ranked.len() };
    let mut series: Vec<String> = ranked.iter().take(named).map(|(id, _)| names.name(id)).collect();
    if ranked.len() > named {
        series.push(t.others());
    }
    let count = index(sums.to, sums.from, question.range).max(1);
    let mut stacks = vec![Stack { words: String::new(), values: vec![0; series.len()] }; count];
    for (place, stack) in stacks.iter_mut().enumerate() {
        let seconds = question.range.bucket_s().unsigned_abs().saturating_mul(u64::try_from(place).unwrap_or(0));
        let middle = std::time::Duration::from_secs(seconds + question.range.bucket_s().unsigned_abs() / 2);
        stack.words = written(Timestamp::from(sums.from.instant() + middle), question.range, t);
    }
    for sum in sums.items.iter().filter(|sum| sum.unit == question.unit) {
        let id = id_of(sum, question.group);
        let rank = ranked.iter().position(|(other, _)| *other == id).unwrap_or(0).min(series.len().saturating_sub(1));
        let place = index(sum.bucket, sums.from, question.range).min(count - 1);
        if let Some(value) = stacks.get_mut(place).and_then(|stack| stack.values.get_mut(rank)) {
            *value += question.measure.value(sum);
        }
    }
    let one = question.measure.one(question.unit);
    let whole = ranked.iter().map(|(_, sum)| sum).sum();
    let most = series.first().cloned().unwrap_or_default();
    let label = t.plot_of_usage(question.measure.words(t), question.range.words(t), &exact(whole, one), &most);
    Figure { stacks, names: series, one, label }
}

/// A bucket's name, from an instant in its middle.
fn written(middle: Timestamp, range: Range, t: Language) -> String {
    let at = middle.to_string();
    match range {
        Range::Day => {
            let parts = [("hour", "2-digit"), ("hourCycle", "h23")];
            format!("{}:00", browser::written(&at, "en-GB", None, &parts))
        }
        Range::Week | Range::Month => {
            browser::written(&at, t.locale(), None, &[("day", "numeric"), ("month", "short")])
        }
        Range::Year => browser::written(&at, t.locale(), None, &[("month", "short"), ("year", "2-digit")]),
    }
}

/// What narrows the request log down to a group as well.
#[must_use]
pub fn requests_of(question: &Question, id: &str) -> String {
    let asked: Asked = vec![(parameter(question.group), id.to_owned())];
    let pairs: Vec<String> = asked.iter().map(|(name, value)| format!("{name}={}", browser::encoded(value))).collect();
    format!("/requests?{}", pairs.join("&"))
}

/// Whether an id leads to a page of its own, and where.
#[must_use]
pub fn href(question: &Question, id: &str) -> Option<String> {
    match question.group {
        Group::Tenant => Some(format!("/tenants/{id}")),
        Group::Project if !question.tenant.is_empty() => Some(format!("/tenants/{}/projects/{id}", question.tenant)),
        _ => None,
    }
}

/// The measure of charges is exact in the table, whatever is drawn.
#[must_use]
pub fn charge(sum: i128, question: &Question) -> String {
    exact(sum, Measure::Charge.one(question.unit))
}

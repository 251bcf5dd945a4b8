//! Instants on the page, by the browser's calendar.

use api_types::Timestamp;

use crate::browser;
use crate::i18n::Language;

/// `14:32:07` in this browser's zone: how old a live figure is.
#[must_use]
pub fn clock(at: Timestamp, language: Language) -> String {
    let parts = [("hour", "2-digit"), ("minute", "2-digit"), ("second", "2-digit"), ("hourCycle", "h23")];
    browser::written(&at.to_string(), language.locale(), None, &parts)
}

/// `30 Nov 2026, 14:32`, in `zone` or this browser's.
#[must_use]
pub fn moment(at: Timestamp, language: Language, zone: Option<&str>) -> String {
    let parts = [
        ("day", "numeric"),
        ("month", "short"),
        ("year", "numeric"),
        ("hour", "2-digit"),
        ("minute", "2-digit"),
        ("hourCycle", "h23"),
    ];
    browser::written(&at.to_string(), language.locale(), zone, &parts)
}

/// `30 Nov 2026`.
#[must_use]
pub fn day(at: Timestamp, language: Language, zone: Option<&str>) -> String {
    let parts = [("day", "numeric"), ("month", "short"), ("year", "numeric")];
    browser::written(&at.to_string(), language.locale(), zone, &parts)
}

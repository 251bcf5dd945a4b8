//! The headers that tell a caller how far its rates are used up: those of the tightest level.

use std::time::Duration;

use domain::{LimitName, LimitUse};
use http::HeaderMap;
use quota::Refusal;

use crate::error::set;

/// A rate's three headers.
struct Names {
    limit: &'static str,
    remaining: &'static str,
    reset: &'static str,
}

const REQUESTS: Names = Names {
    limit: "x-ratelimit-limit-requests",
    remaining: "x-ratelimit-remaining-requests",
    reset: "x-ratelimit-reset-requests",
};
const TOKENS: Names = Names {
    limit: "x-ratelimit-limit-tokens",
    remaining: "x-ratelimit-remaining-tokens",
    reset: "x-ratelimit-reset-tokens",
};

const fn names(name: LimitName) -> Option<Names> {
    match name {
        LimitName::Rpm | LimitName::Rpd => Some(REQUESTS),
        LimitName::Tpm | LimitName::Tpd => Some(TOKENS),
        LimitName::InFlight | LimitName::MaxPerRequest => None,
    }
}

/// Of the request rates, and of the token rates, the one with the least left; of equals the one that takes longest.
pub fn reply_headers(headers: &mut HeaderMap, limits: &[LimitUse]) {
    for kinds in [[LimitName::Rpm, LimitName::Rpd], [LimitName::Tpm, LimitName::Tpd]] {
        let rates = limits.iter().filter(|limit| kinds.contains(&limit.name));
        let tightest = rates.min_by_key(|limit| (limit.remaining(), std::cmp::Reverse(limit.resets_in_ms)));
        if let (Some(limit), Some(names)) = (tightest, names(kinds[0])) {
            let resets_in = Duration::from_millis(u64::try_from(limit.resets_in_ms.unwrap_or(0)).unwrap_or(0));
            write(headers, &names, limit.most, limit.remaining(), resets_in);
        }
    }
}

/// The rate that refused.
pub fn refusal_headers(headers: &mut HeaderMap, name: LimitName, refusal: &Refusal) {
    let (Some(names), Some(most)) = (names(name), refusal.most) else { return };
    write(headers, &names, most.units(), refusal.available.units().max(0), refusal.retry_after.unwrap_or_default());
}

fn write(headers: &mut HeaderMap, names: &Names, most: i64, remaining: i64, resets_in: Duration) {
    set(headers, names.limit, &most.to_string());
    set(headers, names.remaining, &remaining.to_string());
    set(headers, names.reset, &span(resets_in));
}

/// A span as OpenAI writes it: `850ms`, `59.2s`, `6m0s`, `23h59m59.5s`.
fn span(span: Duration) -> String {
    let (whole, ms) = (span.as_secs(), span.subsec_millis());
    if whole == 0 && ms > 0 {
        return format!("{ms}ms");
    }
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    let mut text = if hours > 0 { format!("{hours}h{minutes}m") } else { String::new() };
    if hours == 0 && minutes > 0 {
        text = format!("{minutes}m");
    }
    let fraction = if ms == 0 { String::new() } else { format!(".{ms:03}").trim_end_matches('0').to_owned() };
    format!("{text}{seconds}{fraction}s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Level;

    #[test]
    fn spans_are_written_as_openai_does() {
        let texts: Vec<String> = [0, 850, 1_000, 59_200, 60_000, 360_001, 86_399_500]
            .into_iter()
            .map(|ms| span(Duration::from_millis(ms)))
            .collect();
        assert_eq!(texts, ["0s", "850ms", "1s", "59.2s", "1m0s", "6m0.001s", "23h59m59.5s"]);
    }

    #[test]
    fn the_tightest_level_speaks_and_nothing_is_negative() {
        let rate = |level, name, most, used, ms| LimitUse { level, name, most, used, resets_in_ms: Some(ms) };
        let mut headers = HeaderMap::new();
        let limits = [
            rate(Level::Key, LimitName::Rpm, 10, 2, 40_000),
            rate(Level::Tenant, LimitName::Rpd, 100, 97, 80_000_000),
            rate(Level::Tenant, LimitName::Tpm, 100, 180, 500),
            LimitUse { level: Level::Key, name: LimitName::InFlight, most: 1, used: 1, resets_in_ms: None },
        ];
        reply_headers(&mut headers, &limits);
        let text = |name: &str| headers[name].to_str().unwrap();
        assert_eq!((text("x-ratelimit-limit-requests"), text("x-ratelimit-remaining-requests")), ("100", "3"));
        assert_eq!(text("x-ratelimit-reset-requests"), "22h13m20s");
        assert_eq!((text("x-ratelimit-remaining-tokens"), text("x-ratelimit-reset-tokens")), ("0", "500ms"));
        let mut none = HeaderMap::new();
        reply_headers(&mut none, &limits[3..]);
        assert!(none.is_empty());
    }
}

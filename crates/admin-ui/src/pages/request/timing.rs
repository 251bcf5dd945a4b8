//! When what happened, relative to the request's arrival. Pure arithmetic on the API's instants.

use api_types::Timestamp;
use api_types::request::Request;
use domain::Attempt;

use crate::json;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// It came in.
    Received,
    /// Its quota was set aside.
    Frozen,
    /// One try at a target ended; its place in the list.
    Attempt(usize, Attempt),
    /// The answer's first byte came.
    FirstByte,
    /// The answer ended.
    Ended,
    /// Its charge was recorded.
    Recorded,
}

/// A stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stretch {
    /// Until quota was set aside.
    Admission,
    /// One try, and whether it served.
    Attempt(usize, bool),
    /// After the last try's head, until the first byte.
    Waiting,
    /// From the first byte to the end.
    Streaming,
    /// From the end to the record.
    Settling,
}

/// A request's times in milliseconds from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timing {
    /// Until the answer's end, where both are known.
    pub took_ms: Option<i64>,
    /// Until the last thing that is known.
    pub whole_ms: i64,
    /// In order.
    pub steps: Vec<(i64, What)>,
    /// In order.
    pub stretches: Vec<(i64, i64, Stretch)>,
}

/// The times of a request.
#[must_use]
pub fn of(request: &Request) -> Timing {
    let zero = request.started_at.or(request.frozen_at).unwrap_or(request.recorded_at);
    let after = |at: Timestamp| i64::try_from((at.instant() - zero.instant()).whole_milliseconds()).unwrap_or(0).max(0);
    let (frozen, first, ended) =
        (request.frozen_at.map(after), request.first_byte_at.map(after), request.ended_at.map(after));
    let recorded = after(request.recorded_at);
    let attempts = attempts(request);
    let mut timing = Timing { took_ms: request.started_at.and(ended), ..Timing::default() };
    timing.step(request.started_at.map(|_| 0), What::Received);
    timing.step(frozen, What::Frozen);
    timing.stretch(Some(0), frozen, Stretch::Admission);
    let mut at = frozen.unwrap_or(0);
    for (index, attempt) in attempts.into_iter().enumerate() {
        let until = at.saturating_add(i64::try_from(attempt.ms).unwrap_or(0));
        let serves = attempt.error.is_none();
        timing.stretch(Some(at), Some(until), Stretch::Attempt(index + 1, serves));
        timing.step(Some(until), What::Attempt(index + 1, attempt));
        at = until;
    }
    timing.stretch(Some(at), first, Stretch::Waiting);
    timing.step(first, What::FirstByte);
    timing.stretch(first, ended, Stretch::Streaming);
    timing.step(ended, What::Ended);
    timing.stretch(ended, Some(recorded), Stretch::Settling);
    timing.step(Some(recorded), What::Recorded);
    timing.steps.sort_by_key(|(at, _)| *at);
    timing.whole_ms = timing.steps.last().map_or(0, |(at, _)| *at);
    timing
}

/// The tries, where this version understands how they were written down.
fn attempts(request: &Request) -> Vec<Attempt> {
    json::reread(&request.attempts).unwrap_or_default()
}

impl Timing {
    fn step(&mut self, at: Option<i64>, what: What) {
        if let Some(at) = at {
            self.steps.push((at, what));
        }
    }

    fn stretch(&mut self, from: Option<i64>, to: Option<i64>, what: Stretch) {
        if let (Some(from), Some(to)) = (from, to)
            && to >= from
        {
            self.stretches.push((from, to, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: &serde_json::Value) -> Request {
        let id = "00000000000000000000000001";
        let mut whole = serde_json::json!({
            "request_id": format!("req_{id}"), "client_request_id": null, "tenant_id": format!("t_{id}"),
            "project_id": format!("p_{id}"), "key_id": format!("k_{id}"), "model": "atlas", "served_model": null,
            "outcome": "final", "estimated": false, "overrun": false, "freeze": "1.0", "estimate": "1.0", "extensions": 0,
            "usage": {}, "charge": "0.5", "allocations": [], "upstream_status": 200, "late": false,
            "attempts": [
                { "target": format!("tr_{id}"), "status": 503, "ms": 200, "error": "503" },
                { "target": format!("tr_{id}"), "status": 200, "ms": 300 },
            ],
            "started_at": "2026-11-30T12:00:00Z", "frozen_at": "2026-11-30T12:00:00.002Z",
            "first_byte_at": "2026-11-30T12:00:00.602Z", "ended_at": "2026-11-30T12:00:05Z",
            "recorded_at": "2026-11-30T12:00:05.05Z",
        });
        for (name, value) in change.as_object().unwrap() {
            whole[name] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn every_stretch_follows_the_one_before() {
        let timing = of(&request(&serde_json::json!({})));
        assert_eq!((timing.took_ms, timing.whole_ms), (Some(5000), 5050));
        let bounds: Vec<_> = timing.stretches.iter().map(|(from, to, _)| (*from, *to)).collect();
        assert_eq!(bounds, [(0, 2), (2, 202), (202, 502), (502, 602), (602, 5000), (5000, 5050)]);
        assert_eq!(timing.steps.len(), 7);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let bare = serde_json::json!({ "started_at": null, "frozen_at": null, "first_byte_at": null, "ended_at": null,
            "attempts": "of another version" });
        let timing = of(&request(&bare));
        assert_eq!((timing.took_ms, timing.whole_ms, timing.stretches.len()), (None, 0, 0));
        assert_eq!(timing.steps, [(0, What::Recorded)]);
    }
}

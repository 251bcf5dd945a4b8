//! What a tenant wants while the ledger can't be reached.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::field::{FieldError, Reader};

const MAX_STEPS: usize = 5;
const MAX_STEP_S: u32 = 7 * 24 * 3_600;

/// How requests are treated while the ledger is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutageMode {
    /// Refused with 503.
    Deny,
    /// Admitted up to a bounded part of the last known remaining quota.
    Allowance,
    /// Admitted without bound but for the limits on running requests, and billed afterwards.
    Bypass,
}

impl OutageMode {
    /// The word used in JSON and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allowance => "allowance",
            Self::Bypass => "bypass",
        }
    }
}

/// A mode and how long it lasts. Past the end of a last step that has one, requests are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutageStep {
    /// The mode.
    pub mode: OutageMode,
    /// Seconds; none: until the ledger is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_s: Option<u32>,
}

impl OutageStep {
    /// The mode in force `since_s` seconds into an outage.
    #[must_use]
    pub fn at(steps: &[Self], since_s: u64) -> OutageMode {
        let mut left_s = since_s;
        for step in steps {
            match step.for_s.map(u64::from) {
                Some(for_s) if left_s >= for_s => left_s -= for_s,
                _ => return step.mode,
            }
        }
        OutageMode::Deny
    }
}

pub(super) fn read(path: &str, value: &Value) -> Result<Vec<OutageStep>, Vec<FieldError>> {
    let refuse = |field: String, code, message: String| Err(vec![FieldError { field, code, message }]);
    let Value::Array(values) = value else {
        return refuse(
            path.to_owned(),
            "invalid",
            "must be a list of steps, such as [{\"mode\": \"allowance\"}]".to_owned(),
        );
    };
    if values.is_empty() || values.len() > MAX_STEPS {
        return refuse(path.to_owned(), "out_of_range", format!("must have 1 to {MAX_STEPS} steps"));
    }
    let mut steps = Vec::new();
    let mut errors = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let mut reader = Reader::new(&format!("{path}[{index}]"), value, &["mode", "for_s"]);
        let mode: Option<OutageMode> = reader.read("mode");
        let for_s: Option<u32> = reader.read("for_s");
        if reader.raw("mode").is_none() {
            reader.refuse("mode", "invalid", "must be deny, allowance or bypass");
        }
        if for_s.is_some_and(|seconds| !(1..=MAX_STEP_S).contains(&seconds)) {
            reader.refuse("for_s", "out_of_range", format!("must be from 1 to {MAX_STEP_S} seconds"));
        }
        if reader.raw("for_s").is_none() && index + 1 < values.len() {
            reader.refuse("for_s", "invalid", "every step but the last needs its seconds, or the next never comes");
        }
        match reader.finish(mode.map(|mode| OutageStep { mode, for_s })) {
            Ok(step) => steps.extend(step),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(steps) } else { Err(errors) }
}

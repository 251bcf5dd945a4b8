//! Every metric from the start on, at zero: an alert on a counter that appears with its first event misses that event,
//! and a dashboard can't tell "never" from "not measured".

use metrics::{counter, gauge, histogram};

/// Registers what has a closed set of labels. Call it once a recorder is installed.
pub fn metrics() {
    for outcome in ["frozen", "refused", "inactive", "unavailable"] {
        counter!("tollgate_gateway_freezes_total", "outcome" => outcome, "level" => "none").absolute(0);
    }
    for outcome in ["granted", "refused", "ceiling", "unavailable"] {
        counter!("tollgate_gateway_extensions_total", "outcome" => outcome).absolute(0);
    }
    for mode in ["deny", "allowance", "bypass"] {
        for outcome in ["admitted", "refused"] {
            counter!("tollgate_gateway_outage_requests_total", "mode" => mode, "outcome" => outcome).absolute(0);
        }
    }
    for unit in ["credit", "token"] {
        counter!("tollgate_gateway_charged_units_total", "unit" => unit).absolute(0);
    }
    counter!("tollgate_gateway_requests_total", "route" => "none", "status" => "none", "code" => "none").absolute(0);
    counter!("tollgate_gateway_calls_total", "ended" => "completed", "status" => "200").absolute(0);
    counter!("tollgate_gateway_roll_backs_total", "reason" => "upstream_failed").absolute(0);
    for outcome in ["ok", "unanswered", "error"] {
        let labels = [("script", "freeze"), ("command", "evalsha"), ("outcome", outcome)];
        counter!("tollgate_ledger_calls_total", &labels).absolute(0);
    }
    for name in [
        "tollgate_gateway_breaker_opened_total",
        "tollgate_gateway_completion_tokens_total",
        "tollgate_gateway_downgrades_total",
        "tollgate_gateway_estimated_total",
        "tollgate_gateway_overruns_total",
        "tollgate_gateway_prompt_tokens_total",
        "tollgate_gateway_target_ejections_total",
        "tollgate_gateway_upstream_parkings_total",
    ] {
        counter!(name).absolute(0);
    }
    for name in ["tollgate_gateway_breaker_state", "tollgate_gateway_connections", "tollgate_gateway_record_backlog"] {
        gauge!(name).set(0.0);
    }
    gauge!("tollgate_gateway_target_ejected", "target" => "none").set(0.0);
    gauge!("tollgate_gateway_upstream_parked", "upstream" => "none").set(0.0);
    let _ = histogram!("tollgate_ledger_call_seconds", "script" => "freeze");
    for name in [
        "tollgate_gateway_estimate_gap_permille",
        "tollgate_gateway_first_byte_seconds",
        "tollgate_gateway_record_lag_seconds",
        "tollgate_gateway_upstream_head_seconds",
    ] {
        let _ = histogram!(name);
    }
}

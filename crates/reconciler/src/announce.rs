//! Every metric from the start on, at zero: an alert on a counter that appears with its first event misses that event.

use metrics::{counter, gauge};

/// Registers what has a closed set of labels. Call it once a recorder is installed.
pub fn metrics() {
    for what in ["usage_records", "events", "snapshots"] {
        counter!("tollgate_removed_total", "what" => what).absolute(0);
    }
    for name in [
        "tollgate_accounts_pushed_total",
        "tollgate_compare_differences_total",
        "tollgate_compare_failures_total",
        "tollgate_compare_repairs_total",
        "tollgate_compared_accounts_total",
        "tollgate_opened_requests_expired_total",
        "tollgate_phantom_freezes_found_total",
        "tollgate_phantom_freezes_healed_total",
    ] {
        counter!(name).absolute(0);
    }
    for outcome in ["ok", "error"] {
        counter!("tollgate_webhook_attempts_total", "outcome" => outcome).absolute(0);
        counter!("tollgate_mail_attempts_total", "outcome" => outcome).absolute(0);
        counter!("tollgate_reconciler_passes_total", "pass" => "sweep", "outcome" => outcome).absolute(0);
    }
    for grade in ["urgent", "warning", "hint"] {
        gauge!("tollgate_alerts_open", "grade" => grade).set(0.0);
    }
    for name in ["tollgate_outbox_lag_seconds", "tollgate_recovering_shards", "tollgate_redis_keys"] {
        gauge!(name).set(0.0);
    }
}

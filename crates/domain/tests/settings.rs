//! Settings of a tenant: defaults, mistakes named by field, patches, and the limits that follow from them.

use serde_json::{Value, json};
use tollgate_domain::settings::{OutageMode, OutageStep, TenantSettings};
use tollgate_domain::{Amount, Unit};

fn credits(text: &str) -> Amount {
    Amount::parse(text, Unit::Credit).unwrap_or_default()
}

fn mistakes(value: &Value) -> Vec<(String, &'static str)> {
    let errors = TenantSettings::read(value, Unit::Credit).err().unwrap_or_default();
    assert!(errors.iter().all(|error| !error.message.is_empty()));
    let mut found: Vec<_> = errors.into_iter().map(|error| (error.field, error.code)).collect();
    found.sort();
    found
}

#[test]
fn nothing_said_means_the_defaults() {
    for empty in [json!({}), json!(null)] {
        let settings = TenantSettings::read(&empty, Unit::Credit).unwrap();
        assert_eq!(settings.thresholds, [90, 100]);
        assert_eq!(settings.settle_tolerance.to_string(), "0.05");
        assert_eq!(settings.outage, [OutageStep { mode: OutageMode::Allowance, for_s: None }]);
        assert_eq!(settings.overdraft_limit(credits("100"), Unit::Credit), Ok(Amount::ZERO));
        assert_eq!(settings.credit_limit(Unit::Credit), Ok(Amount::ZERO));
    }
    assert_eq!(serde_json::from_value::<TenantSettings>(json!({})).unwrap(), TenantSettings::default());
}

#[test]
fn what_was_read_survives_storage() {
    let value = json!({
        "overdraft": {"enabled": true, "limit": "5"}, "credit_limit": "10.5", "hard_stop": false, "thresholds": [100, 50, 50],
        "settle_tolerance": "0.1", "outage": [{"mode": "allowance", "for_s": 60}, {"mode": "bypass"}],
        "limits": {"rpm": 60}, "multiplier": "1.2", "drain_on_abort": true, "redis": "big-one",
        "pool": {"id": "pool_01h45ytscbebyvny4gc8cr8ma2", "weight": 3},
    });
    let settings = TenantSettings::read(&value, Unit::Credit).unwrap();
    let stored = serde_json::to_value(&settings).unwrap();
    assert_eq!(stored["credit_limit"], "10.50000000");
    assert_eq!(stored["thresholds"], json!([50, 100]));
    assert_eq!(serde_json::from_value::<TenantSettings>(stored.clone()).unwrap(), settings);
    assert_eq!(TenantSettings::read(&stored, Unit::Credit).unwrap(), settings);
    assert_eq!(settings.overdraft_limit(credits("100"), Unit::Credit), Ok(credits("5")));
}

#[test]
fn every_mistake_is_named_at_once() {
    let found = mistakes(&json!({
        "overdraft": {"enabled": "yes", "limit": "-1", "percent": 2000, "rate": 1}, "credit_limit": 0.5, "hard_stop": 1,
        "thresholds": [0, 101], "settle_tolerance": "1.1", "outage": [{"mode": "allowance"}, {"mode": "sleep", "for_s": 0}],
        "limits": {"rpm": 0}, "multiplier": "-1", "redis": "Big One", "pool": {"id": "pool_1", "weight": 1}, "colour": "red",
    }));
    let expected = [
        ("settings.colour", "unknown"),
        ("settings.credit_limit", "invalid"),
        ("settings.hard_stop", "invalid"),
        ("settings.limits.rpm", "out_of_range"),
        ("settings.multiplier", "invalid"),
        ("settings.outage[0].for_s", "invalid"),
        ("settings.outage[1].for_s", "out_of_range"),
        ("settings.outage[1].mode", "invalid"),
        ("settings.overdraft.enabled", "invalid"),
        ("settings.overdraft.limit", "out_of_range"),
        ("settings.overdraft.percent", "out_of_range"),
        ("settings.overdraft.rate", "unknown"),
        ("settings.pool", "invalid"),
        ("settings.redis", "invalid"),
        ("settings.settle_tolerance", "out_of_range"),
        ("settings.thresholds", "out_of_range"),
    ];
    assert_eq!(found, expected.map(|(field, code)| (field.to_owned(), code)));
    assert_eq!(mistakes(&json!({"overdraft": {"limit": "1", "percent": 5}}))[0].1, "conflict");
    assert_eq!(mistakes(&json!([])), [("settings".to_owned(), "invalid")]);
    assert_eq!(mistakes(&json!({"outage": []})), [("settings.outage".to_owned(), "out_of_range")]);
    for bad in [json!("0.000000001"), json!("NaN"), json!("1e309"), json!("90071992.54740992")] {
        assert_eq!(mistakes(&json!({ "credit_limit": bad })), [("settings.credit_limit".to_owned(), "invalid")]);
    }
}

#[test]
fn a_patch_changes_what_it_names() {
    let start =
        json!({"overdraft": {"enabled": true, "percent": 10}, "limits": {"rpm": 60, "tpm": 9}, "thresholds": [50]});
    let before = TenantSettings::read(&start, Unit::Credit).unwrap();
    let patch = json!({"overdraft": {"limit": "3", "percent": null}, "limits": {"rpm": null}, "thresholds": null});
    let after = before.patched(&patch, Unit::Credit).unwrap();
    assert_eq!(after.overdraft_limit(credits("100"), Unit::Credit), Ok(credits("3")));
    assert_eq!((after.limits.rpm, after.limits.tpm), (None, Some(9)));
    assert_eq!(after.thresholds, [90, 100]);
    assert_eq!(before.patched(&json!({}), Unit::Credit).unwrap(), before);
    assert_eq!(before.patched(&json!(null), Unit::Credit).unwrap(), before, "null names nothing");
    assert!(before.patched(&json!("x"), Unit::Credit).is_err());
    assert!(before.patched(&json!({"overdraft": {"limit": "3"}}), Unit::Credit).is_err(), "percent is still there");
}

#[test]
fn limits_follow_from_total_and_hard_stop() {
    let percent =
        TenantSettings::read(&json!({"overdraft": {"enabled": true}, "credit_limit": "7"}), Unit::Credit).unwrap();
    assert_eq!(percent.overdraft_limit(credits("100.00000004"), Unit::Credit), Ok(credits("20")));
    assert_eq!(percent.overdraft_limit(credits("-5"), Unit::Credit), Ok(Amount::ZERO));
    assert_eq!(percent.credit_limit(Unit::Credit), Ok(credits("7")));
    let hard = percent.patched(&json!({"hard_stop": true}), Unit::Credit).unwrap();
    assert_eq!(hard.overdraft_limit(credits("100"), Unit::Credit), Ok(Amount::ZERO));
    assert_eq!(hard.credit_limit(Unit::Credit), Ok(Amount::ZERO));
    assert_eq!(percent.tolerated_debt(credits("2")), credits("0.1"));
    let huge = TenantSettings::read(&json!({"overdraft": {"enabled": true, "percent": 1000}}), Unit::Credit).unwrap();
    assert_eq!(huge.overdraft_limit(Amount::MAX, Unit::Credit), Ok(Amount::MAX));
}

#[test]
fn outage_steps_follow_each_other() {
    let value = json!({"outage": [{"mode": "allowance", "for_s": 60}, {"mode": "bypass"}]});
    let steps = TenantSettings::read(&value, Unit::Credit).unwrap().outage;
    assert_eq!(OutageStep::at(&steps, 0), OutageMode::Allowance);
    assert_eq!(OutageStep::at(&steps, 59), OutageMode::Allowance);
    assert_eq!(OutageStep::at(&steps, 60), OutageMode::Bypass);
    assert_eq!(OutageStep::at(&steps[..1], 60), OutageMode::Deny);
}

//! A tenant's settings: what may be spent beyond its quota, when it is warned, what happens when the ledger is away.

mod outage;
mod overdraft;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::{Amount, AmountError, Unit};
use crate::amount_text::AmountText;
use crate::field::{FieldError, Reader};
use crate::ids::PoolId;
use crate::limits::{self, Limits};
use crate::price::Multiplier;

pub use outage::{OutageMode, OutageStep};
pub use overdraft::{DEFAULT_OVERDRAFT_PERCENT, Overdraft, percent_of};

const PATH: &str = "settings";
const NAMES: [&str; 11] = [
    "overdraft",
    "credit_limit",
    "hard_stop",
    "thresholds",
    "settle_tolerance",
    "outage",
    "limits",
    "multiplier",
    "drain_on_abort",
    "redis",
    "pool",
];
const MAX_THRESHOLDS: usize = 10;

/// Membership of a shared pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolMember {
    /// The pool.
    pub id: PoolId,
    /// Its share of the guaranteed part, in proportion to the other members'.
    pub weight: u32,
}

/// The settings of a tenant, as stored and as the admin API shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TenantSettings {
    /// Elasticity above total and credit line, opted in.
    pub overdraft: Overdraft,
    /// A standing line for customers who pay afterwards.
    pub credit_limit: AmountText,
    /// Neither credit line nor overdraft count; streams end at zero.
    pub hard_stop: bool,
    /// Percent used at which the tenant is warned, ascending.
    pub thresholds: Vec<u32>,
    /// The part of a freeze by which its settle may leave debt without an alert: 0.05 is 5 %.
    pub settle_tolerance: Multiplier,
    /// What happens while the ledger is away, step by step.
    pub outage: Vec<OutageStep>,
    /// Limits over all of the tenant's projects.
    pub limits: Limits,
    /// Factor on every charge.
    pub multiplier: Multiplier,
    /// Read an answer on to its end when the client leaves, for the upstream's own figure.
    pub drain_on_abort: bool,
    /// The named Redis server that holds the tenant; none: the default one.
    pub redis: Option<String>,
    /// The shared pool it belongs to.
    pub pool: Option<PoolMember>,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            overdraft: Overdraft::default(),
            credit_limit: AmountText::of(Amount::ZERO, Unit::Token),
            hard_stop: false,
            thresholds: vec![90, 100],
            settle_tolerance: Multiplier::from_steps(500),
            outage: vec![OutageStep { mode: OutageMode::Allowance, for_s: None }],
            limits: Limits::default(),
            multiplier: Multiplier::ONE,
            drain_on_abort: false,
            redis: None,
            pool: None,
        }
    }
}

impl TenantSettings {
    /// Reads settings that a person or program sent; what is absent or null takes its default.
    ///
    /// # Errors
    /// Everything that is wrong, each with its field.
    pub fn read(value: &Value, unit: Unit) -> Result<Self, Vec<FieldError>> {
        let default = Self::default();
        let mut reader = Reader::new(PATH, value, &NAMES);
        let overdraft = reader.raw("overdraft").map(|value| Overdraft::read(&reader.path_of("overdraft"), value, unit));
        let outage = reader.raw("outage").map(|value| outage::read(&reader.path_of("outage"), value));
        let limits = reader.raw("limits").map(|value| Limits::read(&reader.path_of("limits"), value, unit));
        let settings = Self {
            overdraft: overdraft.and_then(|outcome| reader.nested(outcome)).unwrap_or(default.overdraft),
            credit_limit: limits::amount(&mut reader, "credit_limit", unit, false)
                .unwrap_or_else(|| AmountText::of(Amount::ZERO, unit)),
            hard_stop: reader.read("hard_stop").unwrap_or(default.hard_stop),
            thresholds: read_thresholds(&mut reader).unwrap_or(default.thresholds),
            settle_tolerance: read_tolerance(&mut reader).unwrap_or(default.settle_tolerance),
            outage: outage.and_then(|outcome| reader.nested(outcome)).unwrap_or(default.outage),
            limits: limits.and_then(|outcome| reader.nested(outcome)).unwrap_or_default(),
            multiplier: reader.read("multiplier").unwrap_or(default.multiplier),
            drain_on_abort: reader.read("drain_on_abort").unwrap_or(default.drain_on_abort),
            redis: read_server(&mut reader),
            pool: read_pool(&mut reader),
        };
        reader.finish(settings)
    }

    /// These settings with a patch laid over them (RFC 7396: null takes a field back to its default).
    ///
    /// # Errors
    /// Everything that is wrong with the outcome, each with its field.
    pub fn patched(&self, patch: &Value, unit: Unit) -> Result<Self, Vec<FieldError>> {
        if !patch.is_object() {
            return Self::read(patch, unit).and(Ok(self.clone()));
        }
        let mut whole = serde_json::to_value(self).unwrap_or_default();
        merge(&mut whole, patch);
        Self::read(&whole, unit)
    }

    /// The credit line in force; zero under a hard stop.
    ///
    /// # Errors
    /// [`AmountError`] if what is stored is no amount of this unit.
    pub fn credit_limit(&self, unit: Unit) -> Result<Amount, AmountError> {
        if self.hard_stop { Ok(Amount::ZERO) } else { self.credit_limit.amount(unit) }
    }

    /// The overdraft in force for a tenant with this total; zero under a hard stop.
    ///
    /// # Errors
    /// [`AmountError`] if what is stored is no amount of this unit.
    pub fn overdraft_limit(&self, total: Amount, unit: Unit) -> Result<Amount, AmountError> {
        if self.hard_stop { Ok(Amount::ZERO) } else { self.overdraft.limit(total, unit) }
    }

    /// The debt that a settle of this freeze may leave without an alert, rounded down.
    #[must_use]
    pub fn tolerated_debt(&self, frozen: Amount) -> Amount {
        let units = i128::from(frozen.units().max(0)) * i128::from(self.settle_tolerance.steps())
            / i128::from(Multiplier::ONE.steps());
        i64::try_from(units).ok().and_then(|units| Amount::new(units).ok()).unwrap_or(Amount::MAX)
    }
}

fn read_thresholds(reader: &mut Reader<'_>) -> Option<Vec<u32>> {
    let mut thresholds: Vec<u32> = reader.read("thresholds")?;
    thresholds.sort_unstable();
    thresholds.dedup();
    if thresholds.len() > MAX_THRESHOLDS || thresholds.iter().any(|percent| !(1..=100).contains(percent)) {
        reader.refuse(
            "thresholds",
            "out_of_range",
            "must be at most 10 whole percentages from 1 to 100, such as [90, 100]",
        );
        return None;
    }
    Some(thresholds)
}

fn read_tolerance(reader: &mut Reader<'_>) -> Option<Multiplier> {
    let tolerance: Multiplier = reader.read("settle_tolerance")?;
    if tolerance > Multiplier::ONE {
        reader.refuse(
            "settle_tolerance",
            "out_of_range",
            "is a part of the freeze: from \"0\" to \"1\", such as \"0.05\"",
        );
        return None;
    }
    Some(tolerance)
}

fn read_server(reader: &mut Reader<'_>) -> Option<String> {
    let name: String = reader.read("redis")?;
    let fits = (1..=50).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte));
    if !fits {
        reader.refuse("redis", "invalid", "is the name of a configured server: 1 to 50 of a-z, 0-9, - and _");
        return None;
    }
    Some(name)
}

fn read_pool(reader: &mut Reader<'_>) -> Option<PoolMember> {
    let pool: PoolMember = reader.read("pool")?;
    if !(1..=1_000_000).contains(&pool.weight) {
        reader.refuse("pool", "out_of_range", "weight must be from 1 to 1000000");
        return None;
    }
    Some(pool)
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name.as_str()).or_insert(Value::Null), value);
        }
    }
}

//! Targets: which upstream serves a model, and how.

pub mod change;
pub mod create;
pub mod delete;
pub mod list;

use api_types::Factor;
use api_types::target::{Dialect, Target};

use crate::error::{Error, Result};
use crate::upstreams::health::Ill;
use crate::validate::Fields;

/// A target as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(target: store::targets::Target, ill: &Ill) -> Result<Target> {
    let dialects = spoken(&target)?;
    Ok(Target {
        id: target.id,
        model_id: target.model_id,
        upstream_id: target.upstream_id,
        upstream_model: target.upstream_model,
        dialects,
        priority: target.priority,
        weight: target.weight,
        multiplier: Factor::from_text(target.multiplier),
        enabled: target.enabled,
        health: ill.target(target.id, target.upstream_id),
        created_at: target.created_at.into(),
        version: target.version,
    })
}

/// What a target speaks.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn spoken(target: &store::targets::Target) -> Result<Vec<Dialect>> {
    let dialects = target.dialects.iter().map(|dialect| dialect.parse()).collect::<std::result::Result<_, _>>();
    dialects.map_err(|_| Error::internal("a dialect that this version does not know"))
}

/// Multipliers go up to 1000.
pub const MAX_MULTIPLIER: u64 = 10_000_000;

/// Refuses an empty list; writes each dialect once.
pub fn dialects(fields: &mut Fields, dialects: &[Dialect]) -> Vec<String> {
    fields.check(!dialects.is_empty(), "dialects", "required", "name at least one dialect");
    let mut words: Vec<String> = dialects.iter().map(ToString::to_string).collect();
    words.sort();
    words.dedup();
    words
}

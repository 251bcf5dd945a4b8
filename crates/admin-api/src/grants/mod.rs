//! Grants of quota.

pub mod create;
pub mod end;
pub mod list;

use api_types::Decimal;
use api_types::grant::Grant;
use domain::{Amount, Unit};

use crate::error::{Error, Result};

/// A grant as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(grant: store::grants::Grant, unit: Unit) -> Result<Grant> {
    let unknown = |what| move |_| Error::internal(format_args!("a {what} that this version does not know"));
    let decimal = |amount: Amount| Decimal::of(amount, unit);
    Ok(Grant {
        id: grant.id,
        tenant_id: grant.tenant_id,
        kind: grant.kind.parse().map_err(unknown("grant's kind"))?,
        amount: decimal(grant.amount),
        used: decimal(grant.used),
        remaining: decimal(grant.amount.checked_sub(grant.used).map_err(Error::internal)?),
        priority: grant.priority,
        starts_at: grant.starts_at.into(),
        ends_at: grant.ends_at.map(Into::into),
        status: grant.status.parse().map_err(unknown("grant's status"))?,
        note: grant.note,
        created_at: grant.created_at.into(),
        quota: None,
        in_force: None,
    })
}

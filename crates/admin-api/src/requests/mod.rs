//! Recorded requests of the data plane.

pub mod export;
pub mod list;
pub mod read;

use api_types::Decimal;
use api_types::request::{Allocation, Request};
use domain::Amount;

use crate::error::Result;
use crate::numbers::unit_of;

/// A request as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(request: store::requests::Request) -> Result<Request> {
    let unit = unit_of(&request.unit)?;
    let decimal = |amount: Amount| Decimal::of(amount, unit);
    let allocations = request
        .allocations
        .iter()
        .map(|(grant_id, amount)| Allocation { grant_id: *grant_id, amount: decimal(*amount) });
    Ok(Request {
        request_id: request.id,
        client_request_id: request.client_request_id,
        tenant_id: request.tenant_id,
        project_id: request.project_id,
        key_id: request.key_id,
        model: request.model,
        served_model: request.served_model,
        outcome: request.outcome,
        estimated: request.estimated,
        overrun: request.overrun,
        freeze: decimal(request.frozen),
        estimate: decimal(request.estimate),
        extensions: request.extensions,
        usage: request.usage,
        charge: decimal(request.charge),
        allocations: allocations.collect(),
        attempts: request.attempts,
        upstream_status: request.upstream_status,
        started_at: request.started_at.map(Into::into),
        frozen_at: request.frozen_at.map(Into::into),
        first_byte_at: request.first_byte_at.map(Into::into),
        ended_at: request.ended_at.map(Into::into),
        recorded_at: request.recorded_at.into(),
        late: request.late,
    })
}

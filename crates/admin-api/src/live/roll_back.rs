//! `POST /tenants/{t}/freezes/{req}/roll-back`.

use api_types::Decimal;
use api_types::live::FreezeRolledBack;
use api_types::tenant::Reason;
use domain::{Amount, Outcome, RequestId, TenantId};
use quota::books::RolledBack;

use crate::auth::policy::WriteLedger;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::live;
use crate::numbers::unit;
use crate::once::Key;
use crate::path::Ids;
use crate::reply::Reply;
use crate::validate::Fields;

/// Ends a running freeze without a charge. If the call still ends and reports its usage, one late correction charges it.
/// The request's one outcome makes a repetition harmless: it answers how the request ended.
#[utoipa::path(post, path = "/tenants/{t}/freezes/{req}/roll-back", operation_id = "roll_back_freeze", tag = "ledger",
    request_body = Reason,
    params(("t" = TenantId, Path, description = "The tenant."), ("req" = RequestId, Path, description = "The request."),
        ("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 200, description = "How the request ended.", body = FreezeRolledBack)))]
pub async fn handler(
    mut call: Call<WriteLedger>,
    Ids(id, request_id): Ids<TenantId, RequestId>,
    _key: Key,
    Json { value: body, .. }: Json<Reason>,
) -> Result<Reply<FreezeRolledBack>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let unit = unit(&tenant)?;
    let mut fields = Fields::new();
    let reason = fields.text("reason", &body.reason, 1000);
    fields.done()?;
    let done = live::answered(call.app.quota().roll_back(id, request_id)).await?;
    let (outcome, given_back) = match done {
        RolledBack::Done { amount } => (Outcome::RolledBack.as_str().to_owned(), amount),
        // Ended already, by whomever; unknown ids are 404.
        RolledBack::AlreadyRecorded | RolledBack::NotFound => {
            let request = store::requests::get(&mut call.tx, request_id, &call.reach).await?;
            let nothing_charged = request.outcome == Outcome::RolledBack.as_str();
            let given_back = if nothing_charged { request.frozen } else { Amount::ZERO };
            (request.outcome, given_back)
        }
    };
    let reply = FreezeRolledBack { request_id, outcome, given_back: Decimal::of(given_back, unit) };
    let after = serde_json::json!({ "outcome": reply.outcome, "given_back": reply.given_back, "reason": reason });
    call.commit(Audit::new("freeze.roll_back", request_id).of(id).after(&after)).await?;
    Ok(Reply::ok(reply))
}

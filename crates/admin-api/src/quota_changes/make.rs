//! Making a change: an increase in one transaction, a decrease in its steps.

use api_types::quota_change::{CreateQuotaChange, QuotaChange};
use api_types::{Decimal, Numbers};
use axum::response::{IntoResponse, Response};
use domain::ids::QuotaChangeId;
use domain::{Amount, Unit};
use store::quota_changes::{NewChange, Refusal};
use time::OffsetDateTime;

use crate::auth::{Audit, Call, Policy};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::numbers::{self, unit};
use crate::once::{self, Key, Stored};
use crate::quota_changes::{Target, decrease};
use crate::reply::Reply;
use crate::validate::Fields;

/// Checks, claims the key, makes the change, replies.
///
/// # Errors
/// 409 `below_committed` where what is used and in flight leaves no room; 422 for a wrong field.
pub(super) async fn make<P: Policy>(
    mut call: Call<P>,
    target: Target,
    key: &Key,
    Json { value: body, hash }: Json<CreateQuotaChange>,
) -> Result<Response> {
    let unit = unit(&target.tenant)?;
    let delta = check(&body, unit)?;
    if !body.dry_run
        && let Some(stored) = once::claim(&mut call, key, &hash).await?
    {
        let app = call.app.clone();
        drop(call);
        return Ok(stored.respond(&app).await);
    }
    open(&mut call, &target).await?;
    let before = numbers::one(&call.app, &mut call.tx, &target.tenant, target.present.clone()).await?;
    let change = NewChange {
        id: QuotaChangeId::generate(),
        tenant_id: target.tenant.id,
        scope: target.present.scope.clone(),
        delta,
        recurring: body.recurring,
        reason: body.reason.clone(),
        actor: call.caller.actor(),
    };
    if before.total.is_none() {
        return Err(refused(Refusal::NoLimit));
    }
    if body.dry_run {
        return try_out(call, &target, &change, before).await;
    }
    if delta.is_negative() {
        decrease::pend(&call.app, &change, unit).await?;
        let refusal = match store::quota_changes::commit(&mut call.tx, &change).await {
            Ok(Ok(())) => None,
            Ok(Err(refusal)) => Some(refused(refusal)),
            Err(error) => Some(error.into()),
        };
        if let Some(refusal) = refusal {
            let app = call.app.clone();
            // Ends the transaction: it holds the account that is to be given its limit back.
            drop(call);
            decrease::cancel(&app, &change).await;
            return Err(refusal);
        }
    } else {
        store::quota_changes::raise(&mut call.tx, &change).await?.map_err(refused)?;
    }
    let view = seen(&mut call, &target, &change, before).await?;
    let json = |numbers: &Numbers| serde_json::to_value(numbers).map_err(Error::internal);
    store::quota_changes::describe(&mut call.tx, change.id, &json(&view.before)?, &json(&view.after)?).await?;
    let scope = [change.scope.clone()];
    let stored = Stored::created(target.path.clone(), None, change.tenant_id, &scope, &view)?;
    let audit = Audit::new("quota.change", change.id).of(change.tenant_id).before(&view.before).after(&view);
    once::commit(call, key, &hash, stored, audit).await
}

fn check(body: &CreateQuotaChange, unit: Unit) -> Result<Amount> {
    let mut fields = Fields::new();
    let delta = fields.delta("delta", &body.delta, unit);
    fields.text("reason", &body.reason, 1000);
    fields.done()?;
    Ok(delta)
}

/// A budget's account of this period may not be there yet; what is due on a tenant's is applied first. By the quota's own pool:
/// the call holds a connection of the main one.
async fn open<P: Policy>(call: &mut Call<P>, target: &Target) -> Result<()> {
    let mut tx = call.app.quota().store().begin().await?;
    store::load::load(&mut tx, target.tenant.id, std::slice::from_ref(&target.present.scope)).await?;
    Ok(tx.commit().await.map_err(store::Error::from)?)
}

/// Makes the change in a transaction that is never committed.
async fn try_out<P: Policy>(
    mut call: Call<P>,
    target: &Target,
    change: &NewChange,
    before: Numbers,
) -> Result<Response> {
    let unit = unit(&target.tenant)?;
    let left = before.remaining.as_ref().and_then(|left| left.amount(unit).ok()).unwrap_or_default();
    if change.delta.is_negative() && left.saturating_add(change.delta).is_negative() {
        return Err(decrease::below(&before));
    }
    store::quota_changes::apply(&mut call.tx, change).await?.map_err(refused)?;
    let view = QuotaChange { id: None, ..seen(&mut call, target, change, before).await? };
    Ok(Reply::ok(view).into_response())
}

async fn seen<P: Policy>(
    call: &mut Call<P>,
    target: &Target,
    change: &NewChange,
    before: Numbers,
) -> Result<QuotaChange> {
    let after = numbers::one(&call.app, &mut call.tx, &target.tenant, target.present.clone()).await?;
    Ok(QuotaChange {
        id: Some(change.id),
        delta: Decimal::of(change.delta, unit(&target.tenant)?),
        recurring: change.recurring,
        reason: change.reason.clone(),
        before,
        after,
        by: change.actor.clone(),
        at: OffsetDateTime::now_utc().into(),
        in_force: None,
    })
}

fn refused(refusal: Refusal) -> Error {
    Error::conflict(match refusal {
        Refusal::Grants => {
            "the grants in force do not allow it: add a grant to give more; lower by no more than they give in all"
        }
        Refusal::NoLimit => "there is no limit to change, or it would be below zero: set a budget first",
        Refusal::Recurring => {
            "what later periods get can't change by that: there is no plan or budget, or it would not be above zero; leave out recurring"
        }
        Refusal::Decided => "the change took too long and was cancelled; try again",
    })
}

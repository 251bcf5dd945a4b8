//! `POST /reconciliations`.

use std::time::Duration;

use api_types::alert::{Reconcile, Reconciliation};

use crate::auth::policy::Reconcile as Policy;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::live::answered;
use crate::reconciliations::view;
use crate::reply::Reply;

/// How long the reply waits; a comparison that takes longer goes on, and `GET /reconciliations` tells how it ended.
const WAIT: Duration = Duration::from_secs(15);

/// Compares Redis and PostgreSQL now, of one tenant or of all: loads copies anew that are wrong, halts accounts that do not
/// add up, opens and closes alerts, keeps snapshots. With `dry_run` it only counts. A comparison that takes longer than 15 s is
/// answered as `running`; `GET /reconciliations` tells how it ended.
#[utoipa::path(post, path = "/reconciliations", operation_id = "reconcile", tag = "alerts", request_body = Reconcile,
    responses((status = 201, description = "The comparison.", body = Reconciliation)))]
pub async fn handler(
    mut call: Call<Policy>,
    Json { value: body, .. }: Json<Reconcile>,
) -> Result<Reply<Reconciliation>> {
    let tenants = match body.tenant_id {
        Some(id) => vec![store::tenants::get(&mut call.tx, id, &call.reach).await?.id],
        None => store::scopes::tenants(&mut call.tx).await?,
    };
    let actor = call.caller.actor();
    let id = store::comparisons::begin(&mut call.tx, body.tenant_id, body.dry_run, &actor).await?;
    let audit = Audit::new("ledger.reconcile", id).of_maybe(body.tenant_id).after(&body);
    let app = call.commit(audit).await?;
    let quota = app.quota().clone();
    // Of its own: a caller that leaves does not end it halfway.
    let compared = tokio::spawn(async move { quota.compare(id, tenants, body.dry_run).await });
    let _answered_as_running = tokio::time::timeout(WAIT, compared).await;
    Ok(Reply::created("/reconciliations", view(answered(app.quota().comparison(id)).await?)?))
}

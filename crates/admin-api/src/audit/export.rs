//! `GET /audit/export`.

use api_types::Timestamp;
use api_types::audit::AuditEntry;
use axum::response::Response;
use domain::TenantId;
use serde_json::Value;
use store::audit::Filter;

use crate::audit::view;
use crate::auth::Call;
use crate::auth::policy::ReadAudit;
use crate::error::Result;
use crate::export::{self, Format, Line};
use crate::list::Query;

/// Which entries, and how they are written.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// `csv` or `jsonl`; `csv` unless said otherwise.
    #[param(inline)]
    format: Option<Format>,
    /// By this one: `usr_...`, `st_...`, `reconciler` or `cli`.
    actor: Option<String>,
    /// Of this kind, such as `tenant.create`.
    action: Option<String>,
    /// On what has this id.
    target: Option<String>,
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// At or after.
    from: Option<Timestamp>,
    /// Before.
    to: Option<Timestamp>,
}

/// Exports changes, newest first, as CSV with a head line or as JSON Lines. Streamed: as many as there are.
#[utoipa::path(get, path = "/audit/export", operation_id = "export_audit", tag = "audit", params(Ask),
    responses((status = 200, description = "The entries.", content((String = "text/csv"), (AuditEntry = "application/jsonl")))))]
pub async fn handler(call: Call<ReadAudit>, Query(ask): Query<Ask>) -> Result<Response> {
    if let Some(id) = ask.tenant_id {
        call.must_reach(id)?;
    }
    let filter = Filter {
        actor: ask.actor,
        action: ask.action,
        target: ask.target,
        tenant_id: ask.tenant_id,
        from: ask.from.map(Into::into),
        to: ask.to.map(Into::into),
    };
    let reads = call.into_reads();
    export::stream(ask.format.unwrap_or(Format::Csv), "audit", move |before: Option<i64>| {
        let (reads, filter) = (reads.clone(), filter.clone());
        async move {
            let mut tx = reads.begin().await?;
            let rows = store::audit::list(&mut tx, &filter, reads.reach(), before, export::ROWS).await?;
            let next = export::next(&rows, |last| last.id);
            Ok((rows.into_iter().map(view).collect(), next))
        }
    })
    .await
}

impl Line for AuditEntry {
    const COLUMNS: &'static [&'static str] =
        &["id", "at", "actor", "action", "target", "tenant_id", "before", "after", "address", "request_id"];

    fn cells(&self) -> Vec<String> {
        let json = |value: &Option<Value>| value.as_ref().map(Value::to_string).unwrap_or_default();
        vec![
            self.id.to_string(),
            self.at.to_string(),
            self.actor.clone(),
            self.action.clone(),
            self.target.clone(),
            self.tenant_id.map(|id| id.to_string()).unwrap_or_default(),
            json(&self.before),
            json(&self.after),
            self.address.clone().unwrap_or_default(),
            self.request_id.clone().unwrap_or_default(),
        ]
    }
}

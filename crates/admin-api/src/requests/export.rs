//! `GET /requests/export`.

use api_types::request::Request;
use api_types::{Decimal, Timestamp};
use axum::response::Response;
use domain::{KeyId, ProjectId, RequestId, TenantId};

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::Result;
use crate::export::{self, Format, Line};
use crate::list::Query;
use crate::requests::{list, view};

const COLUMNS: &[&str] = &[
    "request_id",
    "client_request_id",
    "tenant_id",
    "project_id",
    "key_id",
    "model",
    "served_model",
    "outcome",
    "estimated",
    "overrun",
    "late",
    "estimate",
    "freeze",
    "extensions",
    "usage",
    "charge",
    "upstream_status",
    "started_at",
    "frozen_at",
    "first_byte_at",
    "ended_at",
    "recorded_at",
    "allocations",
    "attempts",
];

/// Which requests, in which form.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// Of this project.
    project_id: Option<ProjectId>,
    /// Of this key.
    key_id: Option<KeyId>,
    /// That asked for this model.
    model: Option<String>,
    /// `final`, `expired` or `rolled_back`.
    outcome: Option<String>,
    /// Begun at or after.
    from: Option<Timestamp>,
    /// Begun before.
    to: Option<Timestamp>,
    /// Charged at least this; in the unit of `tenant_id`, credits without one.
    min_charge: Option<Decimal>,
    /// `csv` (unless said otherwise) or `jsonl`.
    #[param(inline)]
    format: Option<Format>,
}

impl Line for Request {
    const COLUMNS: &'static [&'static str] = COLUMNS;
    fn cells(&self) -> Vec<String> {
        export::cells(self, COLUMNS)
    }
}

/// The requests of `GET /requests` as a file, newest first, however many.
#[utoipa::path(get, path = "/requests/export", operation_id = "export_requests", tag = "usage", params(Ask),
    responses((status = 200, description = "The requests.", content((String = "text/csv"), (Request = "application/jsonl")))))]
pub async fn handler(mut call: Call<ReadUsage>, Query(ask): Query<Ask>) -> Result<Response> {
    let format = ask.format.unwrap_or(Format::Csv);
    let what = list::What {
        tenant_id: ask.tenant_id,
        project_id: ask.project_id,
        key_id: ask.key_id,
        model: ask.model,
        outcome: ask.outcome,
        from: ask.from,
        to: ask.to,
        min_charge: ask.min_charge,
    };
    let filter = list::filter(&mut call, what).await?;
    let reads = call.into_reads();
    let fetch = move |after: Option<RequestId>| {
        let (filter, reads) = (filter.clone(), reads.clone());
        async move {
            let mut tx = reads.begin().await?;
            let requests = store::requests::list(&mut tx, &filter, reads.reach(), after, export::ROWS).await?;
            let next = export::next(&requests, |last| last.id);
            Ok((requests.into_iter().map(view).collect::<Result<Vec<_>>>()?, next))
        }
    };
    export::stream(format, "requests", fetch).await
}

//! `GET /usage/export`.

use api_types::usage::{ExportFormat, UsageSum};
use axum::response::Response;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::Result;
use crate::export::{Export, PAGE, Rows};
use crate::list::Query;
use crate::usage;

const COLUMNS: &[&str] = &[
    "bucket",
    "tenant_id",
    "project_id",
    "key_id",
    "model",
    "unit",
    "requests",
    "refused",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "charge",
    "refunded",
    "estimated",
];

usage::ask! {
    /// Which usage, in which form.
    Ask {
        /// `csv` (unless said otherwise) or `jsonl`.
        format: Option<ExportFormat>,
    }
}

/// The sums of `GET /usage` as a file, however many.
#[utoipa::path(get, path = "/usage/export", operation_id = "export_usage", tag = "usage", params(Ask),
    responses((status = 200, description = "The sums.", content((String = "text/csv"), (UsageSum = "application/jsonl")))))]
pub async fn handler(mut call: Call<ReadUsage>, Query(ask): Query<Ask>) -> Result<Response> {
    let asked = ask.what().check(&mut call).await?;
    let (pages, reach) = call.into_pages();
    let export = Export { name: "usage", columns: COLUMNS, format: ask.format.unwrap_or(ExportFormat::Csv) };
    export
        .respond(0_i64, move |offset| {
            let (mut asked, pages, reach) = (asked.clone(), pages.clone(), reach.clone());
            async move {
                (asked.ask.offset, asked.ask.limit) = (offset, i64::from(PAGE));
                let sums = store::usage::sums(&mut *pages.begin().await?, &asked.ask, &reach).await?;
                let next = (sums.len() == usize::from(PAGE)).then(|| offset + i64::from(PAGE));
                let rows = sums.into_iter().map(|sum| asked.view(sum)).collect::<Result<Vec<_>>>()?;
                Ok(Rows { rows, next })
            }
        })
        .await
}

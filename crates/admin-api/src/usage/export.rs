//! `GET /usage/export`.

use api_types::usage::UsageSum;
use axum::response::Response;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::Result;
use crate::export::{self, Format, Line};
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
        #[param(inline)]
        format: Option<Format>,
    }
}

impl Line for UsageSum {
    const COLUMNS: &'static [&'static str] = COLUMNS;
    fn cells(&self) -> Vec<String> {
        export::cells(self, COLUMNS)
    }
}

/// The sums of `GET /usage` as a file, however many.
#[utoipa::path(get, path = "/usage/export", operation_id = "export_usage", tag = "usage", params(Ask),
    responses((status = 200, description = "The sums.", content((String = "text/csv"), (UsageSum = "application/jsonl")))))]
pub async fn handler(mut call: Call<ReadUsage>, Query(ask): Query<Ask>) -> Result<Response> {
    let asked = ask.what().check(&mut call).await?;
    let reads = call.into_reads();
    let fetch = move |begin: Option<i64>| {
        let (mut asked, reads) = (asked.clone(), reads.clone());
        async move {
            let offset = begin.unwrap_or_default();
            (asked.ask.offset, asked.ask.limit) = (offset, export::ROWS);
            let sums = store::usage::sums(&mut *reads.begin().await?, &asked.ask, reads.reach()).await?;
            let next = export::next(&sums, |_| offset + export::ROWS);
            Ok((sums.into_iter().map(|sum| asked.view(sum)).collect::<Result<Vec<_>>>()?, next))
        }
    };
    export::stream(ask.format.unwrap_or(Format::Csv), "usage", fetch).await
}

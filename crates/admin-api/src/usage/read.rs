//! `GET /usage`.

use api_types::usage::UsagePage;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::reply::Reply;
use crate::usage;

/// Rows of one page at most, and unless said otherwise.
const MOST: u16 = 10_000;
const USUAL: u16 = 1_000;

usage::ask! {
    /// Which usage, and which part of it.
    Ask {
        /// Entries at most, 1 to 10000; 1000 unless said otherwise.
        #[param(minimum = 1, maximum = 10_000)]
        limit: Option<u16>,
        /// `next_cursor` of the page before, for the same question.
        cursor: Option<String>,
    }
}

/// Sums usage by hour, day or month.
#[utoipa::path(get, path = "/usage", operation_id = "read_usage", tag = "usage", params(Ask),
    responses((status = 200, description = "The sums.", body = UsagePage)))]
pub async fn handler(mut call: Call<ReadUsage>, Query(ask): Query<Ask>) -> Result<Reply<UsagePage>> {
    let limit = ask.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Error::field("limit", "out_of_range", format!("limit must be between 1 and {MOST}")));
    }
    let mut asked = ask.what().check(&mut call).await?;
    asked.ask.offset = match &ask.cursor {
        Some(cursor) => offset(cursor)?,
        None => 0,
    };
    asked.ask.limit = i64::from(limit) + 1;
    let mut rows = store::usage::sums(&mut call.tx, &asked.ask, &call.reach).await?;
    let next = asked.ask.offset + i64::from(limit);
    let next_cursor = list::cut(&mut rows, limit).map(|_| list::write(&[&next.to_string()]));
    let items = rows.into_iter().map(|sum| asked.view(sum)).collect::<Result<_>>()?;
    let bound = |at: Option<&time::OffsetDateTime>| at.copied().unwrap_or(time::OffsetDateTime::UNIX_EPOCH).into();
    let (from, to) = (bound(asked.ask.bounds.first()), bound(asked.ask.bounds.last()));
    Ok(Reply::ok(UsagePage { bucket: asked.bucket, time_zone: asked.time_zone, from, to, items, next_cursor }))
}

fn offset(cursor: &str) -> Result<i64> {
    let [text] = list::read::<1>(cursor)?;
    let offset = text.parse().ok().filter(|offset| (0..1_000_000_000).contains(offset));
    offset.ok_or_else(|| Error::field("cursor", "invalid", "give next_cursor of the page before"))
}

//! Fields of a key that creation and change read alike.

use api_types::key::RotateSecret;
use api_types::{Factor, Timestamp};
use ipnet::IpNet;
use time::{Duration, OffsetDateTime};

use crate::auth::Call;
use crate::auth::policy::WriteKeys;
use crate::error::Result;
use crate::validate::Fields;

/// The longest time that two secrets work side by side: 30 days.
const GRACE_MAX_S: u32 = 30 * 86_400;

/// When the old secret ends: after a day, unless said otherwise.
///
/// # Errors
/// 422.
pub fn end_of_grace(body: &RotateSecret) -> Result<OffsetDateTime> {
    let mut fields = Fields::new();
    let grace_s = body.grace_s.unwrap_or(86_400);
    fields.check(
        grace_s <= GRACE_MAX_S,
        "grace_s",
        "out_of_range",
        "must be at most 2592000 seconds, which is 30 days",
    );
    fields.done()?;
    Ok(OffsetDateTime::now_utc() + Duration::seconds(i64::from(grace_s)))
}

/// Its own safety factor, from 1 to 10.
pub fn safety_factor(fields: &mut Fields, factor: &Factor) -> String {
    fields.factor("safety_factor", factor, 10_000, 100_000)
}

/// Its end lies ahead.
pub fn expires_at(fields: &mut Fields, at: Option<Timestamp>) {
    let in_future = at.is_none_or(|at| at.instant() > OffsetDateTime::now_utc());
    fields.check(in_future, "expires_at", "out_of_range", "must be in the future");
}

/// Its models exist.
///
/// # Errors
/// Those of the store.
pub async fn models(call: &mut Call<WriteKeys>, fields: &mut Fields, models: &[String]) -> Result<()> {
    fields.check(
        (1..=1000).contains(&models.len()),
        "models",
        "out_of_range",
        "name 1 to 1000 models, or leave it out for every model",
    );
    for name in store::models::unknown_names(&mut call.tx, models).await? {
        fields.refuse("models", "not_found", format!("there is no model {name:?}"));
    }
    Ok(())
}

/// Ranges in their canonical form; a single address is a range of one.
pub fn ip_ranges(fields: &mut Fields, ranges: &[String]) -> Vec<String> {
    fields.check(
        (1..=1000).contains(&ranges.len()),
        "ip_ranges",
        "out_of_range",
        "name 1 to 1000 ranges, or leave it out for everywhere",
    );
    let mut read = Vec::new();
    for (index, text) in ranges.iter().enumerate() {
        let range = text.parse::<IpNet>().or_else(|_| text.parse::<std::net::IpAddr>().map(IpNet::from));
        match range {
            Ok(range) => read.push(range.trunc().to_string()),
            Err(_) => fields.refuse(
                &format!("ip_ranges[{index}]"),
                "invalid",
                "must be a range such as 192.0.2.0/24 or 2001:db8::/32",
            ),
        }
    }
    read
}

//! `PATCH /settings`.

use api_types::platform::{ChangePlatformSettings, PlatformSettings};
use domain::period::Zone;
use store::platform::Settings;

use crate::auth::policy::ManagePlatform;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::platform::view;
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::validate::Fields;

/// Changes the settings of the whole platform. Defaults concern tenants created from then on; the reconciler follows the
/// others within an hour.
#[utoipa::path(patch, path = "/settings", operation_id = "change_settings", tag = "platform", request_body = ChangePlatformSettings,
    params(("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The settings.", body = PlatformSettings, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<ManagePlatform>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangePlatformSettings>,
) -> Result<Reply<PlatformSettings>> {
    let before = store::platform::settings(&mut call.tx).await?;
    if_match.check(before.version)?;
    let wanted = apply(before.clone(), &body)?;
    store::platform::update(&mut call.tx, &wanted).await?;
    let after = view(&store::platform::settings(&mut call.tx).await?)?;
    call.commit(Audit::new("settings.change", "settings").before(&view(&before)?).after(&after)).await?;
    let version = after.version;
    Ok(Reply::ok(after).version(version))
}

fn apply(mut settings: Settings, body: &ChangePlatformSettings) -> Result<Settings> {
    let mut fields = Fields::new();
    if let Some(from) = &body.mail_from {
        settings.mail_from = from.as_deref().map(|from| mail_from(&mut fields, from));
    }
    if let Some(name) = body.defaults.as_ref().and_then(|defaults| defaults.time_zone.as_deref()) {
        match Zone::parse(name) {
            Ok(zone) => settings.default_time_zone = zone.name().to_owned(),
            Err(why) => fields.refuse("defaults.time_zone", "invalid", why.to_string()),
        }
    }
    if let Some(thresholds) = body.defaults.as_ref().and_then(|defaults| defaults.thresholds.as_ref()) {
        let fits = thresholds.len() <= 10 && thresholds.iter().all(|percent| (1..=100).contains(percent));
        fields.check(fits, "defaults.thresholds", "out_of_range", "at most 10 of 1 to 100");
        settings.default_thresholds = thresholds.iter().filter_map(|percent| i32::try_from(*percent).ok()).collect();
        settings.default_thresholds.sort_unstable();
        settings.default_thresholds.dedup();
    }
    if let Some(days) = body.retention.as_ref().and_then(|retention| retention.usage_records_days) {
        settings.keep_usage_records_days =
            days.map(|days| fields.range("retention.usage_records_days", days, 1, 36_500));
    }
    if let Some(days) = body.retention.as_ref().and_then(|retention| retention.events_days) {
        settings.keep_events_days = days.map(|days| fields.range("retention.events_days", days, 7, 36_500));
    }
    if let Some(days) = body.retention.as_ref().and_then(|retention| retention.snapshots_days) {
        settings.keep_snapshots_days = days.map(|days| fields.range("retention.snapshots_days", days, 1, 36_500));
    }
    fields.done()?;
    Ok(settings)
}

/// An address, or a name with an address in angle brackets.
fn mail_from(fields: &mut Fields, text: &str) -> String {
    let text = fields.text("mail_from", text, 320);
    let address =
        text.strip_suffix('>').map_or(Some(text.as_str()), |open| open.rsplit_once('<').map(|(_, inner)| inner));
    let fits = address.and_then(|address| address.split_once('@')).is_some_and(|(user, host)| {
        let plain = |part: &str| !part.is_empty() && !part.contains([' ', '@', '<', '>', ',', ';', '"']);
        plain(user) && plain(host)
    });
    fields.check(fits, "mail_from", "invalid", "must be an address such as Tollgate <quota@example.com>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_are_addresses() {
        for (text, fits) in [
            ("quota@example.com", true),
            ("Tollgate <quota@example.com>", true),
            ("Tollgate", false),
            ("quota@", false),
            ("a@b, c@d", false),
            ("<quota@example.com", false),
            ("Tollgate quota@example.com>", false),
        ] {
            let mut fields = Fields::new();
            mail_from(&mut fields, text);
            assert_eq!(fields.done().is_ok(), fits, "{text}");
        }
    }
}

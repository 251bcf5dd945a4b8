//! Sums of usage.

pub mod export;
pub mod ingest;
pub mod read;

use api_types::usage::{Bucket, UsageSum};
use api_types::{Decimal, Timestamp};
use domain::period::{BucketKind, Zone};
use domain::{KeyId, ProjectId, TenantId};
use jiff::Timestamp as Instant;
use time::{Duration, OffsetDateTime};

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::{Error, Result};
use crate::numbers::unit_of;
use crate::validate::Fields;

/// Buckets of one reply at most: a leap year of hours.
const MOST_BUCKETS: usize = 8_784;

/// Query parameters that say which usage, beside those of one operation alone.
macro_rules! ask {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $of:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
        #[serde(deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            /// Recorded at or after, moved back to the bucket's first instant; 30 days before `to` unless said otherwise.
            from: Option<api_types::Timestamp>,
            /// Recorded before, moved on to the bucket's end; now unless said otherwise.
            to: Option<api_types::Timestamp>,
            /// `hour`, `day` (unless said otherwise) or `month`.
            bucket: Option<api_types::usage::Bucket>,
            /// One row each: any of `tenant`, `project`, `key` and `model`, separated by commas; none: one row per bucket and unit.
            group_by: Option<String>,
            /// IANA name of the zone whose calendar the buckets follow; UTC unless said otherwise.
            tz: Option<String>,
            /// Of this tenant.
            tenant_id: Option<domain::TenantId>,
            /// Of this project.
            project_id: Option<domain::ProjectId>,
            /// Of this key.
            key_id: Option<domain::KeyId>,
            /// That asked for this model.
            model: Option<String>,
            $($(#[$field_doc])* $field: $of,)*
        }

        impl $name {
            fn what(&self) -> crate::usage::What {
                crate::usage::What {
                    from: self.from,
                    to: self.to,
                    bucket: self.bucket,
                    group_by: self.group_by.clone(),
                    tz: self.tz.clone(),
                    tenant_id: self.tenant_id,
                    project_id: self.project_id,
                    key_id: self.key_id,
                    model: self.model.clone(),
                }
            }
        }
    };
}
pub(crate) use ask;

/// Which usage, and what it is summed by, as it was asked for.
#[derive(Debug)]
pub struct What {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    bucket: Option<Bucket>,
    group_by: Option<String>,
    tz: Option<String>,
    tenant_id: Option<TenantId>,
    project_id: Option<ProjectId>,
    key_id: Option<KeyId>,
    model: Option<String>,
}

/// What was asked for, checked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What to read; offset and limit are the caller's.
    pub ask: store::usage::Ask,
    /// What it is summed by.
    pub bucket: Bucket,
    /// The zone's name.
    pub time_zone: String,
}

impl What {
    /// Checks it.
    ///
    /// # Errors
    /// 422 by field; 404 for a tenant beyond reach.
    pub async fn check(self, call: &mut Call<ReadUsage>) -> Result<Asked> {
        let mut fields = Fields::new();
        let bucket = self.bucket.unwrap_or(Bucket::Day);
        let zone = Zone::parse(self.tz.as_deref().unwrap_or("UTC")).unwrap_or_else(|why| {
            fields.refuse("tz", "invalid", why.to_string());
            Zone::utc()
        });
        let to = self.to.map_or_else(OffsetDateTime::now_utc, Into::into);
        let from = self.from.map_or_else(|| to - Duration::days(30), Into::into);
        let kind = match bucket {
            Bucket::Hour => BucketKind::Hour,
            Bucket::Day => BucketKind::Day,
            Bucket::Month => BucketKind::Month,
        };
        let bounds = kind.bounds(&zone, instant(from)?, instant(to)?, MOST_BUCKETS).unwrap_or_else(|| {
            let message = format!("must be later than from, and not more than {MOST_BUCKETS} buckets after it");
            fields.refuse("to", "out_of_range", message);
            Vec::new()
        });
        let mut ask = store::usage::Ask {
            bounds: bounds.into_iter().map(offset).collect::<Result<_>>()?,
            tenant_id: self.tenant_id,
            project_id: self.project_id,
            key_id: self.key_id,
            model: self.model,
            ..store::usage::Ask::default()
        };
        for word in self.group_by.iter().flat_map(|words| words.split(',')).map(str::trim) {
            match word {
                "tenant" => ask.by_tenant = true,
                "project" => ask.by_project = true,
                "key" => ask.by_key = true,
                "model" => ask.by_model = true,
                "" => {}
                _ => fields.refuse("group_by", "invalid", "must be tenant, project, key or model, separated by commas"),
            }
        }
        fields.done()?;
        if let Some(id) = ask.tenant_id {
            store::tenants::get(&mut call.tx, id, &call.reach).await?;
        }
        Ok(Asked { ask, bucket, time_zone: zone.name().to_owned() })
    }
}

impl Asked {
    /// A sum as the API shows it.
    ///
    /// # Errors
    /// 500 for a stored value that this version does not understand.
    pub fn view(&self, sum: store::usage::Sum) -> Result<UsageSum> {
        let index = usize::try_from(sum.bucket - 1).map_err(Error::internal)?;
        let bucket = self.ask.bounds.get(index).copied().ok_or_else(|| Error::internal("a bucket beyond the last"))?;
        view(sum, bucket)
    }
}

/// A sum of the bucket that begins then.
///
/// # Errors
/// 500 for a stored value that this version does not understand.
pub fn view(sum: store::usage::Sum, bucket: OffsetDateTime) -> Result<UsageSum> {
    let unit = unit_of(&sum.unit)?;
    let decimal = |text: &str| text.parse().map(|units: i128| Decimal::of_sum(units, unit)).map_err(Error::internal);
    Ok(UsageSum {
        bucket: bucket.into(),
        tenant_id: sum.tenant_id.map(TenantId::from_uuid),
        project_id: sum.project_id.map(ProjectId::from_uuid),
        key_id: sum.key_id.map(KeyId::from_uuid),
        model: sum.model,
        unit,
        requests: sum.requests,
        refused: sum.refused,
        prompt_tokens: sum.prompt_tokens,
        cached_tokens: sum.cached_tokens,
        completion_tokens: sum.completion_tokens,
        charge: decimal(&sum.charge)?,
        refunded: decimal(&sum.refunded)?,
        estimated: sum.estimated,
    })
}

/// An instant as the domain's.
///
/// # Errors
/// 500 beyond the calendar's ends.
pub fn instant(at: OffsetDateTime) -> Result<Instant> {
    Instant::from_nanosecond(at.unix_timestamp_nanos()).map_err(Error::internal)
}

/// An instant as the store's.
///
/// # Errors
/// 500 beyond the calendar's ends.
pub fn offset(at: Instant) -> Result<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(at.as_nanosecond()).map_err(Error::internal)
}

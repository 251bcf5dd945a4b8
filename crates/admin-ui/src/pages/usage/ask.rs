//! What the page asks for.

use std::time::Duration;

use domain::Unit;

use crate::api::platform::Asked;
use crate::browser;
use crate::i18n::Language;
use crate::pages::address::Address;
use crate::pages::overview::hours::Measure;

/// What is stacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Models asked for.
    Model,
    /// Tenants.
    Tenant,
    /// Projects.
    Project,
    /// Keys.
    Key,
}

impl Group {
    /// All of them, the usual one first.
    pub const ALL: [Self; 4] = [Self::Model, Self::Tenant, Self::Project, Self::Key];

    /// As the API names it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tenant => "tenant",
            Self::Project => "project",
            Self::Key => "key",
        }
    }

    /// For people.
    #[must_use]
    pub const fn words(self, t: Language) -> &'static str {
        match self {
            Self::Model => t.model(),
            Self::Tenant => t.tenant(),
            Self::Project => t.project(),
            Self::Key => t.key(),
        }
    }
}

/// How far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// By day.
    Month,
    /// By hour.
    Day,
    /// By day.
    Week,
    /// By month.
    Year,
}

impl Range {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Year];

    /// In the address.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Day => "24h",
            Self::Week => "7d",
            Self::Month => "30d",
            Self::Year => "12m",
        }
    }

    /// For people.
    #[must_use]
    pub const fn words(self, t: Language) -> &'static str {
        match self {
            Self::Day => t.range_day(),
            Self::Week => t.range_week(),
            Self::Month => t.range_month(),
            Self::Year => t.range_year(),
        }
    }

    /// What it is summed by, as the API names it.
    #[must_use]
    pub const fn bucket(self) -> &'static str {
        match self {
            Self::Day => "hour",
            Self::Week | Self::Month => "day",
            Self::Year => "month",
        }
    }

    /// The same for people.
    #[must_use]
    pub const fn bucket_words(self, t: Language) -> &'static str {
        match self {
            Self::Day => t.hour(),
            Self::Week | Self::Month => t.day(),
            Self::Year => t.month(),
        }
    }

    /// The length of a bucket in seconds; of a month, on average.
    #[must_use]
    pub const fn bucket_s(self) -> i64 {
        match self {
            Self::Day => 3_600,
            Self::Week | Self::Month => 86_400,
            Self::Year => 2_629_746,
        }
    }

    /// How long before now it begins.
    const fn length(self) -> Duration {
        const DAY: u64 = 86_400;
        Duration::from_secs(match self {
            Self::Day => DAY,
            Self::Week => 7 * DAY,
            Self::Month => 30 * DAY,
            Self::Year => 360 * DAY,
        })
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// How far back.
    pub range: Range,
    /// What is stacked.
    pub group: Group,
    /// What is counted.
    pub measure: Measure,
    /// Of tenants metered in this.
    pub unit: Unit,
    /// Of this tenant; empty: of all.
    pub tenant: String,
    /// Of this project; empty: of all.
    pub project: String,
    /// Of this key; empty: of all.
    pub key: String,
    /// That asked for this model; empty: any.
    pub model: String,
}

impl Question {
    /// As it stands in the address; tracks.
    #[must_use]
    pub fn of(address: Address) -> Self {
        let (range, group) = (address.get("range"), address.get("group_by"));
        Self {
            range: Range::ALL.into_iter().find(|one| one.word() == range).unwrap_or(Range::Month),
            group: Group::ALL.into_iter().find(|one| one.word() == group).unwrap_or(Group::Model),
            measure: Measure::of(&address.get("measure")),
            unit: if address.get("unit") == "token" { Unit::Token } else { Unit::Credit },
            tenant: address.get("tenant_id"),
            project: address.get("project_id"),
            key: address.get("key_id"),
            model: address.get("model"),
        }
    }

    /// As the API is asked. Days follow this browser's calendar.
    #[must_use]
    pub fn parameters(&self) -> Asked {
        let now = browser::now();
        let from = now.map(|now| api_types::Timestamp::from(now.instant() - self.range.length()).to_string());
        vec![
            ("from", from.unwrap_or_default()),
            ("bucket", self.range.bucket().to_owned()),
            ("group_by", self.group.word().to_owned()),
            ("tz", browser::own_time_zone()),
            ("tenant_id", self.tenant.clone()),
            ("project_id", self.project.clone()),
            ("key_id", self.key.clone()),
            ("model", self.model.clone()),
        ]
    }
}

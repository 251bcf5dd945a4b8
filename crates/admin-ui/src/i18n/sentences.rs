//! Sentences with something in them, of the pages beside tenants; words for the API's closed sets.

use api_types::live::Difference;
use domain::LimitName;
use domain::settings::OutageMode;
use domain::usage::Kind;

use super::Language;

impl Language {
    /// A limit's name.
    #[must_use]
    pub const fn limit_name(self, name: LimitName) -> &'static str {
        match name {
            LimitName::Rpm => self.rpm(),
            LimitName::Rpd => self.rpd(),
            LimitName::Tpm => self.tpm(),
            LimitName::Tpd => self.tpd(),
            LimitName::InFlight => self.at_once(),
            LimitName::MaxPerRequest => self.max_per_request(),
        }
    }

    /// A kind of usage.
    #[must_use]
    pub const fn usage_kind(self, kind: Kind) -> &'static str {
        match kind {
            Kind::Input => self.kind_input(),
            Kind::CachedInput => self.kind_cached_input(),
            Kind::CacheWrite5m => self.kind_cache_write_5m(),
            Kind::CacheWrite1h => self.kind_cache_write_1h(),
            Kind::Output => self.kind_output(),
            Kind::Reasoning => self.kind_reasoning(),
            Kind::AudioInput => self.kind_audio_input(),
            Kind::AudioOutput => self.kind_audio_output(),
            Kind::Image => self.kind_image(),
            Kind::Request => self.kind_request(),
        }
    }

    /// What happens while the ledger is away.
    #[must_use]
    pub const fn outage_mode(self, mode: OutageMode) -> &'static str {
        match mode {
            OutageMode::Deny => self.mode_deny(),
            OutageMode::Allowance => self.mode_allowance(),
            OutageMode::Bypass => self.mode_bypass(),
        }
    }

    /// How Redis' copy compares.
    #[must_use]
    pub const fn difference(self, difference: Difference) -> &'static str {
        match difference {
            Difference::Equal => self.equal(),
            Difference::Absent => self.absent(),
            Difference::Behind => self.behind(),
            Difference::Ahead => self.ahead(),
            Difference::Different => self.different(),
            Difference::FrozenDiffers => self.frozen_differs(),
        }
    }

    /// `all free at 14:32:07`.
    #[must_use]
    pub fn free_again_at(self, time: &str) -> String {
        match self {
            Self::En => format!("all free at {time}"),
            Self::Zh => format!("{time} 全部释放"),
        }
    }

    /// `Lower total by 3,000.00`, `Raise total by 500.00`.
    #[must_use]
    pub fn change_total_by(self, raises: bool, amount: &str) -> String {
        match (self, raises) {
            (Self::En, true) => format!("Raise total by {amount}"),
            (Self::En, false) => format!("Lower total by {amount}"),
            (Self::Zh, true) => format!("总额增加 {amount}"),
            (Self::Zh, false) => format!("总额减少 {amount}"),
        }
    }

    /// `At most 271.42 can be taken away now.`
    #[must_use]
    pub fn lower_by_at_most(self, amount: &str) -> String {
        match self {
            Self::En => format!("At most {amount} can be taken away now; more when what is in flight has ended."),
            Self::Zh => format!("目前最多可减少 {amount}；在途请求结束后可减少更多。"),
        }
    }

    /// What ending a grant does.
    #[must_use]
    pub fn end_grant_words(self, name: &str, left: &str, is_plan: bool) -> String {
        let plan = match (self, is_plan) {
            (_, false) => "",
            (Self::En, true) => " The plan ends with it: it renews no more.",
            (Self::Zh, true) => "套餐随之终止，不再续期。",
        };
        match self {
            Self::En => format!(
                "“{name}” ends now: the {left} left of it can no longer be spent. Requests that run may still use it.{plan}"
            ),
            Self::Zh => format!("“{name}”将立即终止：剩余的 {left} 不能再使用，正在进行的请求仍可使用。{plan}"),
        }
    }

    /// What was given back by a roll back.
    #[must_use]
    pub fn gave_back(self, amount: &str) -> String {
        match self {
            Self::En => format!("{amount} given back"),
            Self::Zh => format!("已释放 {amount}"),
        }
    }

    /// `3 freezes, 5 accounts compared`.
    #[must_use]
    pub fn compared(self, accounts: usize, differing: usize) -> String {
        match self {
            Self::En if differing == 0 => format!("{accounts} compared, none differs"),
            Self::En => format!("{accounts} compared, {differing} to look at"),
            Self::Zh if differing == 0 => format!("已比对 {accounts} 项，全部一致"),
            Self::Zh => format!("已比对 {accounts} 项，{differing} 项需关注"),
        }
    }

    /// `0.8 s ago`.
    #[must_use]
    pub fn seconds_ago(self, seconds: &str) -> String {
        match self {
            Self::En => format!("{seconds} s ago"),
            Self::Zh => format!("{seconds} 秒前"),
        }
    }

    /// `2 extensions`.
    #[must_use]
    pub fn extensions(self, count: i32) -> String {
        match (self, count) {
            (Self::En, 0) => "no extension".to_owned(),
            (Self::En, 1) => "1 extension".to_owned(),
            (Self::En, _) => format!("{count} extensions"),
            (Self::Zh, 0) => "未追加".to_owned(),
            (Self::Zh, _) => format!("追加 {count} 次"),
        }
    }

    /// `46,478 tokens`.
    #[must_use]
    pub fn token_count(self, count: &str) -> String {
        match self {
            Self::En => format!("{count} tokens"),
            Self::Zh => format!("{count} 个 token"),
        }
    }

    /// `Attempt 1`.
    #[must_use]
    pub fn attempt(self, number: usize) -> String {
        match self {
            Self::En => format!("Attempt {number}"),
            Self::Zh => format!("第 {number} 次尝试"),
        }
    }

    /// The time line in words, for those who don't see it.
    #[must_use]
    pub fn time_line_words(self, steps: &str) -> String {
        match self {
            Self::En => format!("Time line: {steps}. The table below tells the same."),
            Self::Zh => format!("时间线：{steps}。下方表格内容相同。"),
        }
    }

    /// `3 events are delivered again`.
    #[must_use]
    pub fn queued_again(self, count: u64) -> String {
        match (self, count) {
            (Self::En, 1) => "1 event is delivered again".to_owned(),
            (Self::En, _) => format!("{count} events are delivered again"),
            (Self::Zh, _) => format!("将重新投递 {count} 个事件"),
        }
    }

    /// `Redeliver evt_...`: names a row's button.
    #[must_use]
    pub fn of_row(self, verb: &str, what: &str) -> String {
        match self {
            Self::En => format!("{verb}: {what}"),
            Self::Zh => format!("{verb}：{what}"),
        }
    }

    /// `key ends in …x7Q2, version 3`.
    #[must_use]
    pub fn key_hint(self, hint: &str, version: i32) -> String {
        match self {
            Self::En => format!("…{hint}, version {version}"),
            Self::Zh => format!("…{hint}，第 {version} 版"),
        }
    }
}

impl Language {
    /// How a request ended; the API's word where it is not known here.
    #[must_use]
    pub fn outcome_word(self, outcome: &str) -> &str {
        match outcome {
            "final" => self.charged(),
            "expired" => self.expired(),
            "rolled_back" => self.rolled_back(),
            other => other,
        }
    }
}

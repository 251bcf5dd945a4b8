//! Sentences with something in them, of overview, usage, alerts, people and the system.

use super::Language;
use crate::format;

impl Language {
    const fn both(self, en: &'static str, zh: &'static str) -> &'static str {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }

    /// `12 tenants, 40 keys`.
    #[must_use]
    pub fn tenants_and_keys(self, tenants: i64, keys: i64) -> String {
        let (tenants, keys) = (format::integer(tenants), format::integer(keys));
        match self {
            Self::En => format!("{tenants} active tenants, {keys} keys"),
            Self::Zh => format!("{tenants} 个活跃租户，{keys} 个密钥"),
        }
    }

    /// `1,200 in, 300 out`.
    #[must_use]
    pub fn in_and_out(self, prompt: i64, completion: i64) -> String {
        let (prompt, completion) = (format::integer(prompt), format::integer(completion));
        match self {
            Self::En => format!("{prompt} in, {completion} out"),
            Self::Zh => format!("输入 {prompt}，输出 {completion}"),
        }
    }

    /// `1,494 requests`.
    #[must_use]
    pub fn refused_requests(self, count: i64) -> String {
        let count = format::integer(count);
        match self {
            Self::En => format!("{count} requests"),
            Self::Zh => format!("{count} 个请求"),
        }
    }

    /// What the plot of the last hours shows.
    #[must_use]
    pub fn plot_of_hours(self, what: &str, sum: &str, most: &str) -> String {
        match self {
            Self::En => format!(
                "{what} by hour over the last 24 hours: {sum} in all, at most {most} in one hour. The table holds the same figures."
            ),
            Self::Zh => format!("近 24 小时逐时{what}：合计 {sum}，单小时最多 {most}。表格含相同数据。"),
        }
    }

    /// What the plot of usage shows.
    #[must_use]
    pub fn plot_of_usage(self, what: &str, range: &str, sum: &str, most: &str) -> String {
        match self {
            Self::En => {
                format!("{what} over {range}: {sum} in all, most of it {most}. The table holds the same figures.")
            }
            Self::Zh => format!("{range}{what}：合计 {sum}，最多的是 {most}。表格含相同数据。"),
        }
    }

    /// The series of what has no room of its own.
    #[must_use]
    pub fn others(self) -> String {
        self.both("others", "其他").to_owned()
    }

    /// Why a request was refused.
    #[must_use]
    pub fn refusal(self, reason: &str) -> String {
        match reason {
            "quota" | "tenant_quota" => self.both("Quota", "额度不足"),
            "rpm" => self.both("Requests a minute", "每分钟请求数"),
            "rpd" => self.both("Requests a day", "每日请求数"),
            "tpm" => self.both("Tokens a minute", "每分钟令牌数"),
            "tpd" => self.both("Tokens a day", "每日令牌数"),
            "in_flight" => self.both("Requests at once", "并发请求数"),
            "max_per_request" => self.both("Most for one request", "单请求上限"),
            "budget" => self.both("Budget", "预算不足"),
            "inactive" => self.both("Suspended or disabled", "已暂停或禁用"),
            other => return other.to_owned(),
        }
        .to_owned()
    }

    /// What an alert is about.
    #[must_use]
    pub fn alert_kind(self, kind: &str) -> &'static str {
        match kind {
            "beyond_limit" => self.both("Spent beyond the limit", "超出限额"),
            "sums_differ" => self.both("The books do not add up", "账目合计不符"),
            "copy_ahead" => self.both("Redis is newer than PostgreSQL", "Redis 数据新于 PostgreSQL"),
            "copy_differs" => self.both("Redis differs from PostgreSQL", "Redis 与 PostgreSQL 不一致"),
            "near_threshold" => self.both("Near its end", "接近限额"),
            "unusual_consumption" => self.both("Unusual consumption", "用量异常"),
            "plan_too_large" => self.both("The plan is much larger than its use", "套餐远大于用量"),
            _ => self.both("Something to look at", "需要关注"),
        }
    }

    /// What to do about an alert; `None` where the API's own words are the ones.
    #[must_use]
    pub fn alert_remedy(self, kind: &str) -> Option<&'static str> {
        if self == Self::En {
            return None;
        }
        Some(match kind {
            "beyond_limit" => "查看该账户的在途请求与透支设置；增加额度，或暂停租户直至核实原因。",
            "sums_differ" => "不要修改数据。运行 tollgate verify 核对明细，保留日志并联系维护者。",
            "copy_ahead" => "检查 PostgreSQL 是否从较旧的备份恢复；恢复丢失的记录后重建该租户的副本。",
            "copy_differs" => "若未自动修复，请在租户的“账目”页重建 Redis 副本。",
            "near_threshold" => "联系客户，或在其用尽前增加额度。",
            "unusual_consumption" => "查看用量最高的密钥；若非预期，禁用该密钥或降低限额。",
            "plan_too_large" => "与客户讨论更小的套餐。",
            _ => return None,
        })
    }

    /// `closed 3 Nov`.
    #[must_use]
    pub fn closed_on(self, at: &str) -> String {
        match self {
            Self::En => format!("Closed {at}"),
            Self::Zh => format!("于 {at} 关闭"),
        }
    }

    /// Who took note, and when.
    #[must_use]
    pub fn noted_by(self, who: &str, at: &str) -> String {
        match self {
            Self::En => format!("Noted by {who}, {at}"),
            Self::Zh => format!("{who} 于 {at} 确认"),
        }
    }

    /// `version 0.1.0`.
    #[must_use]
    pub fn version_of(self, version: &str) -> String {
        match self {
            Self::En => format!("version {version}"),
            Self::Zh => format!("版本 {version}"),
        }
    }

    /// `2 of 3 up`.
    #[must_use]
    pub fn up_of(self, up: usize, all: usize) -> String {
        match self {
            Self::En => format!("{up} of {all} up"),
            Self::Zh => format!("{all} 个中 {up} 个正常"),
        }
    }

    /// How late records and events are.
    #[must_use]
    pub fn lags(self, record: u64, outbox: u64) -> String {
        match self {
            Self::En => format!("records {record} s, events {outbox} s"),
            Self::Zh => format!("记录 {record} 秒，事件 {outbox} 秒"),
        }
    }

    /// `Upstream atlas-eu`.
    #[must_use]
    pub fn upstream_called(self, name: &str) -> String {
        match self {
            Self::En => format!("Upstream {name}"),
            Self::Zh => format!("上游 {name}"),
        }
    }

    /// `until 14:35`.
    #[must_use]
    pub fn until(self, at: &str) -> String {
        match self {
            Self::En => format!("until {at}"),
            Self::Zh => format!("至 {at}"),
        }
    }

    /// Names a link that saves a file.
    #[must_use]
    pub fn save_as(self, format: &str) -> String {
        match self {
            Self::En => format!("Save as {format}"),
            Self::Zh => format!("导出为 {format}"),
        }
    }

    /// A program's name.
    #[must_use]
    pub fn service_called(self, name: &str) -> &'static str {
        match name {
            "gateway" => self.both("Gateway", "网关"),
            "reconciler" => self.both("Reconciler", "对账服务"),
            "admin_api" => self.both("Admin API", "管理接口"),
            _ => self.both("Another service", "其他服务"),
        }
    }

    /// Tells that an invitation is on its way.
    #[must_use]
    pub fn invited_toast(self, email: &str) -> String {
        match self {
            Self::En => format!("The invitation to {email} is on its way"),
            Self::Zh => format!("已向 {email} 发送邀请"),
        }
    }

    /// Since when a session lives, and when it was used.
    #[must_use]
    pub fn signed_in_since(self, since: &str, seen: &str) -> String {
        match self {
            Self::En => format!("Signed in {since}, last seen {seen}"),
            Self::Zh => format!("{since} 登录，最近活动 {seen}"),
        }
    }
}

impl Language {
    /// How far an answer is.
    #[must_use]
    pub fn so_far_of(self, amount: &str) -> String {
        match self {
            Self::En => format!("so far {amount}"),
            Self::Zh => format!("目前 {amount}"),
        }
    }

    /// How many cells of the table were typed over.
    #[must_use]
    pub fn cells_changed(self, count: usize) -> String {
        match self {
            Self::En => format!("{count} prices differ"),
            Self::Zh => format!("{count} 处价格不同"),
        }
    }

    /// How many models stay as they are.
    #[must_use]
    pub fn unchanged_models(self, count: i64) -> String {
        match self {
            Self::En => format!("{count} models stay as they are"),
            Self::Zh => format!("{count} 个模型保持不变"),
        }
    }
}

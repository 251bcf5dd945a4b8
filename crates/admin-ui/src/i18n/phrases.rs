//! Sentences with something in them.

use api_types::grant::{GrantKind, GrantStatus};
use api_types::session::Role;
use api_types::tenant::{PeriodKind, TenantStatus};
use domain::Unit;

use super::Language;

impl Language {
    /// `Live, as of 14:32:07`.
    #[must_use]
    pub fn live_as_of(self, time: &str) -> String {
        match self {
            Self::En => format!("Live, as of {time}"),
            Self::Zh => format!("实时，截至 {time}"),
        }
    }

    /// `Rows 1 to 10, more follow`.
    #[must_use]
    pub fn rows_shown(self, from: usize, to: usize, more: bool) -> String {
        match (self, more) {
            (Self::En, true) => format!("Rows {from} to {to}, more follow"),
            (Self::En, false) => format!("Rows {from} to {to}"),
            (Self::Zh, true) => format!("第 {from} 至 {to} 行，后面还有"),
            (Self::Zh, false) => format!("第 {from} 至 {to} 行"),
        }
    }

    /// `month, Asia/Shanghai`.
    #[must_use]
    pub fn period_in_zone(self, kind: PeriodKind, zone: &str) -> String {
        match self {
            Self::En => format!("{}, {zone}", self.period_kind(kind)),
            Self::Zh => format!("{}，{zone}", self.period_kind(kind)),
        }
    }

    /// `a month`, as in `400.00 a month`.
    #[must_use]
    pub fn amount_per(self, amount: &str, kind: PeriodKind) -> String {
        match self {
            Self::En => format!("{amount} a {}", self.period_kind(kind)),
            Self::Zh => format!("{} {amount}", self.period_kind(kind)),
        }
    }

    /// A period's name.
    #[must_use]
    pub const fn period_kind(self, kind: PeriodKind) -> &'static str {
        match kind {
            PeriodKind::Day => self.period_day(),
            PeriodKind::Week => self.period_week(),
            PeriodKind::Month => self.period_month(),
            PeriodKind::Year => self.period_year(),
        }
    }

    /// A tenant's status.
    #[must_use]
    pub const fn tenant_status(self, status: TenantStatus) -> &'static str {
        match status {
            TenantStatus::Active => self.active(),
            TenantStatus::Suspended => self.suspended(),
            TenantStatus::Closed => self.closed(),
        }
    }

    /// What a person may do.
    #[must_use]
    pub const fn role(self, role: Role) -> &'static str {
        match role {
            Role::Owner => self.role_owner(),
            Role::Operator => self.role_operator(),
            Role::Viewer => self.role_viewer(),
            Role::TenantOwner => self.role_tenant_owner(),
            Role::TenantViewer => self.role_tenant_viewer(),
        }
    }

    /// A kind of grant.
    #[must_use]
    pub const fn grant_kind(self, kind: GrantKind) -> &'static str {
        match kind {
            GrantKind::Plan => self.plan(),
            GrantKind::Temporary => self.temporary(),
            GrantKind::Gift => self.gift(),
        }
    }

    /// A grant's status where it is not in force.
    #[must_use]
    pub const fn grant_status(self, status: GrantStatus) -> &'static str {
        match status {
            GrantStatus::Pending => self.pending(),
            GrantStatus::InForce => self.next_up(),
            GrantStatus::Ended => self.ended(),
            GrantStatus::Lapsed => self.lapsed(),
        }
    }

    /// `gift, ends 30 Nov`.
    #[must_use]
    pub fn grant_line(self, kind: GrantKind, ends: Option<&str>) -> String {
        let word = self.grant_kind(kind);
        match (self, ends) {
            (_, None) => word.to_owned(),
            (Self::En, Some(at)) if kind == GrantKind::Plan => format!("{word}, until {at}"),
            (Self::En, Some(at)) => format!("{word}, ends {at}"),
            (Self::Zh, Some(at)) => format!("{word}，{at} 止"),
        }
    }

    /// `unit: credit`.
    #[must_use]
    pub fn unit_tag(self, unit: Unit) -> String {
        match self {
            Self::En => format!("unit: {}", unit.as_str()),
            Self::Zh => format!("单位：{}", unit.as_str()),
        }
    }

    /// `70.1 % of total`.
    #[must_use]
    pub fn of_total(self, percent: &str) -> String {
        match self {
            Self::En => format!("{percent} of total"),
            Self::Zh => format!("占总额 {percent}"),
        }
    }

    /// `3 grants in force`.
    #[must_use]
    pub fn grants_in_force(self, count: usize) -> String {
        match (self, count) {
            (Self::En, 1) => "1 grant in force".to_owned(),
            (Self::En, _) => format!("{count} grants in force"),
            (Self::Zh, _) => format!("{count} 项授予生效中"),
        }
    }

    /// `212.60 of the overdraft used`.
    #[must_use]
    pub fn overdraft_in_use(self, amount: &str) -> String {
        match self {
            Self::En => format!("{amount} of the overdraft used"),
            Self::Zh => format!("已用透支 {amount}"),
        }
    }

    /// `84.10 is owed`.
    #[must_use]
    pub fn owed(self, amount: &str) -> String {
        match self {
            Self::En => format!("{amount} is owed: calls are refused"),
            Self::Zh => format!("欠费 {amount}：调用被拒绝"),
        }
    }

    /// `0.00 of 2,400.00`.
    #[must_use]
    pub fn part_of(self, part: &str, whole: &str) -> String {
        match self {
            Self::En => format!("{part} of {whole}"),
            Self::Zh => format!("{part} / {whole}"),
        }
    }

    /// The bar in words: the four numbers, then what lies beyond the gate.
    #[must_use]
    pub fn bar(self, about: &str, used: &str, total: Option<&str>, frozen: &str, remaining: Option<&str>) -> String {
        match (self, total, remaining) {
            (Self::En, Some(total), Some(remaining)) => {
                format!("{about}: used {used} of {total}, in flight {frozen}, remaining {remaining}")
            }
            (Self::En, ..) => format!("{about}: used {used}, in flight {frozen}, no limit"),
            (Self::Zh, Some(total), Some(remaining)) => {
                format!("{about}：总额 {total}，已用 {used}，在途 {frozen}，剩余 {remaining}")
            }
            (Self::Zh, ..) => format!("{about}：已用 {used}，在途 {frozen}，不限额"),
        }
    }

    /// `, overdraft 212.60 of 500`.
    #[must_use]
    pub fn bar_overdraft(self, used: &str, limit: &str) -> String {
        match self {
            Self::En => format!(", overdraft {used} of {limit}"),
            Self::Zh => format!("，透支 {used} / {limit}"),
        }
    }

    /// `, debt 84.10`.
    #[must_use]
    pub fn bar_debt(self, debt: &str) -> String {
        match self {
            Self::En => format!(", debt {debt}"),
            Self::Zh => format!("，欠费 {debt}"),
        }
    }

    /// `gate: 12,000`.
    #[must_use]
    pub fn gate_label(self, total: &str) -> String {
        match self {
            Self::En => format!("gate: {total}"),
            Self::Zh => format!("闸门：{total}"),
        }
    }

    /// `overdraft 2,400`.
    #[must_use]
    pub fn overdraft_label(self, limit: &str) -> String {
        match self {
            Self::En => format!("overdraft {limit}"),
            Self::Zh => format!("透支 {limit}"),
        }
    }

    /// `Copy id t_...`.
    #[must_use]
    pub fn copy_id(self, id: &str) -> String {
        match self {
            Self::En => format!("Copy id {id}"),
            Self::Zh => format!("复制编号 {id}"),
        }
    }

    /// `Key “support-web” created`.
    #[must_use]
    pub fn key_created(self, name: &str) -> String {
        match self {
            Self::En => format!("Key “{name}” created"),
            Self::Zh => format!("密钥“{name}”已创建"),
        }
    }

    /// `Tenant “Halden” created`.
    #[must_use]
    pub fn created_named(self, what: &str, name: &str) -> String {
        match self {
            Self::En => format!("{what} “{name}” created"),
            Self::Zh => format!("{what}“{name}”已创建"),
        }
    }

    /// `Total is now 9,000.00`.
    #[must_use]
    pub fn total_is_now(self, total: &str) -> String {
        match self {
            Self::En => format!("Total is now {total}"),
            Self::Zh => format!("总额现为 {total}"),
        }
    }

    /// `Signed in as ops@example.com, operator`.
    #[must_use]
    pub fn signed_in_as(self, email: &str, role: &str) -> String {
        match self {
            Self::En => format!("Signed in as {email}, {role}"),
            Self::Zh => format!("已登录：{email}（{role}）"),
        }
    }

    /// `last used 27 Nov 2026, 06:32`.
    #[must_use]
    pub fn used_last(self, at: Option<&str>) -> String {
        match (self, at) {
            (Self::En, Some(at)) => format!("last used {at}"),
            (Self::En, None) => "never used".to_owned(),
            (Self::Zh, Some(at)) => format!("最近使用 {at}"),
            (Self::Zh, None) => "从未使用".to_owned(),
        }
    }

    /// `Add 1,000.00`, or `Add grant` while nothing is typed.
    #[must_use]
    pub fn add_amount(self, amount: &str) -> String {
        match self {
            Self::En => format!("Add {amount}"),
            Self::Zh => format!("添加 {amount}"),
        }
    }
}

//! The numbers of an account as integers, the state they amount to, and the geometry of the gate bar. Pure arithmetic.

use api_types::Numbers;
use domain::amount::AmountError;
use domain::{Amount, Unit};

/// The numbers of an account, read once from their decimal strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Credit or token.
    pub unit: Unit,
    /// `None`: no limit.
    pub total: Option<Amount>,
    /// Spent.
    pub used: Amount,
    /// Set aside for running requests.
    pub frozen: Amount,
    /// `None`: no limit.
    pub remaining: Option<Amount>,
    /// Owed beyond credit line and overdraft.
    pub debt: Amount,
    /// How far the overdraft goes; zero where it is not opted in.
    pub overdraft_limit: Amount,
    /// Of it in use.
    pub overdraft_used: Amount,
    /// The credit line before the overdraft.
    pub credit_limit: Amount,
}

impl Figures {
    /// Reads the API's numbers; `credit_limit` comes from the tenant's settings.
    ///
    /// # Errors
    /// Where the API sent something that is no amount: then nothing may be drawn.
    pub fn read(numbers: &Numbers, credit_limit: Amount) -> Result<Self, AmountError> {
        let unit = numbers.unit;
        let optional = |text: &Option<api_types::Decimal>| text.as_ref().map(|text| text.amount(unit)).transpose();
        let overdraft = &numbers.overdraft;
        Ok(Self {
            unit,
            total: optional(&numbers.total)?,
            used: numbers.used.amount(unit)?,
            frozen: numbers.frozen.amount(unit)?,
            remaining: optional(&numbers.remaining)?,
            debt: numbers.debt.amount(unit)?,
            overdraft_limit: if overdraft.enabled { overdraft.limit.amount(unit)? } else { Amount::ZERO },
            overdraft_used: overdraft.used.amount(unit)?,
            credit_limit,
        })
    }

    /// What the numbers amount to.
    #[must_use]
    pub fn state(&self) -> Standing {
        let Some((total, remaining)) = self.total.zip(self.remaining) else { return Standing::Good };
        if self.debt.is_positive() {
            return Standing::Debt;
        }
        if self.overdraft_used.is_positive() {
            return Standing::Overdraft;
        }
        if !remaining.is_positive() && self.beyond() == Amount::ZERO {
            return Standing::Dry;
        }
        // Below a tenth of the total.
        if i128::from(remaining.units()) * 10 < i128::from(total.units()) { Standing::Low } else { Standing::Good }
    }

    /// What may be spent beyond the total.
    fn beyond(&self) -> Amount {
        self.credit_limit.saturating_add(self.overdraft_limit)
    }
}

/// What an account's numbers amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Calls go through.
    Good,
    /// Less than a tenth remains.
    Low,
    /// Nothing remains and nothing may be overdrawn: calls are refused.
    Dry,
    /// Part of the overdraft is in use.
    Overdraft,
    /// More is owed than overdraft and credit line allow: calls are refused.
    Debt,
}

/// A stretch of the bar in hundredths of a percent of its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Where it begins.
    pub from: i64,
    /// How wide it is; zero: not drawn.
    pub width: i64,
}

impl Stretch {
    /// The beginning as an SVG length, `56.08%`.
    #[must_use]
    pub fn x(self) -> String {
        svg_percent(self.from)
    }

    /// The width as an SVG length.
    #[must_use]
    pub fn w(self) -> String {
        svg_percent(self.width)
    }
}

/// Hundredths of a percent as an SVG length.
#[must_use]
pub fn svg_percent(hundredths: i64) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// Where the gate stands in every bar: 80 %.
pub const GATE: i64 = 8_000;
const END: i64 = 10_000;
/// Nothing that is there is thinner.
const THINNEST: i64 = 100;
/// The place of debt at the end of the bar.
const DEBT: i64 = 600;

/// The bar's parts. Left of the gate the scale is the total, right of it what may be overdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bar {
    /// False where there is no limit: then there is no gate.
    pub limited: bool,
    /// Spent, up to the gate.
    pub used: Stretch,
    /// In flight, up to the gate.
    pub frozen: Stretch,
    /// The credit line's place.
    pub credit: Stretch,
    /// The overdraft's place.
    pub overdraft: Stretch,
    /// The overdraft in use.
    pub overdraft_used: Stretch,
    /// Debt.
    pub debt: Stretch,
}

/// Lays out the bar of `figures`.
#[must_use]
pub fn bar(figures: &Figures) -> Bar {
    let Some(total) = figures.total else {
        let width = if figures.used.is_positive() { 1_200 } else { 0 };
        return Bar { used: Stretch { from: 0, width }, ..Bar::default() };
    };
    let mut used = share(figures.used, total, GATE);
    let frozen = share(figures.frozen, total, GATE);
    // What is in flight stays visible where the two no longer fit before the gate.
    if used + frozen > GATE {
        used = GATE - frozen;
    }
    let debt = if figures.debt.is_positive() { DEBT } else { 0 };
    let room = END - GATE - debt;
    let beyond = figures.beyond();
    let credit = share(figures.credit_limit, beyond, room);
    let overdraft = if figures.overdraft_limit.is_positive() { room - credit } else { 0 };
    let overdraft_from = GATE + credit;
    Bar {
        limited: true,
        used: Stretch { from: 0, width: used },
        frozen: Stretch { from: used, width: frozen },
        credit: Stretch { from: GATE, width: credit },
        overdraft: Stretch { from: overdraft_from, width: overdraft },
        overdraft_used: Stretch {
            from: overdraft_from,
            width: share(figures.overdraft_used, figures.overdraft_limit, overdraft),
        },
        debt: Stretch { from: END - debt, width: debt },
    }
}

/// The part of `room` that `part` takes of `whole`: at least the thinnest where there is something, at most all of it.
fn share(part: Amount, whole: Amount, room: i64) -> i64 {
    if !part.is_positive() || room == 0 {
        return 0;
    }
    if part >= whole {
        return room;
    }
    let width = i128::from(part.units()) * i128::from(room) / i128::from(whole.units());
    i64::try_from(width).unwrap_or(room).clamp(THINNEST.min(room), room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(total: &str, used: &str, frozen: &str) -> Figures {
        let parse = |text: &str| Amount::parse(text, Unit::Credit).unwrap();
        Figures {
            unit: Unit::Credit,
            total: Some(parse(total)),
            used: parse(used),
            frozen: parse(frozen),
            remaining: Some(parse(total).checked_sub(parse(used)).unwrap().checked_sub(parse(frozen)).unwrap()),
            debt: Amount::ZERO,
            overdraft_limit: Amount::ZERO,
            overdraft_used: Amount::ZERO,
            credit_limit: Amount::ZERO,
        }
    }

    #[test]
    fn the_left_side_is_drawn_to_the_scale_of_the_total() {
        let bar = bar(&of("12000", "8412.37", "316.20"));
        assert_eq!((bar.used.w(), bar.frozen.x(), bar.frozen.w()), ("56.08%".into(), "56.08%".into(), "2.10%".into()));
        assert_eq!((bar.overdraft.width, bar.debt.width), (0, 0));
    }

    #[test]
    fn what_is_there_is_never_thinner_than_one_percent_and_never_passes_the_gate() {
        let thin = bar(&of("4000", "3790.20", "0.00000001"));
        assert_eq!(thin.frozen.width, THINNEST);
        let full = bar(&of("100", "99.9", "0.1"));
        assert_eq!(full.used.width + full.frozen.width, GATE);
        assert_eq!(full.frozen.width, THINNEST);
        let over = bar(&of("100", "250", "50"));
        assert_eq!(over.used.width + over.frozen.width, GATE);
        assert!(over.frozen.width > THINNEST);
        assert_eq!(bar(&of("0", "0", "0")).used.width, 0);
        assert_eq!(bar(&of("0", "1", "0")).used.width, GATE);
    }

    #[test]
    fn the_right_side_is_drawn_to_the_scale_of_what_may_be_overdrawn() {
        let ten = |n: i64| Amount::new(n * 100_000_000).unwrap();
        let mut figures = of("2500", "2712.60", "0");
        figures.overdraft_limit = ten(500);
        figures.overdraft_used = ten(125);
        let bar_overdraft = bar(&figures);
        assert_eq!((bar_overdraft.overdraft.from, bar_overdraft.overdraft.width), (GATE, 2_000));
        assert_eq!(bar_overdraft.overdraft_used.width, 500);
        figures.credit_limit = ten(750);
        let with_credit = bar(&figures);
        assert_eq!((with_credit.credit.width, with_credit.overdraft.from), (1_200, 9_200));
        figures.debt = ten(1);
        assert_eq!(bar(&figures).debt, Stretch { from: 9_400, width: 600 });
        assert_eq!(figures.state(), Standing::Debt);
    }

    #[test]
    fn no_limit_has_no_gate() {
        let mut figures = of("1", "1", "0");
        figures.total = None;
        figures.remaining = None;
        assert!(!bar(&figures).limited);
        assert_eq!(figures.state(), Standing::Good);
    }

    #[test]
    fn standings() {
        assert_eq!(of("100", "89", "0").state(), Standing::Good);
        assert_eq!(of("100", "90", "1").state(), Standing::Low);
        assert_eq!(of("100", "100", "0").state(), Standing::Dry);
        assert_eq!(of("0", "0", "0").state(), Standing::Dry);
        let mut covered = of("100", "100", "0");
        covered.credit_limit = Amount::new(1).unwrap();
        assert_eq!(covered.state(), Standing::Low);
        covered.overdraft_used = Amount::new(1).unwrap();
        assert_eq!(covered.state(), Standing::Overdraft);
    }
}

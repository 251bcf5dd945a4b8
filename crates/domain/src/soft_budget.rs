//! A project's soft budget: what happens from a percentage of its budget on, before the budget ends everything.

use serde::{Deserialize, Serialize};

use crate::amount::Amount;

/// What happens from the percentage on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SoftAction {
    /// Replies warn.
    Warn,
    /// Calls are moved to a cheaper model, and replies warn.
    Downgrade,
}

/// A soft budget, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftBudget {
    /// Percent of the budget, 1 to 99.
    pub percent: u32,
    /// What happens.
    pub action: SoftAction,
    /// The cheaper model's name, where calls are moved to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl SoftBudget {
    /// Is so much of a budget spent that the percentage is reached?
    #[must_use]
    pub fn is_reached(&self, used: Amount, total: Amount) -> bool {
        total.is_positive() && i128::from(used.units()) * 100 >= i128::from(total.units()) * i128::from(self.percent)
    }

    /// The model that calls are moved to.
    #[must_use]
    pub fn cheaper_model(&self) -> Option<&str> {
        self.model.as_deref().filter(|_| self.action == SoftAction::Downgrade)
    }

    /// Percent of the budget that are left when it is reached.
    #[must_use]
    pub const fn percent_left(&self) -> u32 {
        100_u32.saturating_sub(self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_reached_at_its_percentage_and_names_a_model_only_to_downgrade() {
        let amount = |units| Amount::new(units).unwrap();
        let soft = SoftBudget { percent: 80, action: SoftAction::Downgrade, model: Some("small".to_owned()) };
        assert!(!soft.is_reached(amount(79), amount(100)));
        assert!(soft.is_reached(amount(80), amount(100)));
        assert!(soft.is_reached(Amount::MAX, Amount::MAX));
        assert!(!soft.is_reached(amount(0), amount(0)), "no budget");
        assert_eq!((soft.cheaper_model(), soft.percent_left()), (Some("small"), 20));
        let text = serde_json::to_string(&soft).unwrap();
        assert_eq!(text, r#"{"percent":80,"action":"downgrade","model":"small"}"#);
        assert_eq!(SoftBudget { action: SoftAction::Warn, ..soft }.cheaper_model(), None);
    }
}

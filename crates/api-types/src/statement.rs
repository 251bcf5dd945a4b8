//! Statements: what a tenant was given and charged in one of its periods.

use domain::{KeyId, ProjectId, TenantId, Unit};

use crate::{Decimal, Timestamp};

reply! {
    /// A period's statement. `closing` = `opening` + `granted` - `charged` - `ended`, to the last unit.
    pub struct Statement {
        /// The tenant.
        pub tenant_id: TenantId,
        /// What the amounts count.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// Names the period, such as `m20261101`: a month that begins on that day.
        pub period: String,
        /// Its first instant.
        pub from: Timestamp,
        /// The first instant after it.
        pub to: Timestamp,
        /// Whether it is over and will not change any more.
        pub closed: bool,
        /// The balance before it: what grants gave less what was spent. Negative: owed.
        pub opening: Decimal,
        /// Put in force in it: grants and plans, raised or lowered ones included.
        pub granted: Decimal,
        /// The sum of the settlements in it.
        pub charged: Decimal,
        /// Left of grants that ended in it.
        pub ended: Decimal,
        /// The balance after it; in the present period, now.
        pub closing: Decimal,
        /// What of a negative closing lies in the overdraft, by its present limit.
        pub overdraft: Decimal,
        /// How many settlements it has.
        pub settlements: i64,
        /// What was charged for; `charged` is their sum. In a list of statements null.
        pub lines: Option<Vec<StatementLine>>,
    }

    /// What one key spent on one model.
    pub struct StatementLine {
        /// The project.
        pub project_id: ProjectId,
        /// The key.
        pub key_id: KeyId,
        /// The model asked for.
        pub model: String,
        /// Requests.
        pub requests: i64,
        /// Tokens of prompts and answers.
        pub tokens: i64,
        /// Charged.
        pub charge: Decimal,
    }
}

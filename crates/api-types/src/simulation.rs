//! What recorded requests would have cost at other prices.

use crate::price::CreatePrice;
use crate::{Decimal, Timestamp};

words! {
    /// What a simulation is summed by.
    pub enum SimulationGroup {
        /// The model that was charged.
        Model = "model",
        /// The tenant.
        Tenant = "tenant",
        /// The project.
        Project = "project",
        /// The API key.
        Key = "key",
    }
}

request! {
    /// Prices recorded requests again.
    pub struct Simulate {
        /// Requests that began at or after.
        pub from: Timestamp,
        /// Requests that began before.
        pub to: Timestamp,
        /// The prices of 1 to 200 models; those of other models stay.
        pub prices: Vec<SimulatedPrice>,
        /// What to sum by; by model unless said otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub group_by: Option<SimulationGroup>,
    }

    /// What a model would cost.
    pub struct SimulatedPrice {
        /// The model's name.
        pub model: String,
        /// Its price, without `valid_from` and `token_weights`.
        pub price: CreatePrice,
    }
}

reply! {
    /// What was charged and what would have been.
    pub struct Simulation {
        /// Charged, late corrections included.
        pub actual: Decimal,
        /// What it would have been.
        pub simulated: Decimal,
        /// Requests that keep their charge although their model is priced anew, because it does not follow from counts: those
        /// charged from outside with an amount, and those of gateways that died.
        pub kept: i64,
        /// By what was asked for.
        pub items: Vec<Simulated>,
    }

    /// One of a simulation's sums.
    pub struct Simulated {
        /// The model's name, or the id of the tenant, project or key.
        pub group: String,
        /// Requests.
        pub requests: i64,
        /// Charged.
        pub actual: Decimal,
        /// What it would have been.
        pub simulated: Decimal,
    }
}

//! `POST /price-simulations`.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use api_types::Decimal;
use api_types::simulation::{Simulate, Simulated, Simulation, SimulationGroup};
use domain::price::{Multiplier, Prices};
use domain::{Amount, Outcome, RequestId, TargetId, Tariff, Unit, Usage};
use store::simulations::Used;
use time::OffsetDateTime;

use crate::auth::policy::SimulatePrices;
use crate::auth::{Call, Reads};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::prices;
use crate::reply::Reply;
use crate::validate::Fields;

/// Requests read at once.
const PAGE: i64 = 5_000;
/// A simulation takes no longer.
const WITHIN: Duration = Duration::from_secs(20);
/// Models whose prices are given, at most.
const MODELS: usize = 200;

/// What the recorded requests of a stretch of time would have cost at other prices: each is priced again by its own counts, its
/// tenant's multiplier and that of the target that served it, both as they are now, and rounded up as a charge is. Models
/// without a price here keep what was charged. Requests whose records are kept no more, and those of tenants metered in
/// tokens, are left out. Nothing is changed.
#[utoipa::path(post, path = "/price-simulations", operation_id = "simulate_prices", tag = "prices", request_body = Simulate,
    responses((status = 200, description = "What was and what would have been charged.", body = Simulation)))]
pub async fn handler(
    call: Call<SimulatePrices>,
    Json { value: body, .. }: Json<Simulate>,
) -> Result<Reply<Simulation>> {
    let prices = read(&body)?;
    let audit = crate::auth::Audit::new("prices.simulate", "prices").after(&body);
    let reads = call.commit_and_read(audit).await?;
    let priced = Priced { prices, targets: targets(&reads).await? };
    let (began, mut sums, mut after) = (Instant::now(), Sums::default(), None::<RequestId>);
    loop {
        // Ids begin with the epoch.
        let within =
            (body.from.instant().max(OffsetDateTime::UNIX_EPOCH), body.to.instant().max(OffsetDateTime::UNIX_EPOCH));
        let page = store::simulations::page(&mut *reads.begin().await?, within, after, PAGE, reads.reach()).await?;
        let is_last = i64::try_from(page.len()).is_ok_and(|count| count < PAGE);
        after = page.last().map(|used| used.request_id);
        for used in &page {
            sums.add(used, priced.charge(used)?, body.group_by.unwrap_or(SimulationGroup::Model));
        }
        if is_last {
            return Ok(Reply::ok(sums.written()));
        }
        if began.elapsed() > WITHIN {
            let message = "too many requests for one simulation; choose a shorter stretch of time";
            return Err(Error::field("to", "out_of_range", message));
        }
    }
}

/// The prices by model.
fn read(body: &Simulate) -> Result<HashMap<String, Prices>> {
    let mut fields = Fields::new();
    fields.check(body.to > body.from, "to", "out_of_range", "must be later than from");
    let fits = (1..=MODELS).contains(&body.prices.len());
    fields.check(fits, "prices", "out_of_range", "give the prices of 1 to 200 models");
    let mut read = HashMap::new();
    for (index, of) in body.prices.iter().enumerate() {
        let path = format!("prices[{index}]");
        let is_plain = of.price.valid_from.is_none() && of.price.token_weights.is_none();
        fields.check(is_plain, &format!("{path}.price"), "invalid", "leave valid_from and token_weights out");
        let parsed = prices::read(&mut fields, &format!("{path}.price."), &of.price);
        let model = fields.text(&format!("{path}.model"), &of.model, 200);
        let is_first = read.insert(model, parsed).is_none();
        fields.check(is_first, &format!("{path}.model"), "already_exists", "has its price already");
    }
    fields.done()?;
    Ok(read)
}

/// Factors of the targets that exist.
async fn targets(reads: &Reads) -> Result<HashMap<TargetId, Multiplier>> {
    let factors = store::simulations::multipliers(&mut *reads.begin().await?).await?;
    let parsed = |(id, text): (TargetId, String)| Ok((id, Multiplier::parse(&text).map_err(Error::internal)?));
    factors.into_iter().map(parsed).collect()
}

/// What a request would cost.
enum Charge {
    /// Priced again.
    Anew(Amount),
    /// As it was, because its model has no other price here.
    Same,
    /// As it was, because it does not follow from counts.
    Kept,
}

struct Priced {
    prices: HashMap<String, Prices>,
    targets: HashMap<TargetId, Multiplier>,
}

impl Priced {
    fn charge(&self, used: &Used) -> Result<Charge> {
        let Some(prices) = self.prices.get(&used.model) else { return Ok(Charge::Same) };
        if used.outcome == Outcome::RolledBack {
            return Ok(Charge::Same);
        }
        if used.usage == Usage::default() {
            return Ok(Charge::Kept);
        }
        let tenant = Multiplier::parse(&used.multiplier).map_err(Error::internal)?;
        let target = used.target.and_then(|id| self.targets.get(&id).copied()).unwrap_or(Multiplier::ONE);
        let tariff = Tariff { unit: Unit::Credit, prices: *prices, tenant, target, ..Tariff::default() };
        let refused = |why| Error::field("prices", "not_priced", format!("{}: {why}", used.model));
        tariff.charge(&used.usage).map(Charge::Anew).map_err(refused)
    }
}

#[derive(Default)]
struct Sum {
    requests: i64,
    actual: i128,
    simulated: i128,
}

#[derive(Default)]
struct Sums {
    groups: BTreeMap<String, Sum>,
    kept: i64,
}

impl Sums {
    fn add(&mut self, used: &Used, charge: Charge, by: SimulationGroup) {
        let group = match by {
            SimulationGroup::Model => used.model.clone(),
            SimulationGroup::Tenant => used.tenant_id.to_string(),
            SimulationGroup::Project => used.project_id.to_string(),
            SimulationGroup::Key => used.key_id.to_string(),
        };
        let actual = i128::from(used.charge.units());
        let sum = self.groups.entry(group).or_default();
        sum.requests += 1;
        sum.actual += actual;
        sum.simulated += match charge {
            Charge::Anew(amount) => i128::from(amount.units()),
            Charge::Same | Charge::Kept => actual,
        };
        self.kept += i64::from(matches!(charge, Charge::Kept));
    }

    fn written(self) -> Simulation {
        let decimal = |units| Decimal::of_sum(units, Unit::Credit);
        let (mut actual, mut simulated, mut items) = (0, 0, Vec::new());
        for (group, sum) in self.groups {
            actual += sum.actual;
            simulated += sum.simulated;
            let Sum { requests, actual, simulated } = sum;
            items.push(Simulated { group, requests, actual: decimal(actual), simulated: decimal(simulated) });
        }
        Simulation { actual: decimal(actual), simulated: decimal(simulated), kept: self.kept, items }
    }
}

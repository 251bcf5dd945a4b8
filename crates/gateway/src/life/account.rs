//! What a request costs in the end, its record, its log line. The freeze is finished here and nowhere else.

use std::sync::Arc;

use domain::price::Tariff;
use domain::record::{Attempt, Outcome, UsageRecord};
use domain::usage::Usage;
use domain::{Amount, Level};
use http::HeaderMap;
use jiff::Timestamp;
use quota::{Freeze, Numbers};

use crate::catalog::Target;
use crate::dialect::Dialect;
use crate::error::{ApiError, set};
use crate::life::estimate::Plan;
use crate::life::{Call, Reply, once};
use crate::rates;

/// An admitted request and everything to be recorded of it.
pub struct Books {
    /// The request.
    pub call: Arc<Call>,
    /// What was decided before the freeze.
    pub plan: Plan,
    /// What is frozen.
    pub freeze: Freeze,
    /// The tries at targets.
    pub attempts: Vec<Attempt>,
    /// The target that serves.
    pub serving: Option<Arc<Target>>,
    /// The last status of an upstream.
    pub upstream_status: Option<u16>,
    /// The model as the upstream named it.
    pub served_model: Option<String>,
    /// The maximum sent upstream, where it is lower than the caller's.
    pub lowered_max: Option<u64>,
    /// Something of the answer went to the client.
    pub relayed: bool,
    /// Answer tokens relayed, where that is less than was seen.
    pub relayed_tokens: Option<u64>,
    frozen_at: Timestamp,
    first_byte_at: Option<Timestamp>,
}

impl Books {
    /// Opens the books of an admitted request.
    #[must_use]
    pub fn new(call: Arc<Call>, plan: Plan, freeze: Freeze) -> Self {
        Self {
            call,
            plan,
            freeze,
            attempts: Vec::new(),
            serving: None,
            upstream_status: None,
            served_model: None,
            lowered_max: None,
            relayed: false,
            relayed_tokens: None,
            frozen_at: Timestamp::now(),
            first_byte_at: None,
        }
    }

    /// The upstream's first byte is here.
    pub fn first_byte(&mut self) {
        self.first_byte_at = Some(Timestamp::now());
        metrics::histogram!("tollgate_gateway_first_byte_seconds").record(self.call.context.began.elapsed());
    }

    /// Headers of a reply that succeeds.
    pub fn reply_headers(&self, headers: &mut HeaderMap) {
        set(headers, "x-tollgate-model", &self.plan.model.name);
        rates::reply_headers(headers, self.freeze.limits());
        if self.freeze.numbers().iter().any(is_on_overdraft) {
            set(headers, "x-quota-overage", "true");
        }
        if self.plan.is_downgraded {
            set(headers, "x-tollgate-downgraded", "true");
        }
        let thresholds = warning(self.freeze.numbers(), &self.call.caller.context.thresholds);
        if let Some(left) = thresholds.into_iter().chain(self.plan.soft_left).min() {
            set(headers, "x-quota-warning", &format!("{left}%"));
        }
        if let Some(max) = self.lowered_max {
            set(headers, "x-tollgate-max-tokens", &max.to_string());
        }
    }

    /// The dialect of the target that serves.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.serving.as_ref().map_or(self.call.dialect, |target| self.call.dialect_at(target))
    }

    /// The local count of an answer of so many tokens, as a usage.
    #[must_use]
    pub fn counted(&self, output: u64) -> Usage {
        // Tokens of a streamed image say nothing of what it costs: its bound does.
        self.plan.counted(if self.plan.input.images > 0 { self.plan.input.images } else { output })
    }

    /// What a usage costs at the target that serves, at the prices in force at the freeze.
    #[must_use]
    pub fn charge(&self, usage: &Usage) -> Amount {
        let target = self.serving.as_ref().map_or(self.plan.estimator.tariff.target, |target| target.multiplier);
        let tariff = Tariff { target, ..self.plan.estimator.tariff };
        tariff.charge(usage).unwrap_or_else(|error| {
            // Only for kinds that no chat call should use, or beyond all amounts: never free, and loud.
            tracing::error!(request_id = %self.call.context.id, %error, ?usage, "a usage could not be priced; the freeze is charged");
            self.freeze.amount()
        })
    }

    /// Charges a usage, or nothing where there is none.
    pub fn settle(self, usage: Option<Usage>, is_estimated: bool, ended: &'static str) {
        match usage {
            Some(usage) => {
                let charge = self.charge(&usage);
                self.close(Outcome::Final, charge, usage, is_estimated, ended, 200, None);
            }
            None => self.close(Outcome::RolledBack, Amount::ZERO, Usage::default(), false, ended, 200, None),
        }
    }

    /// Charges nothing and replies with the error, if there is still somebody to read it.
    pub fn roll_back(self, ended: &'static str, error: Option<ApiError>, reply: Reply) {
        let context = self.call.context.clone();
        let (status, code) =
            error.as_ref().map_or((499, None), |error| (error.status.as_u16(), Some(error.code.to_string())));
        metrics::counter!("tollgate_gateway_roll_backs_total", "reason" => ended).increment(1);
        once::let_go(&self.call);
        self.close(Outcome::RolledBack, Amount::ZERO, Usage::default(), false, ended, status, code);
        if let Some(error) = error {
            let _ = reply.send(error.to_response(&context));
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the one place where a request ends; each argument is one column of its record or its log line"
    )]
    fn close(
        self,
        outcome: Outcome,
        charge: Amount,
        usage: Usage,
        is_estimated: bool,
        ended: &'static str,
        status: u16,
        code: Option<String>,
    ) {
        let frozen = self.freeze.amount();
        let record = self.record(usage, is_estimated, charge > frozen);
        self.count(&record, charge, frozen, ended, status);
        let (of, context) = (&self.call.caller.context, &self.call.context);
        tracing::info!(
            request_id = %context.id, client_request_id = context.client_id, tenant = %of.tenant_id, project = %of.project_id, key = %of.key_id,
            model = self.plan.model.name, stream = self.call.asked.stream, status, code, ended, outcome = outcome.as_str(),
            estimate = %self.plan.want, frozen = %frozen, extensions = self.freeze.extensions(), charge = %charge, unit = of.unit.as_str(),
            prompt_tokens = usage.prompt_tokens(), completion_tokens = usage.completion_tokens(), estimated = is_estimated,
            attempts = self.attempts.len(), upstream_status = self.upstream_status, lowered_max = self.lowered_max, ms = context.elapsed_ms(),
            "request"
        );
        // Settling and recording go on in the quota's own tasks; a stop waits for them there.
        let _recorded_later = self.freeze.finish(outcome, charge, record);
    }

    fn record(&self, usage: Usage, estimated: bool, overrun: bool) -> UsageRecord {
        let (of, context) = (&self.call.caller.context, &self.call.context);
        let served_model =
            self.served_model.clone().or_else(|| self.serving.as_ref().map(|target| target.upstream_model.clone()));
        UsageRecord {
            request_id: context.id,
            client_request_id: context.client_id.clone(),
            tenant_id: of.tenant_id,
            project_id: of.project_id,
            key_id: of.key_id,
            model: self.plan.model.name.clone(),
            served_model,
            estimate: self.plan.want,
            frozen: self.freeze.amount(),
            extensions: self.freeze.extensions(),
            usage,
            attempts: self.attempts.clone(),
            upstream_status: self.upstream_status,
            estimated,
            overrun,
            started_at: Some(context.started_at),
            frozen_at: Some(self.frozen_at),
            first_byte_at: self.first_byte_at,
            ended_at: Some(Timestamp::now()),
        }
    }

    fn count(&self, record: &UsageRecord, charge: Amount, frozen: Amount, ended: &'static str, status: u16) {
        metrics::counter!("tollgate_gateway_calls_total", "ended" => ended, "status" => status.to_string())
            .increment(1);
        metrics::counter!("tollgate_gateway_prompt_tokens_total").increment(record.usage.prompt_tokens());
        metrics::counter!("tollgate_gateway_completion_tokens_total").increment(record.usage.completion_tokens());
        let unit = self.call.caller.context.unit.as_str();
        metrics::counter!("tollgate_gateway_charged_units_total", "unit" => unit)
            .increment(u64::try_from(charge.units()).unwrap_or_default());
        if record.estimated {
            metrics::counter!("tollgate_gateway_estimated_total").increment(1);
        }
        if record.overrun {
            metrics::counter!("tollgate_gateway_overruns_total").increment(1);
            tracing::warn!(request_id = %record.request_id, charge = %charge, frozen = %frozen, "a request cost more than was frozen for it");
        }
        if charge.is_positive() {
            // In thousandths of the actual: histograms take floats, amounts never become one.
            let gap = charge.units().abs_diff(frozen.units()).saturating_mul(1000) / charge.units().unsigned_abs();
            metrics::histogram!("tollgate_gateway_estimate_gap_permille")
                .record(f64::from(u32::try_from(gap).unwrap_or(u32::MAX)));
        }
    }
}

/// What is left at the highest threshold that a level has crossed, in percent.
fn warning(levels: &[Numbers], thresholds: &[u32]) -> Option<u32> {
    let is_crossed = |percent: &u32| {
        levels.iter().filter(|numbers| numbers.scope.level() != Level::Pool).any(|numbers| {
            let total = numbers.total.filter(|total| total.is_positive()).map(Amount::units);
            total
                .is_some_and(|total| i128::from(numbers.used.units()) * 100 >= i128::from(total) * i128::from(*percent))
        })
    };
    let highest = thresholds.iter().copied().filter(|percent| is_crossed(percent)).max()?;
    Some(100_u32.saturating_sub(highest))
}

/// More is spent or set aside than total and credit line hold: the rest comes out of the overdraft.
fn is_on_overdraft(numbers: &Numbers) -> bool {
    numbers
        .total
        .is_some_and(|total| numbers.used.saturating_add(numbers.frozen) > total.saturating_add(numbers.credit_limit))
}

/// A request that was not admitted: a retry is a new one.
pub fn refused(call: &Call, error: &ApiError, reply: Reply) {
    once::let_go(call);
    turned_away(call, error, reply);
}

/// The reply and the log line of a request that was not admitted.
pub fn turned_away(call: &Call, error: &ApiError, reply: Reply) {
    let (of, context) = (&call.caller.context, &call.context);
    tracing::info!(
        request_id = %context.id, client_request_id = context.client_id, tenant = %of.tenant_id, project = %of.project_id, key = %of.key_id,
        model = call.asked.model, status = error.status.as_u16(), code = error.code.as_ref(), ended = "refused", ms = context.elapsed_ms(), "request"
    );
    metrics::counter!("tollgate_gateway_calls_total", "ended" => "refused", "status" => error.status.as_u16().to_string()).increment(1);
    let _ = reply.send(error.to_response(context));
}

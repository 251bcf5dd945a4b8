//! Where a call meets targets that don't speak its dialect: which may serve it, what they are sent, what the client reads.

use std::sync::Arc;

use bytes::Bytes;
use domain::usage::Usage;

use crate::catalog::{Model, Target};
use crate::dialect::Dialect;
use crate::dialect::asked::Changes;
use crate::dialect::field::BadField;
use crate::error::ApiError;
use crate::life::Call;
use crate::life::account::Books;
use crate::life::estimate::{self, Plan};
use crate::translate::{Bounds, Frame, Translate, Translated, Translation};

/// The targets that can serve the call, and the request for those among them that don't speak its dialect. Where the request
/// can't be translated, only those remain that need no translation.
///
/// # Errors
/// There is no target for this route, or the request can't be translated and every target would need it: the field.
pub async fn targets(call: &Call, model: &Arc<Model>) -> Result<(Option<Translated>, Vec<Arc<Target>>), ApiError> {
    let mut targets: Vec<_> =
        model.targets.iter().filter(|target| call.dialect.spoken_to(target).is_some()).cloned().collect();
    if targets.is_empty() {
        return Err(ApiError::model_not_on_this_route(&model.name));
    }
    let other = targets.iter().find_map(|target| translation(call.dialect, target));
    let Some(translation) = other else { return Ok((None, targets)) };
    let translate = move |body: &[u8], model: &Model| {
        let (max_output_tokens, hidden_reasoning) = (model.max_output_tokens, model.hidden_reasoning);
        translation.request(body, Bounds { max_output_tokens, hidden_reasoning })
    };
    match estimate::with_body(call, model, translate).await {
        Ok(translated) => Ok((Some(translated), targets)),
        Err(error) => {
            targets.retain(|target| call.dialect.is_spoken_by(target));
            if targets.is_empty() { Err(error) } else { Ok((None, targets)) }
        }
    }
}

/// Order among targets: by priority, and of equal ones those first that need no translation.
#[must_use]
pub const fn rank(dialect: Dialect, target: &Target) -> (i32, bool) {
    (target.priority, !dialect.is_spoken_by(target))
}

/// The request's text for one target.
///
/// # Errors
/// The body can't be read.
pub fn body_for(call: &Call, plan: &Plan, target: &Target, changes: Changes<'_>) -> Result<Bytes, BadField> {
    match &plan.translated {
        Some(translated) if !call.dialect.is_spoken_by(target) => {
            translated.dialect.rewrite(&translated.body, &translated.asked, changes)
        }
        _ => call.dialect.rewrite(&call.body, &call.asked, changes),
    }
}

/// Translates the stream of a target; none where it speaks the client's dialect.
#[must_use]
pub fn stream(call: &Call, plan: &Plan, target: &Target) -> Option<Box<dyn Translate>> {
    Some(translation(call.dialect, target)?.stream(frame(call, plan)))
}

/// A whole answer as the client reads it. `usage` is what is charged.
#[must_use]
pub fn reply(books: &Books, body: Bytes, usage: &Usage) -> Bytes {
    let serving = books.serving.as_ref().and_then(|target| translation(books.call.dialect, target));
    match serving {
        Some(translation) => translation.reply(&body, usage, &frame(&books.call, &books.plan)),
        None => body,
    }
}

fn translation(dialect: Dialect, target: &Target) -> Option<Translation> {
    Translation::between(dialect, dialect.spoken_to(target)?)
}

fn frame(call: &Call, plan: &Plan) -> Frame {
    Frame {
        id: call.context.id.to_string(),
        model: call.asked.model.clone(),
        now: call.context.started_at.as_second(),
        prompt_tokens: plan.input.prompt_tokens(),
        include_usage: call.asked.include_usage,
    }
}

//! What each dialect's requests, replies and streams say: the model, the maximum, the prompt, the usage, the words.
//!
//! Pure functions over bytes. They know no quota, no prices and no HTTP client. To add a dialect: a folder, and its arm
//! in each function of [`Dialect`]; the compiler names those that are missing.

pub mod asked;
pub mod chat;
pub mod completions;
pub mod count;
pub mod embeddings;
pub mod field;
pub mod messages;
pub mod reply;
pub mod responses;
pub mod watch;

use std::sync::Arc;

use domain::usage::{self, Kind};

use crate::catalog::{Model, Target};
use crate::tokens::Tokenizer;
use crate::wire::edit::Object;

use asked::{Asked, Changes};
use field::BadField;
use reply::Reply;
use watch::Watch;

/// A route's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI `POST /v1/chat/completions`.
    Chat,
    /// OpenAI `POST /v1/completions`.
    Completions,
    /// OpenAI `POST /v1/responses`.
    Responses,
    /// OpenAI `POST /v1/embeddings`.
    Embeddings,
    /// Anthropic `POST /v1/messages`.
    Messages,
}

impl Dialect {
    /// The path behind `/v1`, here and at the upstream.
    #[must_use]
    pub const fn route(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Completions => "/completions",
            Self::Responses => "/responses",
            Self::Embeddings => "/embeddings",
            Self::Messages => "/messages",
        }
    }

    /// Is the model of a kind that this route serves?
    #[must_use]
    pub fn serves(self, model: &Model) -> bool {
        match self {
            Self::Chat | Self::Responses | Self::Messages => model.mode == "chat",
            Self::Completions => model.mode == "completion" || model.mode == "chat",
            Self::Embeddings => model.mode == "embedding",
        }
    }

    /// Does the target speak this language?
    #[must_use]
    pub const fn is_spoken_by(self, target: &Target) -> bool {
        match self {
            Self::Messages => target.speaks_anthropic,
            _ => target.speaks_openai,
        }
    }

    /// The dialect in which a target serves this route: its own where the target speaks it, else one it can be translated to.
    #[must_use]
    pub const fn spoken_to(self, target: &Target) -> Option<Self> {
        match self {
            _ if self.is_spoken_by(target) => Some(self),
            Self::Chat if target.speaks_anthropic => Some(Self::Messages),
            Self::Messages if target.speaks_openai => Some(Self::Chat),
            _ => None,
        }
    }

    /// The kinds that a call uses in any case: without a price for each the model is not sold.
    #[must_use]
    pub const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Embeddings => &[Kind::Input],
            _ => &[Kind::Input, Kind::Output],
        }
    }

    /// The kinds that prompt tokens may turn out to be.
    #[must_use]
    pub const fn prompt_kinds(self) -> &'static [Kind] {
        match self {
            Self::Messages => &[Kind::Input, Kind::CachedInput, Kind::CacheWrite5m, Kind::CacheWrite1h],
            _ => &[Kind::Input, Kind::CachedInput],
        }
    }

    /// Reads the fields that matter.
    ///
    /// # Errors
    /// The first field that can't be used.
    pub fn read(self, object: &Object<'_>) -> Result<Asked, BadField> {
        match self {
            Self::Chat => chat::request::read(object),
            Self::Completions => completions::read(object),
            Self::Responses => responses::request::read(object),
            Self::Embeddings => embeddings::read(object),
            Self::Messages => messages::request::read(object),
        }
    }

    /// Counts the input's tokens. Never less than 1.
    ///
    /// # Errors
    /// The input is missing or of another shape.
    pub fn count(self, object: &Object<'_>, tokenizer: &Tokenizer, context_window: u64) -> Result<u64, BadField> {
        let mut counter = count::Counter::new(tokenizer, context_window);
        match self {
            Self::Chat => chat::prompt::count(object, &mut counter),
            Self::Completions => completions::count(object, &mut counter),
            Self::Responses => responses::request::count(object, &mut counter),
            Self::Embeddings => embeddings::count(object, &mut counter),
            Self::Messages => messages::request::count(object, &mut counter),
        }?;
        Ok(counter.tokens())
    }

    /// The request's text for one target: only what must change changes.
    ///
    /// # Errors
    /// The body can't be read.
    pub fn rewrite(self, body: &[u8], asked: &Asked, changes: Changes<'_>) -> Result<String, BadField> {
        let mut object = field::object(body)?;
        object.set("model", crate::wire::edit::quote(changes.upstream_model));
        match self {
            Self::Chat => chat::request::change(&mut object, asked, changes)?,
            Self::Completions => completions::change(&mut object, asked, changes)?,
            Self::Responses => lower(&mut object, "max_output_tokens", changes),
            Self::Messages => lower(&mut object, "max_tokens", changes),
            Self::Embeddings => {}
        }
        Ok(object.to_text())
    }

    /// Follows a streamed answer.
    #[must_use]
    pub fn watcher(self, tokenizer: &Arc<Tokenizer>, asked: &Asked) -> Box<dyn Watch> {
        let tokenizer = Arc::clone(tokenizer);
        match self {
            Self::Chat | Self::Embeddings => Box::new(chat::stream::Watcher::new(tokenizer, asked.include_usage)),
            Self::Completions => Box::new(chat::stream::Watcher::of_text(tokenizer, asked.include_usage)),
            Self::Responses => Box::new(responses::stream::Watcher::new(tokenizer)),
            Self::Messages => Box::new(messages::stream::Watcher::new(tokenizer)),
        }
    }

    /// Reads a whole answer.
    #[must_use]
    pub fn reply(self, body: &[u8], tokenizer: &Arc<Tokenizer>) -> Reply {
        match self {
            Self::Chat | Self::Completions => {
                reply::read(body, usage::from_openai, |object| chat::reply::count(object, tokenizer))
            }
            Self::Responses => {
                reply::read(body, usage::from_responses, |object| responses::stream::count(&object, tokenizer))
            }
            Self::Embeddings => reply::read(body, usage::from_embeddings, |_| 0),
            Self::Messages => {
                reply::read(body, usage::from_anthropic, |object| messages::stream::count(&object, tokenizer))
            }
        }
    }
}

fn lower(object: &mut Object<'_>, field: &str, changes: Changes<'_>) {
    if let Some(max) = changes.lowered_max {
        object.set(field, max.to_string());
    }
}

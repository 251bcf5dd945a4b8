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
pub mod images;
pub mod input;
pub mod media;
pub mod messages;
pub mod reply;
pub mod rerank;
pub mod responses;
pub mod speech;
pub mod transcriptions;
pub mod watch;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::estimate::{SPOKEN_ANSWER, TEXT_ANSWER};
use domain::usage::{self, Kind};

use crate::catalog::{Model, Target};
use crate::tokens::Tokenizer;
use crate::wire::edit::Object;

use asked::{Asked, Changes};
use field::BadField;
use input::Input;
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
    /// OpenAI `POST /v1/images/generations`.
    Images,
    /// OpenAI `POST /v1/audio/speech`.
    Speech,
    /// OpenAI `POST /v1/audio/transcriptions`: a form, not JSON.
    Transcriptions,
    /// `POST /v1/rerank`, as Cohere, Jina and vLLM serve it.
    Rerank,
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
            Self::Images => "/images/generations",
            Self::Speech => "/audio/speech",
            Self::Transcriptions => "/audio/transcriptions",
            Self::Rerank => "/rerank",
        }
    }

    /// Is the model of a kind that this route serves?
    #[must_use]
    pub fn serves(self, model: &Model) -> bool {
        match self {
            Self::Chat | Self::Responses | Self::Messages => model.mode == "chat",
            Self::Completions => model.mode == "completion" || model.mode == "chat",
            Self::Embeddings => model.mode == "embedding",
            Self::Images => model.mode == "image",
            Self::Speech => model.mode == "speech",
            Self::Transcriptions => model.mode == "transcription",
            Self::Rerank => model.mode == "rerank",
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
            Self::Embeddings | Self::Rerank => &[Kind::Input],
            Self::Images => &[Kind::Image, Kind::Input, Kind::Output],
            Self::Speech => &[Kind::Input, Kind::AudioOutput],
            Self::Transcriptions => &[Kind::Input, Kind::AudioInput, Kind::Output],
            _ => &[Kind::Input, Kind::Output],
        }
    }

    /// The kinds that an answer's tokens may turn out to be.
    #[must_use]
    pub const fn answer_kinds(self, is_spoken: bool) -> &'static [Kind] {
        match self {
            Self::Speech => &[Kind::AudioOutput],
            Self::Images | Self::Transcriptions => &[Kind::Output],
            _ if is_spoken => SPOKEN_ANSWER,
            _ => TEXT_ANSWER,
        }
    }

    /// Does the model answer in tokens that a maximum sent upstream bounds?
    #[must_use]
    pub const fn has_maximum(self) -> bool {
        matches!(self, Self::Chat | Self::Completions | Self::Responses | Self::Messages)
    }

    /// Is its answer JSON, unless it is streamed?
    #[must_use]
    pub const fn answers_in_json(self) -> bool {
        !matches!(self, Self::Speech | Self::Transcriptions)
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
            Self::Images => images::read(object),
            Self::Speech => speech::read(object),
            Self::Transcriptions => Err(BadField::new("", "send multipart/form-data")),
            Self::Rerank => rerank::read(object),
        }
    }

    /// Reads the fields that matter of a whole body, whose head named `content_type`.
    ///
    /// # Errors
    /// The first field that can't be used.
    pub fn read_body(self, content_type: Option<&str>, body: &[u8]) -> Result<Asked, BadField> {
        if self != Self::Transcriptions {
            return self.read(&field::object(body)?);
        }
        let form = transcriptions::form(body)?;
        transcriptions::check_head(content_type, &form)?;
        transcriptions::read(&form)
    }

    /// The body as it tells two calls apart: a form without its boundary, which clients make anew for each try.
    #[must_use]
    pub fn identity(self, body: &[u8]) -> Cow<'_, [u8]> {
        match (self == Self::Transcriptions).then(|| transcriptions::form(body)) {
            Some(Ok(form)) => Cow::Owned(form.without_boundary()),
            _ => Cow::Borrowed(body),
        }
    }

    /// Counts or bounds all that is known of a body's input and its answer before the call.
    ///
    /// # Errors
    /// The input is missing or of another shape.
    pub fn input(self, body: &[u8], tokenizer: &Tokenizer, context_window: u64) -> Result<Input, BadField> {
        if self == Self::Transcriptions {
            return Ok(transcriptions::input(&transcriptions::form(body)?, tokenizer));
        }
        let object = field::object(body)?;
        let mut counter = count::Counter::new(tokenizer, context_window);
        self.count_into(&object, &mut counter)?;
        let input = counter.input();
        Ok(match self {
            Self::Images => {
                let images = images::read(&object)?.n;
                Input { images, answer_tokens: Some(images::tokens_of_one(&object)?), ..input }
            }
            Self::Speech => Input { answer_tokens: Some(speech::answer_tokens(&object)?), ..input },
            Self::Chat => Input { is_spoken: chat::request::is_spoken(&object), ..input },
            _ => input,
        })
    }

    /// Counts the input's tokens. Never less than 1.
    ///
    /// # Errors
    /// The input is missing or of another shape.
    pub fn count(self, object: &Object<'_>, tokenizer: &Tokenizer, context_window: u64) -> Result<u64, BadField> {
        let mut counter = count::Counter::new(tokenizer, context_window);
        self.count_into(object, &mut counter)?;
        Ok(counter.tokens())
    }

    fn count_into(self, object: &Object<'_>, counter: &mut count::Counter<'_>) -> Result<(), BadField> {
        match self {
            Self::Chat => chat::prompt::count(object, counter),
            Self::Completions => completions::count(object, counter),
            Self::Responses => responses::request::count(object, counter),
            Self::Embeddings => embeddings::count(object, counter),
            Self::Messages => messages::request::count(object, counter),
            Self::Images => images::count(object, counter),
            Self::Speech => speech::count(object, counter),
            Self::Rerank => rerank::count(object, counter),
            Self::Transcriptions => Ok(()),
        }
    }

    /// The request's text for one target: only what must change changes.
    ///
    /// # Errors
    /// The body can't be read.
    pub fn rewrite(self, body: &[u8], asked: &Asked, changes: Changes<'_>) -> Result<Bytes, BadField> {
        if self == Self::Transcriptions {
            return Ok(transcriptions::form(body)?.with("model", changes.upstream_model).into());
        }
        let mut object = field::object(body)?;
        object.set("model", crate::wire::edit::quote(changes.upstream_model));
        match self {
            Self::Chat => chat::request::change(&mut object, asked, changes)?,
            Self::Completions => completions::change(&mut object, asked, changes)?,
            Self::Responses => lower(&mut object, "max_output_tokens", changes),
            Self::Messages => lower(&mut object, "max_tokens", changes),
            Self::Embeddings | Self::Images | Self::Speech | Self::Transcriptions | Self::Rerank => {}
        }
        Ok(object.to_text().into())
    }

    /// Follows a streamed answer.
    #[must_use]
    pub fn watcher(self, tokenizer: &Arc<Tokenizer>, asked: &Asked) -> Box<dyn Watch> {
        let tokenizer = Arc::clone(tokenizer);
        match self {
            Self::Images | Self::Speech | Self::Transcriptions => Box::new(media::Watcher::new(tokenizer)),
            Self::Chat | Self::Embeddings | Self::Rerank => {
                Box::new(chat::stream::Watcher::new(tokenizer, asked.include_usage))
            }
            Self::Completions => Box::new(chat::stream::Watcher::of_text(tokenizer, asked.include_usage)),
            Self::Responses => Box::new(responses::stream::Watcher::new(tokenizer)),
            Self::Messages => Box::new(messages::stream::Watcher::new(tokenizer)),
        }
    }

    /// Reads a whole answer of a media type.
    #[must_use]
    pub fn reply(self, media_type: &str, body: &[u8], tokenizer: &Arc<Tokenizer>) -> Reply {
        match self {
            Self::Images => images::reply(body),
            Self::Speech => reply::read(body, speech::usage, |_| 0),
            Self::Transcriptions => transcriptions::reply(media_type, body, tokenizer),
            Self::Rerank => rerank::reply(body),
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

//! What will be answered and reported, before it takes a dialect's shape.

use serde_json::{Value, json};

use crate::{
    ask::Ask,
    script::{Script, UsageMode},
    tokens,
};

/// Output of a message without a script.
const SHORT: u32 = 12;
/// Chunks of an answer whose script names none: one per token, up to this many.
const CHUNKS: u32 = 20;

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
    Tool,
}

/// Reported counts. `prompt` includes what was cached; `output` includes reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub prompt: u32,
    pub cached: u32,
    pub cache_write: u32,
    pub output: u32,
    pub reasoning: u32,
    pub audio_in: u32,
    pub audio_out: u32,
}

/// What the answer reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Missing,
    Null,
    Empty,
    Counts(Counts),
}

impl Report {
    pub(crate) fn new(mode: UsageMode, counts: Counts) -> Self {
        match mode {
            UsageMode::True => Self::Counts(counts),
            UsageMode::None => Self::Missing,
            UsageMode::Null => Self::Null,
            UsageMode::Empty => Self::Empty,
            UsageMode::Zero => Self::Counts(Counts::default()),
            UsageMode::Lie(by) => {
                let output = i64::from(counts.output).saturating_add(by).clamp(0, i64::from(u32::MAX));
                Self::Counts(Counts { output: u32::try_from(output).unwrap_or(0), ..counts })
            }
        }
    }

    /// The usage in a dialect's shape; nothing where it is left out.
    pub(crate) fn value(&self, shape: impl FnOnce(&Counts) -> Value) -> Option<Value> {
        match self {
            Self::Missing => None,
            Self::Null => Some(Value::Null),
            Self::Empty => Some(json!({})),
            Self::Counts(counts) => Some(shape(counts)),
        }
    }
}

/// A piece of one choice's content.
pub(crate) struct Piece {
    pub text: String,
    pub tokens: u32,
}

/// An answer to a chat, completion, response or message.
pub(crate) struct Answer<'a> {
    pub ask: &'a Ask,
    pub script: &'a Script,
    pub id: u64,
    /// Seconds since 1970.
    pub created: i64,
    pub finish: Finish,
    /// Tokens of one choice's visible output.
    pub visible: u32,
    /// True counts, over all choices.
    pub counts: Counts,
    pub report: Report,
    /// Arguments of each tool call, where there are any.
    pub arguments: Option<String>,
    /// The tools that are called.
    pub calls: &'a [String],
}

impl<'a> Answer<'a> {
    pub(crate) fn new(ask: &'a Ask, script: &'a Script, id: u64, created: i64) -> Self {
        let wanted = script.out.unwrap_or(SHORT);
        let room = ask.max_out.map_or(u32::MAX, |max| max.saturating_sub(script.reasoning));
        let reasoning = ask.max_out.map_or(script.reasoning, |max| script.reasoning.min(max));
        let mut visible = wanted.min(room);
        let mut finish = if wanted > room { Finish::Length } else { Finish::Stop };
        let mut arguments = None;
        let calls = &ask.tools[..ask.tools.len().min(script.tools as usize)];
        if !calls.is_empty() {
            let text = format!(r#"{{"input":"{}"}}"#, tokens::words(0, visible));
            let each = ask.vocabulary().count(&text);
            visible = calls.iter().map(|tool| ask.vocabulary().count(tool) + each).sum();
            arguments = Some(text);
            if finish == Finish::Stop {
                finish = Finish::Tool;
            }
        }
        let prompt = script.prompt.unwrap_or(ask.prompt);
        let counts = Counts {
            prompt,
            cached: script.cached.min(prompt),
            cache_write: script.cache_write.min(prompt - script.cached.min(prompt)),
            output: (visible + reasoning).saturating_mul(ask.n),
            reasoning: reasoning.saturating_mul(ask.n),
            audio_in: script.audio_in.min(prompt),
            audio_out: script.audio_out,
        };
        let report = Report::new(script.usage, counts);
        Self { ask, script, id, created, finish, visible, counts, report, arguments, calls }
    }

    /// The whole content of one choice.
    pub(crate) fn text(&self) -> String {
        self.arguments.clone().unwrap_or_else(|| tokens::words(0, self.visible))
    }

    /// One choice's text, or the arguments of each of its calls, cut into chunks. The pieces' tokens sum to `visible`.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let Some(arguments) = &self.arguments else { return self.cut(self.visible, tokens::words) };
        // Arguments are ASCII, so any cut is at a character; their tokens are spread by length.
        let len = u32::try_from(arguments.len()).unwrap_or(u32::MAX);
        let each = || self.cut(len, |from, to| arguments[from as usize..to as usize].to_owned());
        let mut pieces: Vec<_> = self.calls.iter().flat_map(|_| each()).collect();
        let mut left = self.visible;
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX).max(1);
        for piece in &mut pieces {
            piece.tokens = (self.visible / count).min(left);
            left -= piece.tokens;
        }
        if let Some(last) = pieces.last_mut() {
            last.tokens += left;
        }
        pieces
    }

    /// How many of the pieces belong to one call; all of them where there is none.
    pub(crate) fn pieces_of_a_call(&self, pieces: usize) -> usize {
        (pieces / self.calls.len().max(1)).max(1)
    }

    /// What stands behind a call's id, so that no two are alike.
    pub(crate) fn call_id(&self, index: usize) -> String {
        if index == 0 { self.id.to_string() } else { format!("{}_{index}", self.id) }
    }

    fn cut(&self, len: u32, text: impl Fn(u32, u32) -> String) -> Vec<Piece> {
        let chunks = self.script.chunks.unwrap_or(CHUNKS).min(len);
        let edge = |chunk: u32| {
            let edge = u64::from(len) * u64::from(chunk) / u64::from(chunks.max(1));
            u32::try_from(edge).unwrap_or(len)
        };
        (0..chunks)
            .map(|chunk| {
                let (from, to) = (edge(chunk), edge(chunk + 1));
                Piece { text: text(from, to), tokens: to - from }
            })
            .collect()
    }

    /// Output tokens that are sent, over all choices.
    pub(crate) fn sent(&self) -> u32 {
        self.visible.saturating_mul(self.ask.n)
    }
}

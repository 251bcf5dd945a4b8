//! The script a caller hides in its last user message: `[[sim out=50 delay_ms=20 fault=reset:3]]`.
//!
//! A script travels inside the prompt, so every SDK can say it. An unknown word is refused with 400 rather than
//! ignored: a test whose script has a slip must fail, not pass for the wrong reason.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Largest number of output tokens one answer may have.
pub const MAX_OUT: u32 = 1_000_000;
/// Largest number of chunks one answer may be cut into.
pub const MAX_CHUNKS: u32 = 100_000;
/// Largest padding, in bytes, of `fault=huge` and `fault=bomb`.
pub const MAX_PADDING: u32 = 256 * 1024 * 1024;

/// What the answer says about its usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageMode {
    /// The true counts.
    #[default]
    True,
    /// No usage at all.
    None,
    /// `"usage": null`.
    Null,
    /// `"usage": {}`.
    Empty,
    /// All counts zero.
    Zero,
    /// The output count is off by this much.
    Lie(i64),
}

/// How an answer is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// As it is.
    #[default]
    Plain,
    /// `content-encoding: gzip`.
    Gzip,
    /// `content-encoding: deflate` (zlib).
    Deflate,
    /// `content-encoding: br`.
    Brotli,
}

/// How the transport breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// TCP reset.
    Reset,
    /// Connection closed in the middle of the body.
    Close,
    /// Nothing more comes, the connection stays open.
    Stall,
    /// An error event, then the usual end of a stream.
    Error,
}

/// A whole body that replaces the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// An error of this status in the dialect's shape.
    Status(u16),
    /// Status 200 with an error body.
    Error200,
    /// An HTML page of this status.
    Html(u16),
    /// Status 200, `application/json` or an event stream, and bytes that are neither.
    Garbage,
    /// Status 200 and nothing.
    Empty,
    /// A highly compressed body that unpacks to this many bytes.
    Bomb(u32),
}

/// Everything that is to go wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Replaces the answer.
    pub instead: Option<Instead>,
    /// Breaks the answer after so many content chunks (0: before the response's first byte).
    pub breaks: Option<(Break, u32)>,
    /// Encodes the answer.
    pub packing: Packing,
    /// `choices: []`.
    pub no_choices: bool,
    /// `content-length` says more than the body has.
    pub short: bool,
    /// One event (or the answer) is padded to this many bytes.
    pub huge: u32,
    /// The connection is closed, unannounced, shortly after the answer.
    pub stale: bool,
}

/// Deviations of the event stream's form, all within the standard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseForm {
    /// Line end; empty means LF.
    pub line_end: Option<&'static str>,
    /// Starts with a byte order mark.
    pub bom: bool,
    /// `data:` without the space.
    pub no_space: bool,
    /// No `[DONE]`.
    pub no_done: bool,
    /// No blank line after the last event.
    pub no_blank: bool,
    /// A comment line before every event.
    pub comments: bool,
    /// Every event's data is spread over two lines.
    pub multiline: bool,
    /// Cumulative usage in every chunk (chat completions).
    pub cumulative: bool,
}

/// A parsed script. The default is what a message without a script gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Output tokens of each choice.
    pub out: Option<u32>,
    /// Content chunks of each choice.
    pub chunks: Option<u32>,
    /// Pause between chunks; before the answer where it is not streamed.
    pub delay: Duration,
    /// Pause before the first byte of the response.
    pub first: Duration,
    /// What is reported.
    pub usage: UsageMode,
    /// What goes wrong.
    pub faults: Faults,
    /// Answer with a call of each of the first so many tools.
    pub tools: u32,
    /// `retry-after` of status faults, in seconds.
    pub retry_after: Option<u32>,
    /// Reported prompt tokens, in place of the counted ones.
    pub prompt: Option<u32>,
    /// Part of the prompt that is reported as read from a cache.
    pub cached: u32,
    /// Part of the prompt that is reported as written to a cache (Anthropic).
    pub cache_write: u32,
    /// Hidden reasoning tokens, reported as part of the output but never sent.
    pub reasoning: u32,
    /// Part of the prompt reported as audio.
    pub audio_in: u32,
    /// Part of the output reported as audio.
    pub audio_out: u32,
    /// Form of the event stream.
    pub sse: SseForm,
    /// Exactly these bytes are the answer's body.
    pub raw: Option<Vec<u8>>,
    /// Bytes of a piece of `raw`; 0: all at once.
    pub cut: u32,
}

/// A script that can't be understood; the text names the word.
#[derive(Debug, PartialEq, Eq)]
pub struct BadScript(pub String);

impl Script {
    /// Reads the last `[[sim ...]]` of `text`; the default where there is none.
    pub fn find(text: &str) -> Result<Self, BadScript> {
        let Some(start) = text.rfind("[[sim") else { return Ok(Self::default()) };
        let rest = text.get(start + 5..).unwrap_or_default();
        let Some(end) = rest.find("]]") else {
            return Err(BadScript("the script has no closing ]]".to_owned()));
        };
        let mut script = Self::default();
        for word in rest.get(..end).unwrap_or_default().split_whitespace() {
            script.word(word)?;
        }
        if let (Some((_, at)), Some(chunks)) = (script.faults.breaks.as_mut(), script.chunks) {
            *at = (*at).min(chunks);
        }
        Ok(script)
    }

    fn word(&mut self, word: &str) -> Result<(), BadScript> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "out" => self.out = Some(number(word, value, MAX_OUT)?),
            "chunks" => self.chunks = Some(number(word, value, MAX_CHUNKS)?),
            "delay_ms" => self.delay = millis(word, value)?,
            "first_ms" => self.first = millis(word, value)?,
            "usage" => self.usage = usage(word, value)?,
            "fault" => {
                for fault in value.split(',') {
                    self.fault(word, fault)?;
                }
            }
            "sse" => {
                for form in value.split(',') {
                    self.form(word, form)?;
                }
            }
            "tool" => self.tools = 1,
            "tools" => self.tools = number(word, value, 128)?,
            "retry_after" => self.retry_after = Some(number(word, value, 86_400)?),
            "prompt" => self.prompt = Some(number(word, value, u32::MAX)?),
            "cached" => self.cached = number(word, value, u32::MAX)?,
            "cache_write" => self.cache_write = number(word, value, u32::MAX)?,
            "reasoning" => self.reasoning = number(word, value, MAX_OUT)?,
            "audio_in" => self.audio_in = number(word, value, u32::MAX)?,
            "audio_out" => self.audio_out = number(word, value, u32::MAX)?,
            "raw" => self.raw = Some(STANDARD.decode(value).map_err(|_| wrong(word, "base64"))?),
            "cut" => self.cut = number(word, value, u32::MAX)?,
            _ => return Err(unknown(word)),
        }
        Ok(())
    }

    fn fault(&mut self, word: &str, fault: &str) -> Result<(), BadScript> {
        let (name, value) = fault.split_once(':').unwrap_or((fault, ""));
        let or = |default: u32, max: u32| if value.is_empty() { Ok(default) } else { number(word, value, max) };
        let faults = &mut self.faults;
        match name {
            "reset" => faults.breaks = Some((Break::Reset, or(0, MAX_CHUNKS)?)),
            "close" => faults.breaks = Some((Break::Close, or(0, MAX_CHUNKS)?)),
            "stall" => faults.breaks = Some((Break::Stall, or(0, MAX_CHUNKS)?)),
            "error" => faults.breaks = Some((Break::Error, or(1, MAX_CHUNKS)?)),
            "status" => faults.instead = Some(Instead::Status(status(word, value)?)),
            "error200" => faults.instead = Some(Instead::Error200),
            "html" if value.is_empty() => faults.instead = Some(Instead::Html(502)),
            "html" => faults.instead = Some(Instead::Html(status(word, value)?)),
            "garbage" => faults.instead = Some(Instead::Garbage),
            "empty" => faults.instead = Some(Instead::Empty),
            "bomb" => faults.instead = Some(Instead::Bomb(or(MAX_PADDING, MAX_PADDING)?)),
            "gzip" => faults.packing = Packing::Gzip,
            "deflate" => faults.packing = Packing::Deflate,
            "br" => faults.packing = Packing::Brotli,
            "nousage" => self.usage = UsageMode::None,
            "nochoices" => faults.no_choices = true,
            "short" => faults.short = true,
            "huge" => faults.huge = or(60_000_000, MAX_PADDING)?,
            "stale" => faults.stale = true,
            _ => return Err(unknown(word)),
        }
        Ok(())
    }

    fn form(&mut self, word: &str, form: &str) -> Result<(), BadScript> {
        match form {
            "lf" => self.sse.line_end = Some("\n"),
            "crlf" => self.sse.line_end = Some("\r\n"),
            "cr" => self.sse.line_end = Some("\r"),
            "bom" => self.sse.bom = true,
            "nospace" => self.sse.no_space = true,
            "nodone" => self.sse.no_done = true,
            "noblank" => self.sse.no_blank = true,
            "comments" => self.sse.comments = true,
            "multiline" => self.sse.multiline = true,
            "cumulative" => self.sse.cumulative = true,
            _ => return Err(unknown(word)),
        }
        Ok(())
    }
}

fn unknown(word: &str) -> BadScript {
    BadScript(format!("the script's word {word:?} is not known; sim-upstream --help lists them"))
}

fn wrong(word: &str, needs: &str) -> BadScript {
    BadScript(format!("the script's word {word:?} needs {needs}"))
}

fn number(word: &str, value: &str, max: u32) -> Result<u32, BadScript> {
    value.parse().ok().filter(|n| *n <= max).ok_or_else(|| wrong(word, &format!("a whole number from 0 to {max}")))
}

fn millis(word: &str, value: &str) -> Result<Duration, BadScript> {
    Ok(Duration::from_millis(u64::from(number(word, value, 3_600_000)?)))
}

fn status(word: &str, value: &str) -> Result<u16, BadScript> {
    value.parse().ok().filter(|n| (200..600).contains(n)).ok_or_else(|| wrong(word, "an HTTP status from 200 to 599"))
}

fn usage(word: &str, value: &str) -> Result<UsageMode, BadScript> {
    match value.split_once(':').unwrap_or((value, "")) {
        ("none", "") => Ok(UsageMode::None),
        ("null", "") => Ok(UsageMode::Null),
        ("empty", "") => Ok(UsageMode::Empty),
        ("zero", "") => Ok(UsageMode::Zero),
        ("lie", by) => by.parse().map(UsageMode::Lie).map_err(|_| wrong(word, "a signed number: usage=lie:+5")),
        _ => Err(unknown(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_a_script_gets_the_default() {
        assert_eq!(Script::find("hello [[ sim ]]").unwrap(), Script::default());
    }

    #[test]
    fn the_last_script_of_a_text_counts() {
        let script = Script::find("[[sim out=1]] then [[sim out=50 delay_ms=20 chunks=10 usage=lie:+5]] bye").unwrap();
        assert_eq!(script.out, Some(50));
        assert_eq!(script.chunks, Some(10));
        assert_eq!(script.delay, Duration::from_millis(20));
        assert_eq!(script.usage, UsageMode::Lie(5));
    }

    #[test]
    fn faults_join_with_commas() {
        let faults = Script::find("[[sim fault=gzip,reset:3]]").unwrap().faults;
        assert_eq!(faults.packing, Packing::Gzip);
        assert_eq!(faults.breaks, Some((Break::Reset, 3)));
    }

    #[test]
    fn a_break_never_lies_behind_the_last_chunk() {
        let faults = Script::find("[[sim fault=reset:9 chunks=4]]").unwrap().faults;
        assert_eq!(faults.breaks, Some((Break::Reset, 4)));
    }

    #[test]
    fn slips_are_named() {
        for (text, word) in [
            ("[[sim outt=5]]", "outt=5"),
            ("[[sim out=-5]]", "out=-5"),
            ("[[sim out=1000001]]", "out=1000001"),
            ("[[sim fault=status:99]]", "status:99"),
            ("[[sim fault=]]", "fault="),
            ("[[sim usage=lie]]", "usage=lie"),
            ("[[sim raw=%]]", "base64"),
            ("[[sim out=5", "closing"),
        ] {
            let BadScript(why) = Script::find(text).unwrap_err();
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}

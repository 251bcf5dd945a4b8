//! Anthropic's shape: cached and written prompt tokens come on top of `input_tokens`, and stream frames are cumulative.

use serde_json::Value;

use super::Usage;
use super::field::{Field, Unusable, nested};

/// Usage of a whole Messages reply. `None` where the report is missing, empty or unusable.
#[must_use]
pub fn from_anthropic(usage: &Value) -> Option<Usage> {
    let mut counts = Counts::default();
    counts.update(usage);
    counts.usage()
}

/// Usage of a Messages stream, event by event: the last value of each field wins, nothing is summed.
#[derive(Debug, Clone, Default)]
pub struct AnthropicStream {
    counts: Counts,
    complete: bool,
}

impl AnthropicStream {
    /// Takes the data of one event; events that carry no usage change nothing.
    pub fn event(&mut self, event: &Value) {
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => self.counts.update(nested(nested(event, &["message"]), &["usage"])),
            Some("message_delta") => {
                let usage = nested(event, &["usage"]);
                self.complete |= Field::read(usage, "output_tokens") != Field::Missing;
                self.counts.update(usage);
            }
            _ => {}
        }
    }

    /// What was reported so far. Before [`Self::is_complete`] the output in it is only the start's placeholder.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.counts.usage()
    }

    /// True once a `message_delta` reported the output. Only then is [`Self::usage`] the provider's own figure.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}

#[derive(Debug, Clone, Default)]
struct Counts {
    input: Field,
    output: Field,
    cache_read: Field,
    cache_written: Field,
    written_5m: Field,
    written_1h: Field,
}

impl Counts {
    fn update(&mut self, usage: &Value) {
        self.input.update(Field::read(usage, "input_tokens"));
        self.output.update(Field::read(usage, "output_tokens"));
        self.cache_read.update(Field::read(usage, "cache_read_input_tokens"));
        self.cache_written.update(Field::read(usage, "cache_creation_input_tokens"));
        let by_life = nested(usage, &["cache_creation"]);
        self.written_5m.update(Field::read(by_life, "ephemeral_5m_input_tokens"));
        self.written_1h.update(Field::read(by_life, "ephemeral_1h_input_tokens"));
    }

    fn usage(&self) -> Option<Usage> {
        self.read().ok().flatten()
    }

    fn read(&self) -> Result<Option<Usage>, Unusable> {
        let (Some(input), Some(output)) = (self.input.get()?, self.output.get()?) else {
            return Ok(None);
        };
        let written_1h = self.written_1h.get()?.unwrap_or(0);
        let written_5m = self.written_5m.get()?.unwrap_or(0);
        // The sum counts; what the split leaves unexplained is a 5 minute write.
        let written = self.cache_written.get()?.unwrap_or(written_5m + written_1h);
        let cache_write_1h = written_1h.min(written);
        Ok(Some(Usage {
            cached_input: self.cache_read.get()?.unwrap_or(0),
            cache_write_5m: written - cache_write_1h,
            cache_write_1h,
            ..Usage::of_tokens(input, output)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_reported_is_none_and_zeros_are_zeros() {
        for value in
            [json!(null), json!({}), json!({"output_tokens": 3}), json!({"input_tokens": -3, "output_tokens": 3})]
        {
            assert_eq!(from_anthropic(&value), None, "{value}");
        }
        assert_eq!(from_anthropic(&json!({"input_tokens": 0, "output_tokens": 0})), Some(Usage::of_tokens(0, 0)));
    }

    #[test]
    fn frames_are_cumulative() {
        let mut stream = AnthropicStream::default();
        let start = json!({"input_tokens": 40, "cache_creation_input_tokens": 12, "cache_read_input_tokens": 0, "output_tokens": 2});
        stream.event(&json!({"type": "message_start", "message": {"usage": start}}));
        assert!(!stream.is_complete());
        stream.event(&json!({"type": "ping"}));
        stream.event(&json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": {"output_tokens": 20}}));
        stream.event(&json!({"type": "message_delta", "usage": {"output_tokens": 33, "input_tokens": null}}));
        stream.event(&json!({"type": "message_stop"}));
        assert!(stream.is_complete());
        assert_eq!(stream.usage(), Some(Usage { cache_write_5m: 12, ..Usage::of_tokens(40, 33) }));
    }

    #[test]
    fn a_stream_cut_after_its_start_is_not_complete() {
        let mut stream = AnthropicStream::default();
        stream.event(&json!({"type": "message_start", "message": {"usage": {"input_tokens": 25, "output_tokens": 1}}}));
        assert_eq!(stream.usage(), Some(Usage::of_tokens(25, 1)));
        stream.event(&json!({"type": "message_delta", "delta": {"stop_reason": null}}));
        assert!(!stream.is_complete(), "a delta without a figure completes nothing");
        stream.event(&json!({"type": "message_delta", "usage": {"output_tokens": "33"}}));
        assert_eq!(stream.usage(), None, "an unusable figure is not replaced by an older one");
    }
}

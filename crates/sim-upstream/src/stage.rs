//! Turns events into bytes of an event stream and cuts them into a reel.

use crate::{
    ask::Refusal,
    reel::{Cutter, Reel},
    script::{Script, SseForm},
};

/// Renders one event stream.
pub(crate) struct Stage {
    cutter: Cutter,
    form: SseForm,
    begun: bool,
    huge: u32,
}

impl Stage {
    /// A stream of so many content events; a break behind the last of them comes right after it.
    pub(crate) fn new(script: &Script, events: usize) -> Self {
        let last = u32::try_from(events).unwrap_or(u32::MAX);
        let breaks = script.faults.breaks.map(|(kind, after)| (kind, after.min(last)));
        Self {
            cutter: Cutter::new(script.faults.packing, breaks),
            form: script.sse.clone(),
            begun: false,
            huge: script.faults.huge,
        }
    }

    /// An event with content. Answers whether more may follow.
    pub(crate) fn content(&mut self, name: Option<&str>, data: &str, tokens: u32) -> Result<bool, Refusal> {
        let huge = std::mem::take(&mut self.huge);
        let event = if huge > 0 { self.event(name, &pad(data, huge), false) } else { self.event(name, data, false) };
        Ok(self.cutter.content(event.as_bytes(), tokens)?)
    }

    /// An event that follows the one before it at once.
    pub(crate) fn follow(&mut self, name: Option<&str>, data: &str, tokens: u32) -> Result<(), Refusal> {
        let event = self.event(name, data, false);
        Ok(self.cutter.rest(event.as_bytes(), tokens)?)
    }

    /// The last event of the stream.
    pub(crate) fn last(&mut self, name: Option<&str>, data: &str) -> Result<(), Refusal> {
        let event = self.event(name, data, true);
        Ok(self.cutter.rest(event.as_bytes(), 0)?)
    }

    /// The events that take the place of all that is left where the script breaks off with an error.
    pub(crate) fn error(&mut self, events: &[(Option<&str>, &str)]) -> Result<(), Refusal> {
        for (name, data) in events {
            let event = self.event(*name, data, false);
            self.cutter.error(event.as_bytes())?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Reel, Refusal> {
        Ok(self.cutter.finish()?)
    }

    fn event(&mut self, name: Option<&str>, data: &str, last: bool) -> String {
        let end = self.form.line_end.unwrap_or("\n");
        let space = if self.form.no_space { "" } else { " " };
        let mut event = String::with_capacity(data.len() + 64);
        if !std::mem::replace(&mut self.begun, true) && self.form.bom {
            event.push('\u{feff}');
        }
        if self.form.comments {
            event.push_str(": keep-alive");
            event.push_str(end);
        }
        if let Some(name) = name {
            for part in ["event:", space, name, end] {
                event.push_str(part);
            }
        }
        let (head, tail) = if self.form.multiline && data.starts_with('{') { data.split_at(1) } else { ("", data) };
        for line in [head, tail].into_iter().filter(|line| !line.is_empty()) {
            for part in ["data:", space, line, end] {
                event.push_str(part);
            }
        }
        if !(last && self.form.no_blank) {
            event.push_str(end);
        }
        event
    }
}

/// Adds a field of `size` bytes to a JSON object.
pub(crate) fn pad(data: &str, size: u32) -> String {
    match data.strip_prefix('{') {
        Some(rest) => format!(r#"{{"padding":"{}",{rest}"#, "x".repeat(size as usize)),
        None => data.to_owned(),
    }
}

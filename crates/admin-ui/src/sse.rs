//! Server-sent events out of bytes that come in pieces of any size. Pure.

/// Gathers lines until they are whole.
#[derive(Debug, Default)]
pub struct Events {
    rest: Vec<u8>,
}

impl Events {
    /// Takes a piece; the data of the events that it completes.
    pub fn take(&mut self, piece: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(piece);
        let mut found = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            // A line is whole, so no character is cut.
            let line = String::from_utf8_lossy(&line);
            if let Some(data) = line.trim_end().strip_prefix("data:") {
                found.push(data.trim_start().to_owned());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_may_come_in_any_pieces() {
        let whole = "event: x\ndata: {\"a\":\"\u{e9}\u{4e2d}\"}\r\n\ndata:[DONE]\n\n";
        for size in 1..whole.len() {
            let mut events = Events::default();
            let found: Vec<String> = whole.as_bytes().chunks(size).flat_map(|piece| events.take(piece)).collect();
            assert_eq!(found, ["{\"a\":\"\u{e9}\u{4e2d}\"}", "[DONE]"], "{size}");
        }
    }
}

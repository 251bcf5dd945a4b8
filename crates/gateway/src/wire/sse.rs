//! Splits a stream of server-sent events into events without changing a byte.
//!
//! Robust against every way a provider writes them: LF, CRLF or CR, a byte order mark, comments, `data:` without a
//! space, several data lines, no blank line at the end, and any split of the bytes. An event too large to hold is
//! passed on in parts, so memory stays flat.

use bytes::{Bytes, BytesMut};

/// Bytes of one event held before it is passed on in parts.
pub const HELD_MAX: usize = 256 * 1024;
/// The last bytes kept of an event that is passed on in parts: enough for a `usage` object.
const TAIL_MAX: usize = 16 * 1024;

/// What comes out of the splitter, in order; the `raw` bytes of all pieces together are the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole event with its blank line.
    Event {
        /// As it came.
        raw: Bytes,
        /// Its data lines, joined by LF; empty for comments and blank lines.
        data: Bytes,
    },
    /// A part of an event too large to hold.
    Part {
        /// As it came.
        raw: Bytes,
        /// With the event's last part: its last bytes, where a `usage` object would stand.
        tail: Option<Bytes>,
    },
    /// The LF of a CR LF whose CR ended the piece before.
    Rest(Bytes),
}

/// The splitter of one stream.
#[derive(Debug)]
pub struct Splitter {
    held: BytesMut,
    /// Bytes at the front of `held` that were searched already.
    searched: usize,
    line_is_blank: bool,
    after_cr: bool,
    lf_belongs_to_last: bool,
    in_parts: bool,
    tail: BytesMut,
    at_start: bool,
    held_max: usize,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new(HELD_MAX)
    }
}

impl Splitter {
    /// A splitter that holds at most about `held_max` bytes of an unfinished event.
    #[must_use]
    pub fn new(held_max: usize) -> Self {
        Self {
            held: BytesMut::new(),
            searched: 0,
            line_is_blank: true,
            after_cr: false,
            lf_belongs_to_last: false,
            in_parts: false,
            tail: BytesMut::new(),
            at_start: true,
            held_max,
        }
    }

    /// Takes the next bytes and appends the pieces they complete to `out`.
    pub fn push(&mut self, chunk: Bytes, out: &mut Vec<Piece>) {
        let mut buffer = if self.held.is_empty() {
            chunk
        } else {
            self.held.extend_from_slice(&chunk);
            self.held.split().freeze()
        };
        if self.lf_belongs_to_last && !buffer.is_empty() {
            self.lf_belongs_to_last = false;
            if buffer[0] == b'\n' {
                out.push(Piece::Rest(buffer.split_to(1)));
            }
        }
        while let Some(end) = self.find_end(&buffer) {
            let raw = buffer.split_to(end);
            self.searched = 0;
            self.line_is_blank = true;
            self.after_cr = false;
            self.lf_belongs_to_last = raw.ends_with(b"\r") && buffer.is_empty();
            out.push(self.complete(raw));
        }
        self.searched = buffer.len();
        if buffer.is_empty() {
            return;
        }
        if self.in_parts || buffer.len() > self.held_max {
            self.in_parts = true;
            self.at_start = false;
            self.searched = 0;
            self.keep_tail(&buffer);
            out.push(Piece::Part { raw: buffer, tail: None });
        } else {
            self.held = BytesMut::from(buffer);
        }
    }

    /// True unless the bytes passed on so far end in the middle of an event.
    #[must_use]
    pub const fn is_between_events(&self) -> bool {
        !self.in_parts && !self.lf_belongs_to_last
    }

    /// The stream has ended: what is held is the last event, even without its blank line.
    pub fn finish(&mut self) -> Option<Piece> {
        let raw = self.held.split().freeze();
        if raw.is_empty() && !self.in_parts {
            return None;
        }
        Some(self.complete(raw))
    }

    fn complete(&mut self, raw: Bytes) -> Piece {
        if std::mem::take(&mut self.in_parts) {
            self.keep_tail(&raw);
            return Piece::Part { raw, tail: Some(self.tail.split().freeze()) };
        }
        let skip = if std::mem::take(&mut self.at_start) && raw.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Piece::Event { data: data_of(&raw.slice(skip..)), raw }
    }

    fn keep_tail(&mut self, raw: &Bytes) {
        let keep = &raw[raw.len().saturating_sub(TAIL_MAX)..];
        let surplus = (self.tail.len() + keep.len()).saturating_sub(TAIL_MAX);
        let _ = self.tail.split_to(surplus.min(self.tail.len()));
        self.tail.extend_from_slice(keep);
    }

    /// The index after the blank line that ends the first event of `buffer`.
    fn find_end(&mut self, buffer: &[u8]) -> Option<usize> {
        let mut at = self.searched;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &buffer[at..]) {
            let end = at + found;
            if found > 0 {
                self.line_is_blank = false;
                self.after_cr = false;
            }
            let is_cr = buffer[end] == b'\r';
            if !is_cr && std::mem::take(&mut self.after_cr) {
                at = end + 1; // the second half of a CR LF
                continue;
            }
            if self.line_is_blank {
                let with_lf = is_cr && buffer.get(end + 1) == Some(&b'\n');
                return Some(end + 1 + usize::from(with_lf));
            }
            self.line_is_blank = true;
            self.after_cr = is_cr;
            at = end + 1;
        }
        if at < buffer.len() {
            self.line_is_blank = false;
            self.after_cr = false;
        }
        None
    }
}

/// The data lines of one event, joined by LF. One line, the usual case, is a slice and costs no copy.
fn data_of(event: &Bytes) -> Bytes {
    let mut first: Option<Bytes> = None;
    let mut joined: Option<BytesMut> = None;
    for (start, end) in (Lines { rest: event, at: 0 }) {
        let line = &event[start..end];
        let Some(value) = line.strip_prefix(b"data") else { continue };
        let from = match value {
            [] => end,
            [b':', b' ', ..] => start + 6,
            [b':', ..] => start + 5,
            _ => continue, // a field whose name only begins alike
        };
        let value = event.slice(from..end);
        match (&first, &mut joined) {
            (None, _) => first = Some(value),
            (Some(_), Some(all)) => {
                all.extend_from_slice(b"\n");
                all.extend_from_slice(&value);
            }
            (Some(one), None) => {
                let mut all = BytesMut::from(&one[..]);
                all.extend_from_slice(b"\n");
                all.extend_from_slice(&value);
                joined = Some(all);
            }
        }
    }
    joined.map(BytesMut::freeze).or(first).unwrap_or_default()
}

/// The bounds of each line without its end.
struct Lines<'a> {
    rest: &'a [u8],
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = (usize, usize);
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.at >= self.rest.len() {
            return None;
        }
        let start = self.at;
        let end = memchr::memchr2(b'\n', b'\r', &self.rest[start..]).map_or(self.rest.len(), |found| start + found);
        self.at = end + 1;
        if self.rest.get(end) == Some(&b'\r') && self.rest.get(end + 1) == Some(&b'\n') {
            self.at += 1;
        }
        Some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]], held_max: usize) -> Vec<Piece> {
        let mut splitter = Splitter::new(held_max);
        let mut out = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk), &mut out);
        }
        out.extend(splitter.finish());
        out
    }

    fn raw(pieces: &[Piece]) -> Vec<u8> {
        pieces
            .iter()
            .flat_map(|piece| match piece {
                Piece::Event { raw, .. } | Piece::Part { raw, .. } | Piece::Rest(raw) => raw.to_vec(),
            })
            .collect()
    }

    fn data(pieces: &[Piece]) -> Vec<String> {
        pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Event { data, .. } if !data.is_empty() => Some(String::from_utf8_lossy(data).into_owned()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn every_line_end_gives_the_same_events() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                "\u{feff}: hi\n\ndata: a\n\nevent: x\ndata:b\ndata: c\nid\ndatax: no\n\n\ndata: d".replace('\n', end);
            for cut in 0..text.len() {
                let (left, right) = text.as_bytes().split_at(cut);
                let pieces = split(&[left, right], HELD_MAX);
                assert_eq!(data(&pieces), ["a", "b\nc", "d"], "{end:?} cut at {cut}");
                assert_eq!(raw(&pieces), text.as_bytes(), "{end:?} cut at {cut}");
            }
            let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            let pieces = split(&single, HELD_MAX);
            assert_eq!(data(&pieces), ["a", "b\nc", "d"]);
            assert_eq!(raw(&pieces), text.as_bytes());
        }
    }

    #[test]
    fn a_huge_event_passes_in_parts_with_its_tail() {
        let body = format!("data: {}\"usage\":1}}\n\ndata: next\n\n", "x".repeat(100_000));
        let chunks: Vec<&[u8]> = body.as_bytes().chunks(1000).collect();
        let mut splitter = Splitter::new(4096);
        let mut pieces = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk), &mut pieces);
            assert!(splitter.held.len() <= 4096 + 1000 && splitter.tail.len() <= TAIL_MAX);
        }
        pieces.extend(splitter.finish());
        assert_eq!(raw(&pieces), body.as_bytes());
        assert_eq!(data(&pieces), ["next"]);
        let tails: Vec<_> = pieces
            .iter()
            .filter_map(|p| if let Piece::Part { tail: Some(t), .. } = p { Some(t) } else { None })
            .collect();
        assert_eq!(tails.len(), 1);
        assert!(tails[0].ends_with(b"\"usage\":1}\n\n") && tails[0].len() == TAIL_MAX);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_pass_unchanged(bytes in proptest::collection::vec(proptest::sample::select(b"d:a \r\nt".to_vec()), 0..80), cuts in proptest::collection::vec(0usize..80, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let mut start = 0;
            let chunks: Vec<&[u8]> = cuts.iter().map(|end| { let part = &bytes[start..*end]; start = *end; part }).collect();
            let pieces = split(&chunks, HELD_MAX);
            proptest::prop_assert_eq!(raw(&pieces), bytes.clone());
            proptest::prop_assert_eq!(data(&pieces), data(&split(&[&bytes], HELD_MAX)));
            proptest::prop_assert_eq!(raw(&split(&chunks, 3)), bytes);
        }
    }
}

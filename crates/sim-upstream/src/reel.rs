//! An answer, rendered whole before it is played: one buffer and where to cut it.

use std::io::Write as _;

use brotli::CompressorWriter;
use bytes::{Bytes, BytesMut};
use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};

use crate::script::{Break, Packing};

/// A piece that goes out at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Where it ends in the buffer.
    pub end: usize,
    /// Output tokens in it.
    pub tokens: u32,
    /// Whether it begins with content: those are paced, held and counted by faults.
    pub content: bool,
}

/// How the reel ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Clean,
    Reset,
    Close,
    Stall,
}

/// A rendered answer.
#[derive(Debug)]
pub(crate) struct Reel {
    pub bytes: Bytes,
    pub cuts: Vec<Cut>,
    pub end: End,
}

impl Reel {
    /// One piece, one clean end.
    pub(crate) fn whole(bytes: impl Into<Bytes>, tokens: u32) -> Self {
        let bytes = bytes.into();
        let cuts = if bytes.is_empty() { Vec::new() } else { vec![Cut { end: bytes.len(), tokens, content: false }] };
        Self { bytes, cuts, end: End::Clean }
    }

    /// Pieces of so many bytes (0: all at once), each of them paced.
    pub(crate) fn pieces(bytes: Vec<u8>, size: u32) -> Self {
        let len = bytes.len();
        let step = if size == 0 { len.max(1) } else { size as usize };
        let cuts = (0..len).step_by(step).map(|from| Cut { end: (from + step).min(len), tokens: 0, content: true });
        Self { cuts: cuts.collect(), bytes: bytes.into(), end: End::Clean }
    }

    /// The first half of the body, then the break; nothing at all where the break comes before the first byte.
    pub(crate) fn break_off(mut self, kind: Break, after: u32) -> Self {
        let len = if after == 0 { 0 } else { self.bytes.len() / 2 };
        self.bytes.truncate(len);
        self.cuts = if len == 0 { Vec::new() } else { vec![Cut { end: len, tokens: 0, content: false }] };
        self.end = end_of(kind);
        self
    }
}

fn end_of(kind: Break) -> End {
    match kind {
        Break::Reset => End::Reset,
        Break::Close => End::Close,
        Break::Stall => End::Stall,
        Break::Error => End::Clean,
    }
}

enum Packer {
    Plain,
    Gzip(GzEncoder<Vec<u8>>),
    Deflate(ZlibEncoder<Vec<u8>>),
    Brotli(Box<CompressorWriter<Vec<u8>>>),
}

impl Packer {
    fn new(packing: Packing) -> Self {
        match packing {
            Packing::Plain => Self::Plain,
            Packing::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast())),
            Packing::Deflate => Self::Deflate(ZlibEncoder::new(Vec::new(), Compression::fast())),
            Packing::Brotli => Self::Brotli(Box::new(CompressorWriter::new(Vec::new(), 4096, 3, 20))),
        }
    }

    /// Writing into memory doesn't fail; if it ever did, the reader would see a broken encoding.
    fn push(&mut self, plain: &[u8], out: &mut BytesMut) -> std::io::Result<()> {
        let packed = match self {
            Self::Plain => {
                out.extend_from_slice(plain);
                return Ok(());
            }
            Self::Gzip(encoder) => {
                encoder.write_all(plain)?;
                encoder.flush()?;
                std::mem::take(encoder.get_mut())
            }
            Self::Deflate(encoder) => {
                encoder.write_all(plain)?;
                encoder.flush()?;
                std::mem::take(encoder.get_mut())
            }
            Self::Brotli(encoder) => {
                encoder.write_all(plain)?;
                encoder.flush()?;
                std::mem::take(encoder.get_mut())
            }
        };
        out.extend_from_slice(&packed);
        Ok(())
    }

    fn finish(self, out: &mut BytesMut) -> std::io::Result<()> {
        match self {
            Self::Plain => {}
            Self::Gzip(encoder) => out.extend_from_slice(&encoder.finish()?),
            Self::Deflate(encoder) => out.extend_from_slice(&encoder.finish()?),
            Self::Brotli(encoder) => out.extend_from_slice(&encoder.into_inner()),
        }
        Ok(())
    }
}

/// Packs a whole body.
pub(crate) fn pack(packing: Packing, plain: &[u8]) -> std::io::Result<Bytes> {
    let mut out = BytesMut::new();
    let mut packer = Packer::new(packing);
    packer.push(plain, &mut out)?;
    packer.finish(&mut out)?;
    Ok(out.freeze())
}

/// Builds a reel piece by piece and breaks it where the script says so.
pub(crate) struct Cutter {
    bytes: BytesMut,
    cuts: Vec<Cut>,
    packer: Packer,
    breaks: Option<(Break, u32)>,
    content: u32,
    sealed: bool,
}

impl Cutter {
    pub(crate) fn new(packing: Packing, breaks: Option<(Break, u32)>) -> Self {
        let sealed = matches!(breaks, Some((_, 0)));
        Self { bytes: BytesMut::new(), cuts: Vec::new(), packer: Packer::new(packing), breaks, content: 0, sealed }
    }

    /// Adds a content piece. Answers whether there is room for more; where not, the break comes next.
    pub(crate) fn content(&mut self, piece: &[u8], tokens: u32) -> std::io::Result<bool> {
        if self.sealed {
            return Ok(false);
        }
        self.add(piece, tokens, true)?;
        self.content += 1;
        self.sealed = self.breaks.is_some_and(|(_, after)| self.content >= after);
        Ok(!self.sealed)
    }

    /// Adds a piece that goes out together with what came before it.
    pub(crate) fn rest(&mut self, piece: &[u8], tokens: u32) -> std::io::Result<()> {
        if self.sealed { Ok(()) } else { self.add(piece, tokens, false) }
    }

    /// Adds the error event of a break of that kind, which is all that may follow.
    pub(crate) fn error(&mut self, piece: &[u8]) -> std::io::Result<()> {
        if self.sealed && matches!(self.breaks, Some((Break::Error, _))) { self.add(piece, 0, false) } else { Ok(()) }
    }

    fn add(&mut self, piece: &[u8], tokens: u32, content: bool) -> std::io::Result<()> {
        self.packer.push(piece, &mut self.bytes)?;
        let end = self.bytes.len();
        match self.cuts.last_mut() {
            Some(last) if !content => {
                last.end = end;
                last.tokens += tokens;
            }
            _ => self.cuts.push(Cut { end, tokens, content }),
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> std::io::Result<Reel> {
        let end = match self.breaks {
            Some((kind, _)) if self.sealed => end_of(kind),
            _ => End::Clean,
        };
        if end == End::Clean {
            self.packer.finish(&mut self.bytes)?;
            let len = self.bytes.len();
            match self.cuts.last_mut() {
                Some(last) => last.end = len,
                None if len > 0 => self.cuts.push(Cut { end: len, tokens: 0, content: false }),
                None => {}
            }
        }
        Ok(Reel { bytes: self.bytes.freeze(), cuts: self.cuts, end })
    }
}

//! Undoing a content encoding that was not asked for. Works piece by piece, so that a bomb is no larger in memory than any body.

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio_util::io::{ReaderStream, StreamReader};

use crate::upstream::BodyStream;

/// The plain body; `None` where the encoding is not known.
#[must_use]
pub fn decoded(raw: BodyStream, encoding: &str) -> Option<BodyStream> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Some(raw),
        "gzip" | "x-gzip" => {
            let mut decoder = GzipDecoder::new(StreamReader::new(raw));
            decoder.multiple_members(true);
            Some(stream(decoder))
        }
        "br" => Some(stream(BrotliDecoder::new(StreamReader::new(raw)))),
        "deflate" => Some(deflate(raw)),
        _ => None,
    }
}

fn stream(reader: impl AsyncRead + Send + 'static) -> BodyStream {
    Box::pin(ReaderStream::with_capacity(reader, 16 * 1024))
}

/// `deflate` means zlib, and some servers send bare deflate: the first byte tells them apart.
fn deflate(raw: BodyStream) -> BodyStream {
    let started = async move {
        let mut reader = BufReader::new(StreamReader::new(raw));
        let is_zlib = match reader.fill_buf().await {
            Ok(first) => first.first().is_some_and(|byte| byte & 0x0f == 8),
            Err(error) => return Box::pin(futures_util::stream::once(async { Err::<Bytes, _>(error) })) as BodyStream,
        };
        if is_zlib { stream(ZlibDecoder::new(reader)) } else { stream(DeflateDecoder::new(reader)) }
    };
    Box::pin(futures_util::stream::once(started).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_compression::tokio::bufread as encode;
    use futures_util::TryStreamExt;
    use tokio::io::AsyncReadExt;

    async fn round(encoding: &str, compressed: Vec<u8>) -> std::io::Result<Vec<u8>> {
        let chunks: Vec<_> = compressed.chunks(3).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let parts: Vec<Bytes> =
            decoded(Box::pin(futures_util::stream::iter(chunks)), encoding).unwrap().try_collect().await?;
        Ok(parts.concat())
    }

    #[tokio::test]
    async fn every_encoding_is_undone_in_any_pieces() {
        let text = "data: {\"a\":1}\n\n".repeat(100).into_bytes();
        let (mut gzip, mut brotli, mut zlib, mut bare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        encode::GzipEncoder::new(&text[..]).read_to_end(&mut gzip).await.unwrap();
        encode::BrotliEncoder::new(&text[..]).read_to_end(&mut brotli).await.unwrap();
        encode::ZlibEncoder::new(&text[..]).read_to_end(&mut zlib).await.unwrap();
        encode::DeflateEncoder::new(&text[..]).read_to_end(&mut bare).await.unwrap();
        for (encoding, bytes) in
            [("gzip", gzip), ("br", brotli), ("deflate", zlib), ("deflate", bare), ("", text.clone())]
        {
            assert_eq!(round(encoding, bytes).await.unwrap(), text, "{encoding}");
        }
        assert!(round("gzip", b"not gzip at all".to_vec()).await.is_err());
        assert!(decoded(Box::pin(futures_util::stream::empty()), "zstd").is_none());
    }
}

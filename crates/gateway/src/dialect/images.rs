//! OpenAI image generation. The number of images is asked for; what each may cost in tokens follows from its size.

use domain::usage::{self, Usage};
use serde_json::Value;

use crate::dialect::asked::Asked;
use crate::dialect::chat::request;
use crate::dialect::count::{Counter, length};
use crate::dialect::field::{self, BadField};
use crate::dialect::reply::Reply;
use crate::dialect::watch::message_of;
use crate::wire::edit::Object;

/// Pixels of one token: an image of high quality has 4 160 tokens for 1024 x 1024, of medium 1 056, of low 272.
const PIXELS_HIGH: u64 = 252;
const PIXELS_MEDIUM: u64 = 992;
const PIXELS_LOW: u64 = 3_855;
/// The largest size that an image takes where none is asked for.
const PIXELS_AUTO: u64 = 1_024 * 1_536;
/// Tokens of a picture shown while the image is made.
pub const PARTIAL_TOKENS: u64 = 100;

/// Reads the fields that matter.
///
/// # Errors
/// The first field that can't be used.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = field::flag(object, "stream")?;
    let n = request::choices(object, "n")?;
    Ok(Asked { model, stream, include_usage: true, max_tokens: None, max_field: None, n })
}

/// Counts the prompt.
///
/// # Errors
/// `prompt` is missing or no text.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    counter.text(&field::text(object, "prompt")?);
    Ok(())
}

/// Tokens of one image at most.
///
/// # Errors
/// `partial_images` is no count.
pub fn tokens_of_one(object: &Object<'_>) -> Result<u64, BadField> {
    let per_token = match object.get("quality") {
        Some("\"low\"") => PIXELS_LOW,
        Some("\"medium\"") => PIXELS_MEDIUM,
        _ => PIXELS_HIGH,
    };
    let size = object.get("size").and_then(|size| size.trim_matches('"').split_once('x'));
    let pixels = size.and_then(|(width, height)| width.parse::<u64>().ok()?.checked_mul(height.parse().ok()?));
    let partial = field::whole(object, "partial_images", 0)?.unwrap_or(0).saturating_mul(PARTIAL_TOKENS);
    Ok(pixels.unwrap_or(PIXELS_AUTO).div_ceil(per_token).saturating_add(partial))
}

/// Reads a whole answer; its images count, whether or not it reports tokens. Without a report the number of images is what
/// was counted.
#[must_use]
pub fn reply(body: &[u8]) -> Reply {
    let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(body) else { return Reply::Garbage };
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        return Reply::Error(message_of(error));
    }
    let images = length(object.get("data").and_then(Value::as_array).map_or(0, Vec::len));
    let reported = object.get("usage").and_then(usage::from_responses);
    let served_model = object.get("model").and_then(Value::as_str).map(str::to_owned);
    Reply::Answer { usage: reported.map(|usage| Usage { images, ..usage }), counted: images, served_model }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_images_bound_covers_the_published_figures() {
        let tokens = |fields: &str| tokens_of_one(&field::object(format!("{{{fields}}}").as_bytes()).unwrap()).unwrap();
        for (fields, published) in [
            (r#""quality":"low","size":"1024x1024""#, 272),
            (r#""quality":"low","size":"1024x1536""#, 408),
            (r#""quality":"medium","size":"1024x1024""#, 1_056),
            (r#""quality":"medium","size":"1536x1024""#, 1_584),
            (r#""quality":"high","size":"1024x1024""#, 4_160),
            (r#""quality":"high","size":"1024x1536""#, 6_240),
            (r#""quality":"auto","size":"auto""#, 6_240),
            ("", 6_240),
        ] {
            assert!((published..=published + 3).contains(&tokens(fields)), "{fields}: {}", tokens(fields));
        }
        assert_eq!(tokens(r#""partial_images":3"#), tokens("") + 300);
        assert_eq!(tokens(r#""size":"99999999999x99999999999""#), tokens(""), "no size at all");
    }

    #[test]
    fn images_count_whether_or_not_tokens_are_reported() {
        let read = |usage: &str| reply(format!(r#"{{"created":1,"data":[{{}},{{}}]{usage}}}"#).as_bytes());
        let of = |usage| Reply::Answer { usage, counted: 2, served_model: None };
        assert_eq!(read(""), of(None));
        let usage = Usage { images: 2, ..Usage::of_tokens(9, 544) };
        assert_eq!(read(r#","usage":{"input_tokens":9,"output_tokens":544,"total_tokens":553}"#), of(Some(usage)));
        assert_eq!(reply(br#"{"error":{"message":"no"}}"#), Reply::Error("no".to_owned()));
        assert_eq!(reply(b"<html>"), Reply::Garbage);
    }
}

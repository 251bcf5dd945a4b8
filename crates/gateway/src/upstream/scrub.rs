//! Taking a provider's secrets out of what is passed on to clients and logs.

/// Longest message passed on.
const MESSAGE_MAX: usize = 2_000;
const MASK: &str = "[removed]";

/// `text` without the upstream's key, without anything that looks like a key, and not too long.
#[must_use]
pub fn scrub(text: &str, key: Option<&str>) -> String {
    let without_key = match key {
        Some(key) if key.len() >= 4 => text.replace(key, MASK),
        _ => text.to_owned(),
    };
    let mut clean = String::with_capacity(without_key.len().min(MESSAGE_MAX));
    for (index, word) in
        without_key.split_inclusive(|c: char| c.is_whitespace() || "\"'`,;()<>{}[]=".contains(c)).enumerate()
    {
        let body = word.trim_end_matches(|c: char| c.is_whitespace() || "\"'`,;()<>{}[]=".contains(c));
        if looks_secret(body) {
            clean.push_str(MASK);
            clean.push_str(&word[body.len()..]);
        } else {
            clean.push_str(word);
        }
        if clean.len() > MESSAGE_MAX || index > MESSAGE_MAX {
            break;
        }
    }
    match (0..=MESSAGE_MAX.min(clean.len())).rev().find(|end| clean.is_char_boundary(*end)) {
        Some(end) if end < clean.len() => format!("{}...", &clean[..end]),
        _ => clean,
    }
}

/// Keys and account names as providers write them, cut in the middle by asterisks too.
fn looks_secret(word: &str) -> bool {
    const PREFIXES: [&str; 9] = ["sk-", "sk_", "pk-", "rk-", "org-", "proj_", "AIza", "xai-", "gsk_"];
    let named = PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && word.len() >= 9;
    let token = word.len() >= 32
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.*".contains(&b))
        && word.bytes().any(|b| b.is_ascii_digit());
    named || token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_accounts_are_taken_out() {
        let text = "Incorrect API key provided: sk-proj-abc***xyz9. Organization org-abcdef123 has key 'my-secret-key'; token 0123456789abcdef0123456789abcdef!";
        let clean = scrub(text, Some("my-secret-key"));
        for secret in ["sk-proj", "org-abcdef", "my-secret-key"] {
            assert!(!clean.contains(secret), "{clean}");
        }
        assert_eq!(scrub("maximum context length is 8192 tokens", Some("k")), "maximum context length is 8192 tokens");
        assert_eq!(scrub("key=0123456789abcdef0123456789abcdef, bye", None), "key=[removed], bye");
        assert!(scrub(&"ab ".repeat(5_000), None).len() <= MESSAGE_MAX + 3);
        assert!(scrub(&"é".repeat(5_000), None).len() <= MESSAGE_MAX + 3);
    }
}

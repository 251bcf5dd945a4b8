//! Secrets that callers present: API keys (`tg_live_`) and service tokens (`tgs_`), and the deployment's secret key.
//!
//! A key is its prefix, 32 random characters and 6 characters of checksum, so that a mistyped or made-up key is refused
//! without a look-up, and a leaked one is found by scanners. Only its hash under the deployment's secret key is stored.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARS: usize = 32;
const CHECK_CHARS: usize = 6;
/// Characters of a key that may be shown: the prefix and a few more.
pub const SHOWN_CHARS: usize = 12;

/// What a secret text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// An API key of the gateway: `tg_live_...`.
    Api,
    /// A service token of the admin API: `tgs_...`.
    Service,
}

impl KeyKind {
    /// What the text begins with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Api => "tg_live_",
            Self::Service => "tgs_",
        }
    }
}

/// Why a text is no key. Says nothing about whether such a key exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// Another prefix, length or alphabet.
    #[error("not a key of this form")]
    Form,
    /// Mistyped or made up.
    #[error("the key's checksum is wrong: it was mistyped or cut")]
    Checksum,
}

/// The whole text of a key, checksum tested. Its debug form shows only [`KeyText::shown`].
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText {
    kind: KeyKind,
    text: String,
}

impl KeyText {
    /// Makes a key of 32 random bytes (256 bits) from the system's generator; every character is equally likely.
    #[must_use]
    pub fn generate(kind: KeyKind, random: &[u8; 32]) -> Self {
        let mut text = String::with_capacity(kind.prefix().len() + RANDOM_CHARS + CHECK_CHARS);
        text.push_str(kind.prefix());
        text.extend(base62_stream(random).take(RANDOM_CHARS));
        let check = checksum(&text);
        text.push_str(&check);
        Self { kind, text }
    }

    /// Tests form and checksum, without any look-up.
    ///
    /// # Errors
    /// [`KeyTextError`].
    pub fn parse(kind: KeyKind, text: &str) -> Result<Self, KeyTextError> {
        let random = text.strip_prefix(kind.prefix()).ok_or(KeyTextError::Form)?;
        if random.len() != RANDOM_CHARS + CHECK_CHARS || !random.bytes().all(|byte| BASE62.contains(&byte)) {
            return Err(KeyTextError::Form);
        }
        let (body, check) = text.split_at(text.len() - CHECK_CHARS);
        if checksum(body) != check {
            return Err(KeyTextError::Checksum);
        }
        Ok(Self { kind, text: text.to_owned() })
    }

    /// What it is for.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The secret itself: for the reply that creates it, and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The first 12 characters, by which people recognise it.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.text.get(..SHOWN_CHARS).unwrap_or_default()
    }

    /// What is stored and looked up: HMAC-SHA256 of the text.
    #[must_use]
    pub fn hash(&self, secret: &SecretKey) -> [u8; 32] {
        hash(secret, &self.text)
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyText({}...)", self.shown())
    }
}

/// HMAC-SHA256 of a secret text under the deployment's secret key.
#[must_use]
pub fn hash(secret: &SecretKey, text: &str) -> [u8; 32] {
    secret.mac(text.as_bytes())
}

/// Characters drawn from the bytes of SHA-256(random, counter) for counter 0, 1, ...: bytes of 248 and more are left
/// out, since 256 is no multiple of 62 and a plain remainder would favour some characters.
fn base62_stream(random: &[u8; 32]) -> impl Iterator<Item = char> + use<'_> {
    (0_u64..)
        .flat_map(move |counter| Sha256::new().chain_update(random).chain_update(counter.to_be_bytes()).finalize())
        .filter(|byte| *byte < 248)
        .map(|byte| char::from(BASE62[usize::from(byte % 62)]))
}

/// CRC-32 (IEEE) of what precedes, as 6 characters.
fn checksum(body: &str) -> String {
    let mut value = crc32fast::hash(body.as_bytes());
    let mut text = [b'0'; CHECK_CHARS];
    for slot in text.iter_mut().rev() {
        *slot = BASE62[usize::try_from(value % 62).unwrap_or_default()];
        value /= 62;
    }
    text.iter().map(|byte| char::from(*byte)).collect()
}

/// The deployment's secret key, 32 bytes: hashes of keys and the seal of providers' keys rest on it. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; 32]);

/// A text that is no secret key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("TOLLGATE_SECRET_KEY must be 32 random bytes in base64; make one with `openssl rand -base64 32`")]
pub struct SecretKeyError;

impl SecretKey {
    /// Reads 32 bytes of base64, padded or not.
    ///
    /// # Errors
    /// [`SecretKeyError`] for other texts, and for 32 equal bytes, which nobody drew at random.
    pub fn from_base64(text: &str) -> Result<Self, SecretKeyError> {
        let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let engine = GeneralPurpose::new(&base64::alphabet::STANDARD, config);
        let bytes = engine.decode(text.trim()).map_err(|_| SecretKeyError)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| SecretKeyError)?;
        if bytes.iter().all(|byte| *byte == bytes[0]) {
            return Err(SecretKeyError);
        }
        Ok(Self(bytes))
    }

    /// Wraps bytes from the system's generator.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The text that [`Self::from_base64`] reads, to be written into a configuration.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// A key of its own for one purpose, such as sealing, so that no two uses share key material.
    #[must_use]
    pub fn subkey(&self, purpose: &str) -> [u8; 32] {
        self.mac(format!("tollgate subkey: {purpose}").as_bytes())
    }

    fn mac(&self, message: &[u8]) -> [u8; 32] {
        // The infallible constructor takes a key of the hash's block length; HMAC fills a shorter one with zeros.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(message);
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_form_is_fixed() {
        let key = KeyText::generate(KeyKind::Api, &[7; 32]);
        assert_eq!(key.expose().len(), 8 + 32 + 6);
        assert!(key.expose().starts_with("tg_live_"));
        assert_eq!(key.shown(), &key.expose()[..12]);
        assert_eq!(KeyText::parse(KeyKind::Api, key.expose()), Ok(key.clone()));
        assert_eq!(KeyText::parse(KeyKind::Service, key.expose()), Err(KeyTextError::Form));
        assert!(!format!("{key:?}").contains(&key.expose()[13..]));
        // "123456789" has the CRC-32 0xcbf43926 = 3 421 780 262.
        assert_eq!(checksum("123456789"), "3jZRME");
    }

    #[test]
    fn other_texts_are_refused() {
        let key = KeyText::generate(KeyKind::Service, &[1; 32]);
        let text = key.expose();
        for bad in
            ["", "tgs_", "tgs", &text[1..], &text[..text.len() - 1], &format!("{text}0"), &text.replace('_', "-")]
        {
            assert_eq!(KeyText::parse(KeyKind::Service, bad), Err(KeyTextError::Form), "{bad}");
        }
        let accented = format!("tgs_{}", "é".repeat(19));
        assert_eq!(KeyText::parse(KeyKind::Service, &accented), Err(KeyTextError::Form));
    }

    #[test]
    fn hashes_are_hmac_sha256() {
        // HMAC-SHA256 of an empty text under 32 zero bytes: RFC 2104 fills both to the same block as an empty key.
        let zero = SecretKey::from_bytes([0; 32]);
        let hex: String = hash(&zero, "").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
        assert_ne!(hash(&zero, "a"), hash(&SecretKey::from_bytes([1; 32]), "a"));
        assert_ne!(zero.subkey("seal"), zero.subkey("sessions"));
    }

    #[test]
    fn secret_keys_are_read_and_never_shown() {
        let bytes: [u8; 32] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let key = SecretKey::from_bytes(bytes);
        assert_eq!(SecretKey::from_base64(&key.to_base64()), Ok(key.clone()));
        assert_eq!(SecretKey::from_base64(key.to_base64().trim_end_matches('=')), Ok(key.clone()));
        for bad in ["", "AAAA", "not base64!", &STANDARD.encode([0; 32]), &STANDARD.encode([1; 33])] {
            assert_eq!(SecretKey::from_base64(bad), Err(SecretKeyError), "{bad}");
        }
        assert_eq!(format!("{key:?}"), "SecretKey(..)");
        assert!(SecretKeyError.to_string().contains("TOLLGATE_SECRET_KEY"));
    }

    #[test]
    fn characters_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::<char, u32>::new();
        for character in base62_stream(&[9; 32]).take(62_000) {
            *counts.entry(character).or_default() += 1;
        }
        assert_eq!(counts.len(), 62);
        // Expected 1 000 each, standard deviation 32; a plain remainder would give the first eight 1 210.
        assert!(counts.values().all(|count| (860..=1_140).contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn keys_are_read_back(random in any::<[u8; 32]>()) {
            for kind in [KeyKind::Api, KeyKind::Service] {
                let key = KeyText::generate(kind, &random);
                prop_assert_eq!(KeyText::parse(kind, key.expose()), Ok(key.clone()));
            }
        }

        #[test]
        fn one_wrong_character_is_noticed(random in any::<[u8; 32]>(), at in 4..42_usize, other in 0..62_usize) {
            let key = KeyText::generate(KeyKind::Service, &random);
            let mut bytes = key.expose().as_bytes().to_vec();
            prop_assume!(bytes[at] != BASE62[other]);
            bytes[at] = BASE62[other];
            let text = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(KeyText::parse(KeyKind::Service, &text), Err(KeyTextError::Checksum));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            prop_assert!(KeyText::parse(KeyKind::Api, &text).is_err());
        }
    }
}

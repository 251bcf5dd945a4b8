//! Sealing of secrets that must come back in clear, such as provider keys: AES-256-GCM under the deployment's key.
//!
//! A sealed value is `version (1 byte) | nonce (12) | ciphertext and tag`. What it belongs to is authenticated with it,
//! so that a sealed key moved to another row does not open.

use aes_gcm::aead::{Aead, AeadCore, KeyInit, OsRng, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use domain::api_key::SecretKey;

use crate::Error;

const VERSION: u8 = 1;
const NONCE_BYTES: usize = 12;

/// Seals under one key, and opens under that and older ones. Cheap to clone; never shown by `Debug`.
#[derive(Clone)]
pub struct Sealer {
    newest: Aes256Gcm,
    older: Vec<Aes256Gcm>,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Sealer {
    /// Derives the sealing key from the deployment's (`TOLLGATE_SECRET_KEY`).
    #[must_use]
    pub fn new(key: &SecretKey) -> Self {
        Self::with(&[], key)
    }

    /// Seals under the first of `keys` (`TOLLGATE_SEALING_KEYS`), and opens what was sealed under any of them or under the
    /// deployment's key; without `keys` that one seals.
    #[must_use]
    pub fn with(keys: &[SecretKey], key: &SecretKey) -> Self {
        let cipher = |key: &SecretKey| Aes256Gcm::new(&key.subkey("seal").into());
        let mut ciphers = keys.iter().map(cipher);
        match ciphers.next() {
            None => Self { newest: cipher(key), older: Vec::new() },
            Some(newest) => Self { newest, older: ciphers.chain([cipher(key)]).collect() },
        }
    }

    /// Seals `secret` for `owner`, the id of the row that it belongs to.
    ///
    /// # Errors
    /// `Corrupt` where the cipher refuses (a secret of gigabytes).
    pub fn seal(&self, owner: &str, secret: &str) -> Result<Vec<u8>, Error> {
        self.seal_bytes(owner, secret.as_bytes())
    }

    /// Seals bytes for `owner`.
    ///
    /// # Errors
    /// As [`Self::seal`].
    pub fn seal_bytes(&self, owner: &str, secret: &[u8]) -> Result<Vec<u8>, Error> {
        let nonce = Aes256Gcm::generate_nonce(&mut OsRng);
        let payload = Payload { msg: secret, aad: owner.as_bytes() };
        let sealed = self.newest.encrypt(&nonce, payload).map_err(|why| Error::corrupt("sealed value", why))?;
        Ok([&[VERSION], nonce.as_slice(), &sealed].concat())
    }

    /// Opens what was sealed for `owner`.
    ///
    /// # Errors
    /// `Corrupt` where it was sealed under another key, for another owner, by a later version, or altered.
    pub fn open(&self, owner: &str, sealed: &[u8]) -> Result<String, Error> {
        String::from_utf8(self.open_bytes(owner, sealed)?).map_err(|_| Error::corrupt("sealed value", "not text"))
    }

    /// Opens bytes that were sealed for `owner`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_bytes(&self, owner: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let ciphers = [&self.newest].into_iter().chain(&self.older);
        let mut opened = Err(Error::corrupt("sealed value", "no key"));
        for cipher in ciphers {
            opened = open_under(cipher, owner, sealed);
            if opened.is_ok() {
                break;
            }
        }
        opened
    }

    /// What was sealed under an older key, sealed under the newest; none where it is already.
    ///
    /// # Errors
    /// As [`Self::open`] and [`Self::seal`].
    pub fn renewed(&self, owner: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if open_under(&self.newest, owner, sealed).is_ok() {
            return Ok(None);
        }
        self.seal_bytes(owner, &self.open_bytes(owner, sealed)?).map(Some)
    }
}

fn open_under(cipher: &Aes256Gcm, owner: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let corrupt = |why: &str| Error::corrupt("sealed value", why);
    let (version, rest) = sealed.split_first().ok_or_else(|| corrupt("empty"))?;
    if *version != VERSION {
        return Err(corrupt("sealed by a later version"));
    }
    let (nonce, sealed) = rest.split_at_checked(NONCE_BYTES).ok_or_else(|| corrupt("too short"))?;
    let payload = Payload { msg: sealed, aad: owner.as_bytes() };
    let opened = cipher.decrypt(Nonce::from_slice(nonce), payload);
    opened.map_err(|_| corrupt("sealed under another key or altered"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_keys_open_until_everything_is_renewed() {
        let key = |byte| SecretKey::from_bytes([byte; 32]);
        let before = Sealer::new(&key(7)).seal("up_1", "sk-secret").unwrap();
        let rotated = Sealer::with(&[key(9), key(8)], &key(7));
        assert_eq!(rotated.open("up_1", &before).unwrap(), "sk-secret");
        let renewed = rotated.renewed("up_1", &before).unwrap().unwrap();
        assert_eq!(rotated.renewed("up_1", &renewed).unwrap(), None);
        assert_eq!(Sealer::new(&key(9)).open("up_1", &renewed).unwrap(), "sk-secret");
        assert!(rotated.renewed("up_2", &before).is_err());
    }

    #[test]
    fn only_the_same_key_and_owner_open() {
        let sealer = Sealer::new(&SecretKey::from_bytes([7; 32]));
        let sealed = sealer.seal("up_1", "sk-secret").unwrap();
        assert_eq!(sealer.open("up_1", &sealed).unwrap(), "sk-secret");
        assert!(!String::from_utf8_lossy(&sealed).contains("secret"));
        assert_ne!(sealed, sealer.seal("up_1", "sk-secret").unwrap());
        assert!(sealer.open("up_2", &sealed).is_err());
        assert!(Sealer::new(&SecretKey::from_bytes([8; 32])).open("up_1", &sealed).is_err());
        for index in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[index] ^= 1;
            assert!(sealer.open("up_1", &altered).is_err(), "byte {index}");
            assert!(sealer.open("up_1", &sealed[..index]).is_err(), "cut at {index}");
        }
    }
}

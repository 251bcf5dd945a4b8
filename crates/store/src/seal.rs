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

/// Seals and opens under one key. Cheap to clone; never shown by `Debug`.
#[derive(Clone)]
pub struct Sealer {
    cipher: Aes256Gcm,
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
        Self { cipher: Aes256Gcm::new(&key.subkey("seal").into()) }
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
        let sealed = self.cipher.encrypt(&nonce, payload).map_err(|why| Error::corrupt("sealed value", why))?;
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
        let corrupt = |why: &str| Error::corrupt("sealed value", why);
        let (version, rest) = sealed.split_first().ok_or_else(|| corrupt("empty"))?;
        if *version != VERSION {
            return Err(corrupt("sealed by a later version"));
        }
        let (nonce, sealed) = rest.split_at_checked(NONCE_BYTES).ok_or_else(|| corrupt("too short"))?;
        let payload = Payload { msg: sealed, aad: owner.as_bytes() };
        let opened = self.cipher.decrypt(Nonce::from_slice(nonce), payload);
        opened.map_err(|_| corrupt("sealed under another key or altered"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

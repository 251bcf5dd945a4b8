//! Passwords: argon2id with the crate's recommended cost. Slow on purpose: call it off the async threads.

use argon2::Argon2;
use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};

use crate::Error;

/// A hash of the default cost that no password is known for.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$dG9sbGdhdGUtbm9ib2R5$Lrf2Nq6cEr8X4T1V8Jj3m6o0l9rW0yqJ2qYwq3Hq7aA";

/// Hashes a password with a fresh salt.
///
/// # Errors
/// `Corrupt` where argon2 refuses its input.
pub fn hash(password: &str) -> Result<String, Error> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    Ok(hash.map_err(|why| Error::corrupt("password", why))?.to_string())
}

/// Answers whether the password is the hash's. Without a hash (an unknown address) it does the same work and says no,
/// so that time does not tell which addresses exist.
#[must_use]
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    let Ok(parsed) = PasswordHash::new(hash.unwrap_or(NOBODY)) else {
        return false;
    };
    Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok() && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_is_taken() -> Result<(), Error> {
        let stored = hash("correct horse")?;
        assert!(stored.starts_with("$argon2id$"));
        assert!(verify("correct horse", Some(&stored)));
        assert!(!verify("correct horsf", Some(&stored)));
        assert!(!verify("correct horse", None));
        assert!(!verify("correct horse", Some("not a hash")));
        Ok(())
    }

    #[test]
    fn an_unknown_address_costs_the_same() {
        let nobody = PasswordHash::new(NOBODY).map(|hash| argon2::Params::try_from(&hash));
        assert_eq!(nobody.map(|params| params.map(|params| (params.m_cost(), params.t_cost(), params.p_cost()))), {
            let params = Argon2::default().params().clone();
            Ok(Ok((params.m_cost(), params.t_cost(), params.p_cost())))
        });
    }
}

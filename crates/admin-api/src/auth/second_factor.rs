//! The second factor: time-based one-time passwords (RFC 6238: SHA-1, 6 digits, 30 s, one step of grace either way), each
//! taken once, and recovery codes.

use std::time::Instant;

use api_types::person::TotpSecret;
use domain::api_key;
use domain::ids::UserId;
use rand::Rng as _;
use store::PgConnection;
use time::OffsetDateTime;
use totp_rs::{Algorithm, Builder, Totp};

use crate::app::App;
use crate::error::{Error, Result};

const DIGITS: u8 = 6;
const STEP_S: u64 = 30;
const ISSUER: &str = "Tollgate";
/// How many recovery codes there are.
const RECOVERY_CODES: usize = 10;
/// No letters that look alike.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz234567890";

/// What somebody proved with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// A code of the present minute.
    Totp,
    /// A recovery code, which is gone now.
    RecoveryCode,
}

fn totp(secret: Vec<u8>, account: &str) -> Result<Totp> {
    let totp = Builder::new()
        .with_algorithm(Algorithm::SHA1)
        .with_digits(DIGITS)
        .with_skew(1)
        .with_step_duration(STEP_S)
        .with_secret(secret)
        .with_issuer(Some(ISSUER))
        .with_account_name(account);
    totp.build().map_err(Error::internal)
}

/// The secret for an authenticator, as text and as a link.
///
/// # Errors
/// 500 where the library refuses it.
pub fn describe(secret: [u8; 20], email: &str) -> Result<TotpSecret> {
    let totp = totp(secret.to_vec(), &email.replace(':', " "))?;
    let otpauth_url = totp.to_url().map_err(Error::internal)?;
    Ok(TotpSecret { secret: totp.secret().to_base32(), otpauth_url })
}

/// Takes a code or recovery code of the person, once; commits with the caller's change. None: it is wrong.
///
/// # Errors
/// 429 after too many tries; those of the store.
pub async fn take(app: &App, conn: &mut PgConnection, user: UserId, code: &str) -> Result<Option<Proof>> {
    app.throttle().take_code(user, Instant::now())?;
    let code: String = code.chars().filter(|c| !c.is_whitespace() && *c != '-').collect::<String>().to_lowercase();
    let proof = if code.len() == usize::from(DIGITS) && code.bytes().all(|byte| byte.is_ascii_digit()) {
        let factor = match store::totp::get(conn, user).await {
            Err(store::Error::NotFound) => return Ok(None),
            other => other?,
        };
        let secret = app.sealer().open_bytes(&user.to_string(), &factor.sealed_secret)?;
        let now = u64::try_from(OffsetDateTime::now_utc().unix_timestamp()).map_err(Error::internal)?;
        let step = totp(secret, ISSUER)?.check(&code, now);
        match step.map(i64::try_from).transpose().map_err(Error::internal)? {
            Some(step) if store::totp::take_step(conn, user, step).await? => Some(Proof::Totp),
            _ => None,
        }
    } else {
        let taken = store::totp::take_recovery_code(conn, user, &hash(app, &code)).await?;
        taken.then_some(Proof::RecoveryCode)
    };
    if proof.is_some() {
        app.throttle().give_code_back(user);
    }
    Ok(proof)
}

/// New recovery codes, such as `x7kq-29ab-mc4f-3hpw`: 80 bits at random each.
#[must_use]
pub fn recovery_codes() -> Vec<String> {
    let mut random = rand::rng();
    let mut group = || -> String {
        let mut character = || char::from(ALPHABET[random.random_range(0..ALPHABET.len())]);
        (0..4).map(|_| character()).collect()
    };
    (0..RECOVERY_CODES).map(|_| [group(), group(), group(), group()].join("-")).collect()
}

/// The stored form of a recovery code.
#[must_use]
pub fn hash(app: &App, code: &str) -> Vec<u8> {
    api_key::hash(app.secret(), &code.replace('-', "")).to_vec()
}

/// 422: the code is wrong.
pub fn wrong_field() -> Error {
    Error::field("code", "bad_credentials", "the code is wrong, was used or is over; wait for the next one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authenticators_read_the_secret_and_codes_are_those_of_the_rfc() {
        // RFC 6238, appendix B, SHA-1: at 59 s the eight digits 94287082.
        let rfc = totp(b"12345678901234567890".to_vec(), "a@example.com").unwrap();
        assert_eq!(rfc.check("287082", 59), Some(1));
        assert_eq!(rfc.check("287082", 89), Some(1), "one step of grace");
        assert_eq!(rfc.check("287082", 120), None);
        let told = describe(*b"12345678901234567890", "a@example.com").unwrap();
        assert_eq!(told.secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert!(told.otpauth_url.starts_with("otpauth://totp/Tollgate:a%40example.com?"), "{}", told.otpauth_url);
        assert!(told.otpauth_url.contains(&format!("secret={}", told.secret)), "{}", told.otpauth_url);
    }

    #[test]
    fn recovery_codes_differ() {
        let codes: std::collections::BTreeSet<String> = recovery_codes().into_iter().collect();
        assert_eq!(codes.len(), RECOVERY_CODES);
        assert!(codes.iter().all(|code| code.len() == 19 && code.matches('-').count() == 3), "{codes:?}");
    }
}

//! Access tokens: JWT, HS256 under a key of their own, at most 15 minutes, for this audience alone.

use domain::api_key::SecretKey;
use domain::ids::{SessionId, UserId};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::error::{Error, Result};

/// How long an access token lives.
pub const LIFETIME: time::Duration = time::Duration::minutes(15);
const ISSUER: &str = "tollgate";
const AUDIENCE: &str = "tollgate-admin";

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: UserId,
    sid: SessionId,
    iat: i64,
    exp: i64,
}

/// What a valid access token says.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// The session.
    pub session_id: SessionId,
    /// When the token ends.
    pub expires_at: OffsetDateTime,
}

/// Makes and reads access tokens.
pub struct Tokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl Tokens {
    /// Derives the key from the deployment's.
    ///
    /// # Errors
    /// Where the library refuses the key.
    pub fn new(secret: &SecretKey) -> anyhow::Result<Self> {
        let key = secret.subkey("sessions");
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.leeway = 0;
        Ok(Self { encoding: EncodingKey::from_secret(&key)?, decoding: DecodingKey::from_secret(&key)?, validation })
    }

    /// Makes a token for a session.
    ///
    /// # Errors
    /// 500 where the library fails.
    pub fn make(&self, user: UserId, session: SessionId, now: OffsetDateTime) -> Result<(String, OffsetDateTime)> {
        let expires_at = now.replace_nanosecond(0).map_err(Error::internal)? + LIFETIME;
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: user,
            sid: session,
            iat: now.unix_timestamp(),
            exp: expires_at.unix_timestamp(),
        };
        let token = encode(&Header::new(Algorithm::HS256), &claims, &self.encoding).map_err(Error::internal)?;
        Ok((token, expires_at))
    }

    /// Reads a token; none where it is not ours, for others, altered or over.
    #[must_use]
    pub fn read(&self, token: &str) -> Option<Access> {
        let claims = decode::<Claims>(token, &self.decoding, &self.validation).ok()?.claims;
        let expires_at = OffsetDateTime::from_unix_timestamp(claims.exp).ok()?;
        Some(Access { session_id: claims.sid, expires_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(byte: u8) -> Tokens {
        Tokens::new(&SecretKey::from_bytes([byte; 32])).unwrap()
    }

    #[test]
    fn only_our_own_living_tokens_are_read() {
        let (user, session, now) = (UserId::generate(), SessionId::generate(), OffsetDateTime::now_utc());
        let (token, expires_at) = tokens(1).make(user, session, now).unwrap();
        let access = tokens(1).read(&token).unwrap();
        assert_eq!((access.session_id, access.expires_at), (session, expires_at));
        assert!(tokens(2).read(&token).is_none(), "another key");
        let (old, _) = tokens(1).make(user, session, now - LIFETIME - time::Duration::seconds(1)).unwrap();
        assert!(tokens(1).read(&old).is_none(), "over");
        for (aud, iss, exp) in [("other", ISSUER, now), (AUDIENCE, "other", now)] {
            let exp = (exp + LIFETIME).unix_timestamp();
            let claims = Claims { iss: iss.into(), aud: aud.into(), sub: user, sid: session, iat: 0, exp };
            let token = encode(&Header::new(Algorithm::HS256), &claims, &tokens(1).encoding).unwrap();
            assert!(tokens(1).read(&token).is_none(), "for {aud} by {iss}");
        }
        let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", token.split('.').nth(1).unwrap());
        assert!(tokens(1).read(&unsigned).is_none(), "unsigned");
        // Another algorithm under the same key, and an expiry written as text, which older libraries skipped.
        let text_exp =
            serde_json::json!({"iss": ISSUER, "aud": AUDIENCE, "sub": user, "sid": session, "iat": 0, "exp": "1"});
        for (algorithm, claims) in [
            (
                Algorithm::HS512,
                serde_json::json!({"iss": ISSUER, "aud": AUDIENCE, "sub": user, "sid": session, "iat": 0, "exp": expires_at.unix_timestamp()}),
            ),
            (Algorithm::HS256, text_exp),
        ] {
            let token = encode(&Header::new(algorithm), &claims, &tokens(1).encoding).unwrap();
            assert!(tokens(1).read(&token).is_none(), "{algorithm:?}");
        }
    }
}

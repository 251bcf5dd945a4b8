//! Signatures of the Standard Webhooks specification, version 1: `v1,` and the HMAC-SHA256 of `id.timestamp.body`.

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// What a secret's text begins with; the rest is its bytes in base64.
const PREFIX: &str = "whsec_";

/// One signature.
///
/// # Errors
/// The secret is none.
pub fn sign(secret: &str, id: &str, timestamp: i64, body: &[u8]) -> anyhow::Result<String> {
    let secret = secret.strip_prefix(PREFIX).context("the secret does not begin with whsec_")?;
    let secret = STANDARD.decode(secret).context("the secret is not base64")?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret)?;
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_example_is_signed_alike() {
        let signature = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            b"{\"test\": 2432232314}",
        );
        assert_eq!(signature.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert!(sign("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "m", 1, b"").is_err());
    }
}

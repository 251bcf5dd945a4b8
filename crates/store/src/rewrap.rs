//! Sealing anew what was sealed under an older key.

use domain::{UpstreamId, WebhookId};
use sqlx::PgConnection;

use crate::Error;
use crate::seal::Sealer;

/// Seals providers' keys and webhooks' secrets under the newest key, `most` of them at most. Returns how many were, and how
/// many are left. One that no key opens is left and logged.
///
/// # Errors
/// Those of Postgres.
pub async fn secrets(conn: &mut PgConnection, sealer: &Sealer, most: usize) -> Result<(u64, u64), Error> {
    let mut count = Count { most, rewrapped: 0, left: 0 };
    let upstreams = sqlx::query!(
        r#"SELECT id, sealed_key AS "sealed_key!" FROM upstreams WHERE sealed_key IS NOT NULL ORDER BY id FOR UPDATE"#
    );
    for row in upstreams.fetch_all(&mut *conn).await? {
        let owner = UpstreamId::from_uuid(row.id).to_string();
        if let Some(sealed) = count.renew(sealer, &owner, &row.sealed_key) {
            sqlx::query!("UPDATE upstreams SET sealed_key = $2 WHERE id = $1", row.id, sealed)
                .execute(&mut *conn)
                .await?;
        }
    }
    let webhooks =
        sqlx::query!("SELECT id, sealed_secret, previous_secret FROM webhook_endpoints ORDER BY id FOR UPDATE");
    for row in webhooks.fetch_all(&mut *conn).await? {
        let owner = WebhookId::from_uuid(row.id).to_string();
        let secret = count.renew(sealer, &owner, &row.sealed_secret);
        let previous = row.previous_secret.as_ref().and_then(|sealed| count.renew(sealer, &owner, sealed));
        if secret.is_some() || previous.is_some() {
            sqlx::query!(
                "UPDATE webhook_endpoints SET sealed_secret = coalesce($2, sealed_secret),
                        previous_secret = coalesce($3, previous_secret) WHERE id = $1",
                row.id,
                secret,
                previous,
            )
            .execute(&mut *conn)
            .await?;
        }
    }
    Ok((count.rewrapped, count.left))
}

struct Count {
    most: usize,
    rewrapped: u64,
    left: u64,
}

impl Count {
    fn renew(&mut self, sealer: &Sealer, owner: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        match sealer.renewed(owner, sealed) {
            Ok(None) => None,
            Ok(Some(renewed)) if self.most > 0 => {
                self.most -= 1;
                self.rewrapped += 1;
                Some(renewed)
            }
            Ok(Some(_)) => {
                self.left += 1;
                None
            }
            Err(error) => {
                tracing::error!(owner, %error, "a secret can't be sealed anew");
                self.left += 1;
                None
            }
        }
    }
}

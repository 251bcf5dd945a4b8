//! What was set aside and given back without a charge, per scope: for audit, part of no decision.

use domain::{Amount, Scope};
use sqlx::PgConnection;

use crate::Error;

/// The refunded sum of each scope that has an account; beyond the largest amount it stays there.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn read(conn: &mut PgConnection, scopes: &[Scope]) -> Result<Vec<(Scope, Amount)>, Error> {
    let names: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let rows = sqlx::query!(
        r#"SELECT scope, least(refunded, $2::bigint::numeric)::bigint AS "refunded!" FROM accounts WHERE scope = ANY ($1)"#,
        &names,
        Amount::MAX.units(),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let scope = row.scope.parse().map_err(|why| Error::corrupt("accounts.scope", why))?;
            let refunded = Amount::new(row.refunded).map_err(|why| Error::corrupt("accounts.refunded", why))?;
            Ok((scope, refunded))
        })
        .collect()
}

//! Usage metered elsewhere: each reference of a key is charged once.

use domain::{KeyId, RequestId};
use sqlx::PgConnection;

use crate::Error;

/// Claims the reference for a request, in the transaction that charges it. Some: it was charged before, by this request; a
/// transaction that is about to charge it is waited for.
///
/// # Errors
/// Those of Postgres.
pub async fn claim(
    conn: &mut PgConnection,
    key: KeyId,
    reference: &str,
    request: RequestId,
) -> Result<Option<RequestId>, Error> {
    let inserted = sqlx::query!(
        "INSERT INTO ingested_usage (key_id, reference, request_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        key.uuid(),
        reference,
        request.uuid(),
    )
    .execute(&mut *conn)
    .await?;
    if inserted.rows_affected() == 1 {
        return Ok(None);
    }
    let before = sqlx::query_scalar!(
        "SELECT request_id FROM ingested_usage WHERE key_id = $1 AND reference = $2",
        key.uuid(),
        reference,
    );
    Ok(Some(RequestId::from_uuid(before.fetch_one(conn).await?)))
}

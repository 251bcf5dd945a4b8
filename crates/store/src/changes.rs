//! Notifications that keys, tenants or the catalog changed, so that no cache serves what is no longer true.

use sqlx::postgres::PgListener;
use uuid::Uuid;

use crate::{Error, Store};

/// The channel of the triggers `notify_change`.
const CHANNEL: &str = "tollgate_changed";

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// An API key.
    Key(Uuid),
    /// A project.
    Project(Uuid),
    /// A tenant.
    Tenant(Uuid),
    /// A model, target, price or upstream.
    Catalog,
    /// Anything may have: the connection was lost for a while, or the notification is not understood.
    Anything,
}

/// Listens on a connection of its own.
#[derive(Debug)]
pub struct Changes {
    listener: PgListener,
}

impl Changes {
    /// Begins to listen. What changed before is not told: read afresh after this returns.
    ///
    /// # Errors
    /// `Unavailable` where no connection is to be had.
    pub async fn listen(store: &Store) -> Result<Self, Error> {
        let mut listener = PgListener::connect_with(store.pool()).await?;
        listener.listen(CHANNEL).await?;
        Ok(Self { listener })
    }

    /// Waits for the next change. May be cancelled without losing one.
    ///
    /// # Errors
    /// `Unavailable` where the connection is lost and no other is to be had: listen again and take it for [`Change::Anything`].
    pub async fn next(&mut self) -> Result<Change, Error> {
        Ok(match self.listener.try_recv().await? {
            Some(notification) => parse(notification.payload()),
            None => Change::Anything,
        })
    }
}

fn parse(payload: &str) -> Change {
    let Some((table, id)) = payload.split_once(':') else { return Change::Anything };
    match (table, Uuid::try_parse(id)) {
        ("api_keys", Ok(id)) => Change::Key(id),
        ("projects", Ok(id)) => Change::Project(id),
        ("tenants", Ok(id)) => Change::Tenant(id),
        ("models" | "targets" | "prices" | "upstreams", _) => Change::Catalog,
        _ => Change::Anything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_understood_or_taken_for_anything() {
        let id = Uuid::from_u128(7);
        assert_eq!(parse(&format!("api_keys:{id}")), Change::Key(id));
        assert_eq!(parse(&format!("projects:{id}")), Change::Project(id));
        assert_eq!(parse(&format!("tenants:{id}")), Change::Tenant(id));
        assert_eq!(parse(&format!("prices:{id}")), Change::Catalog);
        for odd in ["", "api_keys", "api_keys:", "other:1"] {
            assert_eq!(parse(odd), Change::Anything);
        }
    }
}

//! The store's one error.

/// Why the store did not do what was asked. Causes are for the log, never for a client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The row does not exist, or not for this tenant.
    #[error("not found")]
    NotFound,
    /// A unique constraint: the name of the field that is taken.
    #[error("{field} is already in use")]
    AlreadyExists {
        /// The constraint's name in Postgres.
        field: String,
    },
    /// A sum would pass the bounds of an amount.
    #[error("a sum beyond the bounds of an amount")]
    OutOfRange,
    /// The row was changed since it was read.
    #[error("changed meanwhile")]
    Stale,
    /// A stored value that this version does not understand, or a sum beyond the bounds of an amount.
    #[error("stored value of {what} is not valid: {why}")]
    Corrupt {
        /// The column.
        what: &'static str,
        /// The cause.
        why: String,
    },
    /// Postgres is unreachable, too slow, or ended the statement. Nothing is known to be committed.
    #[error("database unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// Postgres did not answer within the time the caller had. Nothing is known to be committed.
    #[error("the database fell silent")]
    Silent,
    /// Everything else that Postgres refused.
    #[error("database error")]
    Database(#[source] sqlx::Error),
}

impl Error {
    /// True where the same transaction may succeed when it is run again: a lost connection, a deadlock, a time-out.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Silent)
    }

    /// Wraps a value that can't be understood.
    pub fn corrupt(what: &'static str, why: impl ToString) -> Self {
        Self::Corrupt { what, why: why.to_string() }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::RowNotFound => Self::NotFound,
            sqlx::Error::Database(cause) => {
                if cause.is_unique_violation() {
                    return Self::AlreadyExists { field: cause.constraint().unwrap_or("value").to_owned() };
                }
                // The check of the domain `amount`; 22003 is a number beyond its type.
                if cause.constraint() == Some("amount_check") || cause.code().as_deref() == Some("22003") {
                    return Self::OutOfRange;
                }
                // 40: serialization or deadlock; 53: resources; 55: lock timeout; 57: cancelled or shutting down; 08: connection; 25P03: idle.
                let code = cause.code().unwrap_or_default();
                let transient =
                    ["40", "53", "55", "57", "08"].iter().any(|class| code.starts_with(class)) || code == "25P03";
                if transient { Self::Unavailable(error) } else { Self::Database(error) }
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Unavailable(error),
            _ => Self::Database(error),
        }
    }
}

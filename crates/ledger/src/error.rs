//! Why a ledger call has no outcome.

/// The call has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The reply was lost or late: the script may have run. The same call must be sent again with the same request id.
    #[error("the ledger's reply was lost: the outcome is unknown")]
    Unknown(#[source] redis::RedisError),
    /// Redis refused before it ran the script: nothing was written.
    #[error("the ledger is unreachable or refuses writes")]
    NotApplied(#[source] redis::RedisError),
    /// The breaker is open: nothing was sent.
    #[error("the ledger is away")]
    Away,
    /// A reply that this version does not understand.
    #[error("unexpected reply of {script}: {reply}")]
    Protocol {
        /// The script.
        script: &'static str,
        /// What it said.
        reply: String,
    },
    /// Redis' configuration would lose money.
    #[error("{0}")]
    Configuration(String),
}

impl LedgerError {
    /// True where sending the same call again can help.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::NotApplied(_) | Self::Away)
    }

    /// True where no Redis that works was reached: no answer in time, nobody there, or one that still loads its data.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        match self {
            Self::Unknown(cause) => cause.is_io_error() || cause.is_timeout() || cause.is_connection_dropped(),
            Self::NotApplied(cause) => {
                cause.is_connection_refusal() || matches!(cause.code(), Some("LOADING" | "MASTERDOWN" | "CLUSTERDOWN"))
            }
            _ => false,
        }
    }

    /// True where Redis refused the name, the password or the permissions of the URL.
    #[must_use]
    pub fn is_access(&self) -> bool {
        let (Self::Unknown(cause) | Self::NotApplied(cause)) = self else { return false };
        cause.kind() == redis::ErrorKind::AuthenticationFailed
            || matches!(cause.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"))
    }
}

impl From<redis::RedisError> for LedgerError {
    fn from(error: redis::RedisError) -> Self {
        let refused = error.is_connection_refusal()
            || matches!(
                error.code(),
                Some(
                    "NOSCRIPT"
                        | "LOADING"
                        | "READONLY"
                        | "OOM"
                        | "MISCONF"
                        | "MASTERDOWN"
                        | "CLUSTERDOWN"
                        | "NOAUTH"
                        | "WRONGPASS"
                        | "NOPERM"
                        | "NOREPLICAS"
                )
            );
        if refused { Self::NotApplied(error) } else { Self::Unknown(error) }
    }
}

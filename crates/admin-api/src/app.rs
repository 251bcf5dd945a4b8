//! What every handler shares. The database is private to [`crate::auth`]: a handler gets it from an extractor that has
//! decided that the caller may, and from nowhere else.

use std::sync::Arc;

use domain::api_key::SecretKey;
use quota::Quota;
use store::Store;
use store::seal::Sealer;

use crate::auth::jwt::Tokens;
use crate::auth::throttle::Throttle;
use crate::config::Config;

/// Shared state; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    config: Config,
    store: Store,
    quota: Quota,
    sealer: Sealer,
    tokens: Tokens,
    throttle: Throttle,
}

impl App {
    /// Puts it together. `quota` has a pool of its own, so that it never waits for a connection that a call holds.
    ///
    /// # Errors
    /// Where a key can't be made from the secret.
    pub fn new(config: Config, store: Store, quota: Quota) -> anyhow::Result<Self> {
        let sealer = Sealer::with(&config.sealing_keys, &config.secret_key);
        let tokens = Tokens::new(&config.secret_key)?;
        Ok(Self(Arc::new(Inner { config, store, quota, sealer, tokens, throttle: Throttle::default() })))
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The deployment's secret key.
    #[must_use]
    pub fn secret(&self) -> &SecretKey {
        &self.0.config.secret_key
    }

    /// The quota in Redis.
    #[must_use]
    pub fn quota(&self) -> &Quota {
        &self.0.quota
    }

    /// Seals providers' keys.
    #[must_use]
    pub fn sealer(&self) -> &Sealer {
        &self.0.sealer
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }

    /// For [`crate::auth`] and [`crate::health`] alone.
    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }
}

//! Calls that anyone may make: signing in and setting up. They prove themselves by what is in their body.

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use store::Transaction;

use crate::app::App;
use crate::auth::{Audit, csrf};
use crate::call::Meta;
use crate::error::{Error, Result};

/// A call of nobody in particular.
pub struct Open {
    /// Shared state.
    pub app: App,
    /// From where, under which id.
    pub meta: Meta,
    /// Its headers.
    pub headers: HeaderMap,
}

impl Open {
    /// Opens a transaction.
    ///
    /// # Errors
    /// 503.
    pub async fn begin(&self) -> Result<Transaction> {
        Ok(self.app.store().begin().await?)
    }

    /// Writes the audit entry of `actor` and commits.
    ///
    /// # Errors
    /// 503 where the commit's outcome is unknown.
    pub async fn commit(&self, mut tx: Transaction, actor: &str, audit: Audit) -> Result<()> {
        audit.write(&mut tx, actor, &self.meta).await?;
        tx.commit().await.map_err(store::Error::from)?;
        Ok(())
    }
}

impl FromRequestParts<App> for Open {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let meta = Meta::from_request_parts(parts, app).await?;
        csrf::check_origin(app, &parts.headers)?;
        Ok(Self { app: app.clone(), meta, headers: parts.headers.clone() })
    }
}

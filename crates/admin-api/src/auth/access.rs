//! The extractor that authorises a call and opens its transaction.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::Serialize;
use serde_json::Value;
use store::{Reach, Transaction};

use domain::TenantId;

use crate::app::App;
use crate::auth::{Caller, Policy, caller};
use crate::call::Meta;
use crate::error::{Error, Result};

/// A call that the rule `P` allows, with its transaction. A change ends with [`Call::commit`], which takes its audit
/// entry; a call that is dropped changes nothing.
pub struct Call<P: Policy> {
    /// Shared state.
    pub app: App,
    /// Who calls.
    pub caller: Caller,
    /// From where, under which id.
    pub meta: Meta,
    /// The tenants that the caller may see.
    pub reach: Reach,
    /// The transaction.
    pub tx: Transaction,
    policy: PhantomData<P>,
}

/// What a change did, for the audit log.
#[derive(Debug, Clone)]
pub struct Audit {
    action: &'static str,
    target: String,
    tenant_id: Option<TenantId>,
    before: Option<Value>,
    after: Option<Value>,
}

impl Audit {
    /// Noun and verb such as `tenant.create`, and the id of what was changed.
    pub fn new(action: &'static str, target: impl ToString) -> Self {
        Self { action, target: target.to_string(), tenant_id: None, before: None, after: None }
    }

    /// Whose it is.
    #[must_use]
    pub fn of(mut self, tenant: TenantId) -> Self {
        self.tenant_id = Some(tenant);
        self
    }

    /// Whose it is, where it is a tenant's.
    #[must_use]
    pub fn of_maybe(mut self, tenant: Option<TenantId>) -> Self {
        self.tenant_id = tenant.or(self.tenant_id);
        self
    }

    /// How it was; no secrets.
    #[must_use]
    pub fn before(mut self, value: &impl Serialize) -> Self {
        self.before = serde_json::to_value(value).ok();
        self
    }

    /// How it is; no secrets.
    #[must_use]
    pub fn after(mut self, value: &impl Serialize) -> Self {
        self.after = serde_json::to_value(value).ok();
        self
    }

    /// Writes it as `actor`'s.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn write(&self, tx: &mut Transaction, actor: &str, meta: &Meta) -> Result<()> {
        let entry = store::audit::Entry {
            actor,
            action: self.action,
            target: &self.target,
            tenant_id: self.tenant_id,
            before: self.before.clone(),
            after: self.after.clone(),
            address: Some(&meta.address),
            request_id: Some(&meta.request_id),
        };
        Ok(store::audit::append(tx, &entry).await?)
    }
}

impl<P: Policy> Call<P> {
    /// Writes the audit entry and commits. What people of a tenant do about themselves is their tenant's.
    ///
    /// # Errors
    /// 503 where the commit's outcome is unknown.
    pub async fn commit(mut self, mut audit: Audit) -> Result<App> {
        if let (None, Caller::Person { user, .. }) = (audit.tenant_id, &self.caller) {
            audit.tenant_id = user.tenant_id;
        }
        audit.write(&mut self.tx, &self.caller.actor(), &self.meta).await?;
        self.tx.commit().await.map_err(store::Error::from)?;
        Ok(self.app)
    }

    /// The same, for a call that goes on to read: gives transactions with the same reach.
    ///
    /// # Errors
    /// 503 where the commit's outcome is unknown.
    pub async fn commit_and_read(self, audit: Audit) -> Result<Reads> {
        let (reach, caller) = (self.reach.clone(), self.caller.actor());
        let app = self.commit(audit).await?;
        Ok(Reads { app, reach, caller })
    }

    /// For replies that are streamed: ends this transaction, and gives others with the same reach.
    #[must_use]
    pub fn into_reads(self) -> Reads {
        Reads { app: self.app, reach: self.reach, caller: self.caller.actor() }
    }

    /// 404 unless the caller may see the tenant.
    ///
    /// # Errors
    /// 404.
    pub fn must_reach(&self, tenant: TenantId) -> Result<()> {
        if self.reach.covers(tenant) { Ok(()) } else { Err(Error::not_found()) }
    }
}

/// Transactions one after another for an authorised caller.
#[derive(Clone)]
pub struct Reads {
    app: App,
    reach: Reach,
    caller: String,
}

impl Reads {
    /// The tenants that the caller may see.
    #[must_use]
    pub const fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Begins one.
    ///
    /// # Errors
    /// 503.
    pub async fn begin(&self) -> Result<Transaction> {
        let mut tx = self.app.store().begin().await?;
        self.reach.confine(&mut tx, &self.caller).await?;
        Ok(tx)
    }
}

impl<P: Policy> FromRequestParts<App> for Call<P> {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let meta = Meta::from_request_parts(parts, app).await?;
        let caller = {
            // A transaction of its own: noting the use of a token must not hold its row for as long as the call takes.
            let mut tx = app.store().begin().await?;
            let caller = caller::identify(app, &mut tx, &parts.method, &parts.headers).await?;
            tx.commit().await.map_err(store::Error::from)?;
            caller
        };
        caller.check::<P>()?;
        let reach = caller.reach();
        let mut tx = app.store().begin().await?;
        reach.confine(&mut tx, &caller.actor()).await?;
        Ok(Self { app: app.clone(), caller, meta, reach, tx, policy: PhantomData })
    }
}

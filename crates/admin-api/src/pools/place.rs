//! Bringing a tenant into a pool or out of one. Its accounts move to other keys in Redis, so for the time of the move its own
//! account admits nothing, nothing of it may be frozen at the old place, and both places forget its accounts: the next call
//! loads them at the new one. Calls that come meanwhile wait.
//!
//! Like a decrease, its transactions come out of the quota's own pool of connections while the call holds one of the main one.

use std::time::Duration;

use api_types::pool::PoolSetting;
use domain::{Home, PoolId, Scope, TenantId};
use quota::Cleared;
use store::pools::Unmoved;
use store::tenants::Tenant;

use crate::app::App;
use crate::auth::{Call, Policy};
use crate::error::{Error, Result};
use crate::force;
use crate::pools::{label, present};
use crate::validate::Fields;

/// How long running calls of the tenant are waited for.
const RUNNING_WITHIN: Duration = Duration::from_secs(5);
/// At the new place nothing of the tenant can be running.
const EMPTY_WITHIN: Duration = Duration::from_secs(1);

/// A move whose outcome commits with the call's transaction. Dropped without [`Placed::committed`] it is undone.
#[must_use]
pub struct Placed {
    app: App,
    tenant: TenantId,
    /// Accounts that changed with it, by the place where they live.
    changed: Vec<(Home, Vec<Scope>)>,
    is_committed: bool,
}

impl Placed {
    /// Brings the change to every gateway, after the commit. True where they all decide by it.
    pub async fn committed(mut self) -> bool {
        self.is_committed = true;
        let mut in_force = true;
        for (home, scopes) in &self.changed {
            in_force &= force::push_at(&self.app, *home, scopes).await;
        }
        force::push(&self.app, self.tenant, &[Scope::Tenant(self.tenant)]).await && in_force
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if !self.is_committed {
            // The call's transaction may still hold the account: this waits for its end.
            tokio::spawn(cancel(self.app.clone(), self.tenant));
        }
    }
}

/// Has the tenant (locked by the caller) in the pool `to` with that weight, or in none, once the call's transaction commits. Where
/// only the weight differs nothing moves.
///
/// # Errors
/// 404 for a pool that is not there; 409 while calls of the tenant run; 422 where the units differ; 503 while Redis is away.
pub async fn place<P: Policy>(call: &mut Call<P>, tenant: &Tenant, to: Option<(PoolId, u32)>) -> Result<Placed> {
    let (id, app) = (tenant.id, call.app.clone());
    let from = store::pools::of_tenant(&mut call.tx, id).await?.map(|(pool, _)| pool);
    let into = match to {
        Some((pool, _)) => Some(store::pools::get(&mut call.tx, pool).await?),
        None => None,
    };
    if let Some(pool) = &into {
        check(pool, tenant)?;
    }
    let stays = from.as_ref().map(|pool| pool.id) == into.as_ref().map(|pool| pool.id);
    let mut placed = Placed { app: app.clone(), tenant: id, changed: Vec::new(), is_committed: stays };
    if !stays {
        let home =
            |pool: &Option<store::pools::Pool>| pool.as_ref().map_or(Home::Tenant(id), |pool| Home::Pool(pool.id));
        let moving = begin(&app, id, to.map(|(pool, _)| pool)).await?;
        clear(&app, id, home(&from), home(&into), &moving.scopes).await?;
        store::pools::finish_move(&mut call.tx, id, to).await?.map_err(unmoved)?;
    } else if let Some((pool, weight)) = to {
        store::pools::set_weight(&mut call.tx, pool, id, weight).await?;
    }
    // In the order of their ids, so that two calls never wait for each other.
    let mut touched: Vec<_> = from.into_iter().chain(into).collect();
    touched.sort_by_key(|pool| pool.id);
    touched.dedup_by_key(|pool| pool.id);
    for pool in touched {
        store::pools::lock(&mut call.tx, pool.id).await?;
        let scopes = store::pools::share_out(&mut call.tx, pool.id, &label(&present(&pool)?)).await?;
        placed.changed.push((Home::Pool(pool.id), scopes));
    }
    Ok(placed)
}

/// The same for a tenant that was created in this transaction: nothing of it can be anywhere. Returns what changed of the pool.
///
/// # Errors
/// 422 for a pool that is not there, and where the units differ.
pub async fn new_tenant<P: Policy>(call: &mut Call<P>, tenant: &Tenant, to: &PoolSetting) -> Result<Vec<Scope>> {
    let pool = match store::pools::get(&mut call.tx, to.id).await {
        Err(store::Error::NotFound) => {
            return Err(Error::field("settings.pool.id", "not_found", "there is no such pool"));
        }
        found => found?,
    };
    check(&pool, tenant)?;
    store::pools::lock(&mut call.tx, pool.id).await?;
    store::pools::add_new_tenant(&mut call.tx, pool.id, tenant.id, to.weight).await?;
    Ok(store::pools::share_out(&mut call.tx, pool.id, &label(&present(&pool)?)).await?)
}

fn check(pool: &store::pools::Pool, tenant: &Tenant) -> Result<()> {
    let mut fields = Fields::new();
    let message = format!("the pool is metered in {}s and the tenant in {}s", pool.unit, tenant.unit);
    fields.check(pool.unit == tenant.unit, "unit", "differs", &message);
    fields.done()?;
    if tenant.status == "closed" {
        return Err(Error::conflict("the tenant is closed, for good"));
    }
    Ok(())
}

async fn begin(app: &App, tenant: TenantId, to: Option<PoolId>) -> Result<store::pools::Move> {
    let mut tx = app.quota().store().begin().await?;
    let begun = store::pools::begin_move(&mut tx, tenant, to).await?.map_err(unmoved)?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(begun)
}

/// Where it fails the move is undone before the error is returned.
async fn clear(app: &App, tenant: TenantId, from: Home, to: Home, scopes: &[Scope]) -> Result<()> {
    let cleared = async {
        if !force::push(app, tenant, &[Scope::Tenant(tenant)]).await {
            return Err(Error::unavailable(
                "Redis is away, so nobody can tell what of the tenant is running; try again",
            ));
        }
        for (home, within) in [(from, RUNNING_WITHIN), (to, EMPTY_WITHIN)] {
            match app.quota().clear(home, tenant, scopes, within).await {
                Ok(Cleared::Yes) => {}
                Ok(Cleared::Busy(running)) => {
                    let detail = "calls of the tenant are running and did not end within 5 s; suspend it, wait until frozen is 0, and try again";
                    return Err(Error::conflict(detail).with("running", running));
                }
                Err(cause) => {
                    tracing::warn!(%cause, %tenant, "a tenant could not be moved");
                    return Err(Error::unavailable("what is in flight can't be read at the moment; try again"));
                }
            }
        }
        Ok(())
    };
    let cleared = cleared.await;
    if cleared.is_err() {
        cancel(app.clone(), tenant).await;
    }
    cleared
}

/// Has the tenant's account admit again where it is; where that fails, the reconciler does it a little later.
async fn cancel(app: App, tenant: TenantId) {
    let cancelled = async {
        let mut tx = app.quota().store().begin().await?;
        store::pools::cancel_move(&mut tx, tenant).await?;
        tx.commit().await.map_err(store::Error::from)
    };
    match cancelled.await {
        Ok(()) => {
            force::push(&app, tenant, &[Scope::Tenant(tenant)]).await;
        }
        Err(cause) => tracing::warn!(%cause, %tenant, "a move could not be undone yet"),
    }
}

fn unmoved(why: Unmoved) -> Error {
    Error::conflict(match why {
        Unmoved::UnderWay => "the tenant is on its way into a pool or out of one already; try again in some seconds",
        Unmoved::Undone => "the move took too long and was undone; try again",
        Unmoved::Running => "calls that were admitted while Redis was away still run; try again in some seconds",
    })
}

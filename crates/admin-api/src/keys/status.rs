//! Disabling, enabling and deleting have one way: the key's row and its account change together, then the account is pushed.

use domain::{Amount, KeyId, Scope, Status};
use store::accounts::NewAccount;
use store::keys::Key;
use store::tenants::Tenant;

use crate::auth::Call;
use crate::auth::policy::WriteKeys;
use crate::error::Result;
use crate::scopes;

/// A key within reach, and its tenant, held until the transaction's end.
///
/// # Errors
/// 404.
pub async fn find(call: &mut Call<WriteKeys>, id: KeyId) -> Result<(Key, Tenant)> {
    let key = store::keys::get(&mut call.tx, id, &call.reach).await?;
    let tenant = store::tenants::lock(&mut call.tx, key.tenant_id, &call.reach).await?;
    Ok((key, tenant))
}

/// Sets the key's status and its account's. Returns the scope to be pushed.
///
/// # Errors
/// Those of the store.
pub async fn set(call: &mut Call<WriteKeys>, key: &Key, tenant: &Tenant, status: &str) -> Result<Scope> {
    store::keys::set_status(&mut call.tx, key.id, status).await?;
    let present = scopes::key(tenant, key)?;
    let account = NewAccount {
        scope: present.scope.clone(),
        tenant_id: tenant.id,
        total: present.budget,
        credit_limit: Amount::ZERO,
        overdraft_limit: Amount::ZERO,
        overdraft_percent: None,
    };
    store::accounts::create(&mut call.tx, &account).await?;
    let status = match status {
        "active" => Status::Active,
        "disabled" => Status::Suspended,
        _ => Status::Closed,
    };
    let change = store::accounts::Change { status: Some(status), ..store::accounts::Change::default() };
    store::accounts::change(&mut call.tx, &present.scope, &change).await?;
    Ok(present.scope)
}

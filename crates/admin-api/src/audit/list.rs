//! `GET /audit`.

use api_types::audit::AuditEntry;
use api_types::{Page, Timestamp};
use domain::TenantId;
use store::audit::Filter;

use crate::audit::view;
use crate::auth::Call;
use crate::auth::policy::ReadAudit;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::reply::Reply;

/// Which entries.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// By this one: `usr_...`, `st_...`, `reconciler` or `cli`.
    actor: Option<String>,
    /// Of this kind, such as `tenant.create`.
    action: Option<String>,
    /// On what has this id.
    target: Option<String>,
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// At or after.
    from: Option<Timestamp>,
    /// Before.
    to: Option<Timestamp>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `-created_at`: newest first, the only order.
    #[param(pattern = "^-created_at$")]
    sort: Option<String>,
}

/// Lists changes, newest first.
#[utoipa::path(get, path = "/audit", operation_id = "list_audit", tag = "audit", params(Ask),
    responses((status = 200, description = "A page of entries.", body = Page<AuditEntry>)))]
pub async fn handler(mut call: Call<ReadAudit>, Query(ask): Query<Ask>) -> Result<Reply<Page<AuditEntry>>> {
    let limit = list::limit(ask.limit)?;
    if ask.sort.as_deref().is_some_and(|sort| sort != "-created_at") {
        return Err(Error::field("sort", "invalid", "entries are listed newest first: -created_at"));
    }
    let before = ask.cursor.as_deref().map(number).transpose()?;
    if let Some(id) = ask.tenant_id {
        call.must_reach(id)?;
    }
    let filter = Filter {
        actor: ask.actor,
        action: ask.action,
        target: ask.target,
        tenant_id: ask.tenant_id,
        from: ask.from.map(Into::into),
        to: ask.to.map(Into::into),
    };
    let mut rows = store::audit::list(&mut call.tx, &filter, &call.reach, before, i64::from(limit) + 1).await?;
    let next_cursor = list::cut(&mut rows, limit).map(|last| list::write(&[&last.id.to_string()]));
    Ok(Reply::ok(Page { items: rows.into_iter().map(view).collect(), next_cursor }))
}

fn number(cursor: &str) -> Result<i64> {
    let [number] = list::read::<1>(cursor)?;
    number.parse().map_err(|_| Error::field("cursor", "invalid", "give next_cursor of the page before"))
}

//! `GET /events`.

use api_types::Page;
use api_types::webhook::{Event, EventType};
use domain::{EventId, TenantId};
use store::outbox::Filter;

use crate::auth::Call;
use crate::auth::policy::ReadEvents;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::reply::Reply;

/// Which events.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// Those after this one: the last that you have seen.
    after: Option<EventId>,
    /// Of this type.
    r#type: Option<EventType>,
    /// Of this tenant.
    tenant_id: Option<TenantId>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
}

/// Lists events, oldest first. Whoever asks for those after the last one seen misses none and gets each once: an event that
/// is committed late comes late, never before one that was shown already. `next_cursor` is that id while more follow.
#[utoipa::path(get, path = "/events", operation_id = "list_events", tag = "events", params(Ask),
    responses((status = 200, description = "A page of events.", body = Page<Event>)))]
pub async fn handler(mut call: Call<ReadEvents>, Query(ask): Query<Ask>) -> Result<Reply<Page<Event>>> {
    let limit = list::limit(ask.limit)?;
    let filter = Filter {
        after: ask.after,
        kind: ask.r#type.map(|kind| kind.as_str().to_owned()),
        tenant_id: ask.tenant_id,
        limit: i64::from(limit) + 1,
    };
    let mut rows = match store::outbox::list(&mut call.tx, &filter, &call.reach).await {
        Err(store::Error::NotFound) => {
            return Err(Error::field("after", "not_found", "there is no such event, or it is not yours"));
        }
        rows => rows?,
    };
    let next_cursor = list::cut(&mut rows, limit).map(|last| last.id.to_string());
    Ok(Reply::ok(Page { items: rows.into_iter().map(view).collect::<Result<_>>()?, next_cursor }))
}

fn view(event: store::outbox::Event) -> Result<Event> {
    let unknown = |_| Error::internal("a type of events that this version does not know");
    Ok(Event {
        id: event.id,
        r#type: event.kind.parse().map_err(unknown)?,
        timestamp: event.at.into(),
        data: event.payload,
    })
}

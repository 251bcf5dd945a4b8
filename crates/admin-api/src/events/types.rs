//! `GET /event-types`.

use api_types::webhook::{EventSchema, EventType};

use crate::auth::Call;
use crate::auth::policy::ReadEvents;
use crate::error::Result;
use crate::events::schema;
use crate::reply::Reply;

/// Every type of events with the JSON Schema of its body.
#[utoipa::path(get, path = "/event-types", operation_id = "list_event_types", tag = "events",
    responses((status = 200, description = "Every type.", body = Vec<EventSchema>)))]
pub async fn handler(_call: Call<ReadEvents>) -> Result<Reply<Vec<EventSchema>>> {
    let all = EventType::ALL.iter().map(|kind| EventSchema {
        r#type: *kind,
        description: schema::describe(*kind).to_owned(),
        schema: schema::of(*kind),
    });
    Ok(Reply::ok(all.collect()))
}

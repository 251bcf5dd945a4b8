//! `GET /webhooks/{w}/deliveries`.

use api_types::Page;
use api_types::webhook::{Delivery, DeliveryState};
use domain::WebhookId;

use crate::auth::Call;
use crate::auth::policy::WriteWebhooks;
use crate::error::{Error, Result};
use crate::list::{self, Query};
use crate::path::Id;
use crate::reply::Reply;

/// Which deliveries.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// In this state.
    state: Option<DeliveryState>,
    /// Entries at most, 1 to 200; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists an endpoint's deliveries with their attempts, newest first.
#[utoipa::path(get, path = "/webhooks/{w}/deliveries", operation_id = "list_webhook_deliveries", tag = "webhooks",
    params(("w" = WebhookId, Path, description = "The endpoint."), Ask),
    responses((status = 200, description = "A page of deliveries.", body = Page<Delivery>)))]
pub async fn handler(
    mut call: Call<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    Query(ask): Query<Ask>,
) -> Result<Reply<Page<Delivery>>> {
    let webhook = store::webhooks::get(&mut call.tx, id, &call.reach).await?;
    let limit = list::limit(ask.limit)?;
    let before = ask.cursor.as_deref().map(read_number).transpose()?;
    let state = ask.state.map(DeliveryState::as_str);
    let limit_and_one = i64::from(limit) + 1;
    let mut rows = store::webhook_deliveries::list(&mut call.tx, webhook.id, state, before, limit_and_one).await?;
    let next_cursor = list::cut(&mut rows, limit).map(|last| list::write(&[&last.number.to_string()]));
    Ok(Reply::ok(Page { items: rows.into_iter().map(view).collect::<Result<_>>()?, next_cursor }))
}

fn read_number(cursor: &str) -> Result<i64> {
    let [number] = list::read::<1>(cursor)?;
    number.parse().map_err(|_| Error::field("cursor", "invalid", "give next_cursor of the page before"))
}

fn view(delivery: store::webhook_deliveries::Delivery) -> Result<Delivery> {
    let unknown = |_| Error::internal("a word of a delivery that this version does not know");
    Ok(Delivery {
        id: delivery.id,
        event_id: delivery.event_id,
        r#type: delivery.kind.parse().map_err(unknown)?,
        state: delivery.state.parse().map_err(unknown)?,
        attempts: serde_json::from_value(delivery.attempts).map_err(Error::internal)?,
        next_at: delivery.next_at.map(Into::into),
    })
}

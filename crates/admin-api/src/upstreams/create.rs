//! `POST /upstreams`.

use api_types::upstream::{CreateUpstream, Upstream};
use domain::UpstreamId;
use time::OffsetDateTime;

use crate::auth::policy::WriteUpstreams;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::reply::Reply;
use crate::upstreams::health::Ill;
use crate::upstreams::{base_url, check_key, seal, view};
use crate::validate::Fields;

/// Adds an upstream. Its key is sealed, and in no reply.
#[utoipa::path(post, path = "/upstreams", operation_id = "create_upstream", tag = "upstreams", request_body = CreateUpstream,
    responses((status = 201, description = "The upstream.", body = Upstream, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteUpstreams>,
    Json { value: body, .. }: Json<CreateUpstream>,
) -> Result<Reply<Upstream>> {
    let row = check(&body)?;
    let key = body.api_key.as_deref().map(|key| seal(&call.app, row.id, key)).transpose()?;
    let view = view(store::upstreams::create(&mut call.tx, &row, key.as_ref()).await?, &Ill::default())?;
    call.commit(Audit::new("upstream.create", view.id).after(&view)).await?;
    Ok(Reply::created(&format!("/upstreams/{}", view.id), view.clone()).version(view.version))
}

fn check(body: &CreateUpstream) -> Result<store::upstreams::Upstream> {
    let mut fields = Fields::new();
    check_key(&mut fields, body.api_key.as_deref());
    let row = store::upstreams::Upstream {
        id: UpstreamId::generate(),
        name: fields.text("name", &body.name, 200),
        kind: body.kind.to_string(),
        base_url: base_url(&mut fields, &body.base_url),
        key_hint: None,
        key_version: 1,
        connect_timeout_ms: fields.range("connect_timeout_ms", body.connect_timeout_ms.unwrap_or(5000), 1, 60_000),
        read_timeout_ms: fields.range("read_timeout_ms", body.read_timeout_ms.unwrap_or(120_000), 1, 3_600_000),
        created_at: OffsetDateTime::UNIX_EPOCH,
        version: 1,
    };
    fields.done()?;
    Ok(row)
}

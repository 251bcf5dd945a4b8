//! `PATCH /upstreams/{u}`.

use api_types::upstream::{ChangeUpstream, Upstream};
use domain::UpstreamId;

use crate::auth::policy::WriteUpstreams;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::path::Id;
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::upstreams::health::Ill;
use crate::upstreams::{base_url, check_key, seal, view};
use crate::validate::Fields;

/// Changes an upstream; a new `api_key` replaces the old one without downtime.
#[utoipa::path(patch, path = "/upstreams/{u}", operation_id = "change_upstream", tag = "upstreams", request_body = ChangeUpstream,
    params(("u" = UpstreamId, Path, description = "The upstream."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The upstream.", body = Upstream, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteUpstreams>,
    Id(id): Id<UpstreamId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeUpstream>,
) -> Result<Reply<Upstream>> {
    let before = store::upstreams::get(&mut call.tx, id).await?;
    if_match.check(before.version)?;
    store::upstreams::update(&mut call.tx, &apply(&before, &body)?).await?;
    if let Some(key) = &body.api_key {
        let key = key.as_deref().map(|key| seal(&call.app, id, key)).transpose()?;
        store::upstreams::set_key(&mut call.tx, id, key.as_ref()).await?;
    }
    let ill = Ill::read(&mut call.tx).await?;
    let view_of = |upstream| view(upstream, &ill);
    let after = view_of(store::upstreams::get(&mut call.tx, id).await?)?;
    call.commit(Audit::new("upstream.change", id).before(&view_of(before)?).after(&after)).await?;
    let version = after.version;
    Ok(Reply::ok(after).version(version))
}

fn apply(before: &store::upstreams::Upstream, body: &ChangeUpstream) -> Result<store::upstreams::Upstream> {
    let (mut fields, mut row) = (Fields::new(), before.clone());
    check_key(&mut fields, body.api_key.as_ref().and_then(Option::as_deref));
    if let Some(name) = &body.name {
        row.name = fields.text("name", name, 200);
    }
    if let Some(url) = &body.base_url {
        row.base_url = base_url(&mut fields, url);
    }
    if let Some(ms) = body.connect_timeout_ms {
        row.connect_timeout_ms = fields.range("connect_timeout_ms", ms, 1, 60_000);
    }
    if let Some(ms) = body.read_timeout_ms {
        row.read_timeout_ms = fields.range("read_timeout_ms", ms, 1, 3_600_000);
    }
    fields.done()?;
    Ok(row)
}

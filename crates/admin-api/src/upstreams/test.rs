//! `POST /upstreams/{u}/test`.

use std::time::{Duration, Instant};

use api_types::platform::UpstreamTest;
use domain::UpstreamId;
use http::header::AUTHORIZATION;

use crate::auth::policy::WriteUpstreams;
use crate::auth::{Audit, Call};
use crate::error::{Error, Result};
use crate::path::Id;
use crate::reply::Reply;

/// The whole of it ends by then, also where a longer time is set for requests.
const WITHIN: Duration = Duration::from_secs(10);

/// Asks the upstream for its models with its key: whether it can be reached and takes the key. Nothing is charged.
#[utoipa::path(post, path = "/upstreams/{u}/test", operation_id = "test_upstream", tag = "upstreams",
    params(("u" = UpstreamId, Path, description = "The upstream.")),
    responses((status = 200, description = "What it came to.", body = UpstreamTest)))]
pub async fn handler(mut call: Call<WriteUpstreams>, Id(id): Id<UpstreamId>) -> Result<Reply<UpstreamTest>> {
    let upstream = store::upstreams::get(&mut call.tx, id).await?;
    let sealed = store::upstreams::sealed_key(&mut call.tx, id).await?;
    let key = sealed.map(|sealed| call.app.sealer().open(&id.to_string(), &sealed)).transpose()?;
    // The provider may take its time: no transaction waits for it.
    let asked = serde_json::json!({ "base_url": upstream.base_url });
    call.commit(Audit::new("upstream.test", id).after(&asked)).await?;
    let connect = Duration::from_millis(u64::try_from(upstream.connect_timeout_ms).unwrap_or(5000));
    let client = reqwest::Client::builder().connect_timeout(connect).timeout(WITHIN);
    let client = client.redirect(reqwest::redirect::Policy::none()).build().map_err(Error::internal)?;
    let mut request = client.get(domain::destination::of_route(&upstream.base_url, "/models"));
    if upstream.kind == "anthropic" {
        request = request.header("anthropic-version", "2023-06-01");
    }
    request = match (&key, upstream.kind.as_str()) {
        (None, _) => request,
        (Some(key), "anthropic") => request.header("x-api-key", key),
        (Some(key), _) => request.header(AUTHORIZATION, format!("Bearer {key}")),
    };
    let asked = Instant::now();
    let answer = request.send().await;
    let latency_ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Reply::ok(match answer {
        Ok(answer) => {
            let status = answer.status();
            let error = complaint(status.as_u16());
            UpstreamTest { ok: status.is_success(), status: Some(status.as_u16()), latency_ms, error }
        }
        Err(error) => {
            let error = Some(cause(&error.without_url()));
            UpstreamTest { ok: false, status: None, latency_ms, error }
        }
    }))
}

fn complaint(status: u16) -> Option<String> {
    Some(match status {
        200..=299 => return None,
        401 | 403 => format!("it answered {status}: it does not take the key"),
        404 | 405 => format!("it answered {status}: it lists no models under this base URL"),
        429 => "it answered 429: the account is limited or out of funds".to_owned(),
        300..=399 => format!("it answered {status}, a redirect; the base URL should be the final one"),
        _ => format!("it answered {status}"),
    })
}

/// The innermost cause says what happened.
fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

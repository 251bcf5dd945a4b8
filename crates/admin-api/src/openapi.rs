//! The OpenAPI document, generated from the handlers; what every operation has in common is added here.

use api_types::Problem;
use axum::Router;
use axum::routing::get;
use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Info, OpenApi, OpenApiBuilder, Ref, ResponseBuilder, SecurityRequirement};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::app::App;
use crate::auth::Policy;
use crate::problem;

/// An operation that the rule `P` guards: says so in the document. The handler's own `Call<P>` is what enforces it; the
/// authorisation tests compare both for every operation.
pub fn guarded<P: Policy>(mut routes: UtoipaMethodRouter<App>) -> UtoipaMethodRouter<App> {
    for operation in operations(&mut routes) {
        let callers = json!({ "roles": P::ROLES, "scopes": P::SCOPES, "platform": P::PLATFORM });
        operation.extensions.get_or_insert_default().merge(ExtensionsBuilder::new().add("x-callers", callers).build());
        let scopes: Vec<&str> = P::SCOPES.iter().map(|scope| scope.as_str()).collect();
        let mut ways = vec![SecurityRequirement::new("session", Vec::<String>::new())];
        if !scopes.is_empty() {
            ways.push(SecurityRequirement::new("service_token", scopes));
        }
        operation.security = Some(ways);
        describe_failures(operation);
    }
    routes
}

/// An operation that anyone may call.
pub fn open(mut routes: UtoipaMethodRouter<App>) -> UtoipaMethodRouter<App> {
    for operation in operations(&mut routes) {
        let callers = json!({ "anyone": true });
        operation.extensions.get_or_insert_default().merge(ExtensionsBuilder::new().add("x-callers", callers).build());
        operation.security = Some(Vec::new());
        describe_failures(operation);
    }
    routes
}

fn operations(routes: &mut UtoipaMethodRouter<App>) -> impl Iterator<Item = &mut Operation> {
    routes.1.paths.values_mut().flat_map(|item| {
        [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
    })
}

/// Every failure of every operation is a problem document.
fn describe_failures(operation: &mut Operation) {
    let failure = ResponseBuilder::new()
        .description("A failure: see `code` and `errors`.")
        .content(problem::MEDIA_TYPE, Content::new(Some(Ref::from_schema_name("Problem"))))
        .build();
    operation.responses.responses.insert("default".to_owned(), failure.into());
}

/// The document without paths.
#[must_use]
pub fn base() -> OpenApi {
    let mut info = Info::new("Tollgate admin API", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "Tenants, projects, keys, quota, models, prices and upstreams. Amounts are decimal strings, instants RFC 3339 in \
         UTC, failures problem documents (RFC 9457) with a stable `code`. `x-callers` names the roles of people and the \
         scopes of service tokens that may call an operation; anything of another tenant answers 404."
            .to_owned(),
    );
    let mut document = OpenApiBuilder::new().info(info).build();
    let components = document.components.get_or_insert_default();
    let mut schemas =
        vec![(<Problem as utoipa::ToSchema>::name().into_owned(), <Problem as utoipa::PartialSchema>::schema())];
    <Problem as utoipa::ToSchema>::schemas(&mut schemas);
    components.schemas.extend(schemas);
    let token =
        HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("A service token, `tgs_...`.")).build();
    components.add_security_scheme("service_token", SecurityScheme::Http(token));
    let cookie = ApiKeyValue::with_description(
        crate::auth::cookie::ACCESS,
        "Set by `POST /session`; changes also need the header `X-Tollgate-Csrf: 1`.",
    );
    components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    document
}

/// `/api/v1/openapi.json`.
pub fn serve(document: &OpenApi) -> anyhow::Result<Router<App>> {
    let text = axum::body::Bytes::from(document.to_json()?);
    let handler = move || {
        let text = text.clone();
        async move { ([(http::header::CONTENT_TYPE, "application/json")], text) }
    };
    Ok(Router::new().route("/api/v1/openapi.json", get(handler)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_documented_as_they_are_written() {
        let document = serde_json::to_value(crate::router::document()).unwrap();
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["TenantStatus"]["enum"], serde_json::json!(["active", "suspended", "closed"]));
        assert_eq!(schemas["TokenScope"]["enum"][0], "tenants:read");
    }
}

//! The table of contents: every operation, and who may call it.

use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::policy::{
    AcknowledgeAlerts, AnyPerson, ChangeOwnQuota, ChangeQuota, CreateTenants, ManagePeople, ManagePlatform,
    ManagePools, ManageServiceTokens, ReadAlerts, ReadAudit, ReadEvents, ReadGrants, ReadKeys, ReadLedger, ReadModels,
    ReadPlatform, ReadPrices, ReadProjects, ReadQuota, ReadTenants, ReadUpstreams, ReadUsage, Reconcile,
    SimulatePrices, WriteGrants, WriteKeys, WriteLedger, WriteModels, WritePrices, WriteProjects, WriteTenants,
    WriteUpstreams, WriteUsage, WriteWebhooks,
};
use crate::openapi::{guarded, open};
use crate::{
    alerts, audit, body, call, console, events, grants, health, invitations, keys, live, me, models, openapi,
    password_resets, platform, playground, pools, price_matrix, price_simulations, prices, problem, projects,
    quota_changes, reconciliations, requests, service_tokens, session, setup, statements, targets, tenants, upstreams,
    usage, users, webhooks,
};

/// A call that takes longer is ended; the database's own time-outs are shorter.
const CALL_WITHIN: Duration = Duration::from_secs(30);

/// The operations under their base path, in a document with our title: the outer router's is the one that is served.
fn whole() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::base()).nest("/api/v1", operations())
}

fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        // People
        .routes(open(routes!(setup::read::handler)))
        .routes(open(routes!(setup::create::handler)))
        .routes(open(routes!(session::create::handler)))
        .routes(open(routes!(session::refresh::handler)))
        .routes(guarded::<AnyPerson>(routes!(session::read::handler)))
        .routes(guarded::<AnyPerson>(routes!(session::delete::handler)))
        .routes(guarded::<AnyPerson>(routes!(me::list_sessions::handler)))
        .routes(guarded::<AnyPerson>(routes!(me::end_session::handler)))
        .routes(guarded::<AnyPerson>(routes!(me::password::handler)))
        .routes(guarded::<AnyPerson>(routes!(me::start_totp::handler)))
        .routes(guarded::<AnyPerson>(routes!(me::confirm_totp::handler)))
        .routes(guarded::<AnyPerson>(routes!(me::remove_totp::handler)))
        .routes(guarded::<ManagePeople>(routes!(users::list::handler)))
        .routes(guarded::<ManagePeople>(routes!(users::create::handler)))
        .routes(guarded::<ManagePeople>(routes!(users::change::handler)))
        .routes(guarded::<ManagePeople>(routes!(users::delete::handler)))
        .routes(open(routes!(invitations::look_up::handler)))
        .routes(open(routes!(invitations::accept::handler)))
        .routes(open(routes!(password_resets::create::handler)))
        .routes(open(routes!(password_resets::complete::handler)))
        .routes(guarded::<ReadAudit>(routes!(audit::list::handler)))
        .routes(guarded::<ReadAudit>(routes!(audit::export::handler)))
        // Systems
        .routes(guarded::<ManageServiceTokens>(routes!(service_tokens::list::handler)))
        .routes(guarded::<ManageServiceTokens>(routes!(service_tokens::create::handler)))
        .routes(guarded::<ManageServiceTokens>(routes!(service_tokens::delete::handler)))
        .routes(guarded::<ManageServiceTokens>(routes!(service_tokens::rotate::handler)))
        // Tenants
        .routes(guarded::<ReadTenants>(routes!(tenants::list::handler)))
        .routes(guarded::<CreateTenants>(routes!(tenants::create::handler)))
        .routes(guarded::<ReadTenants>(routes!(tenants::read::handler)))
        .routes(guarded::<WriteTenants>(routes!(tenants::change::handler)))
        .routes(guarded::<WriteTenants>(routes!(tenants::suspend::handler)))
        .routes(guarded::<WriteTenants>(routes!(tenants::resume::handler)))
        .routes(guarded::<WriteTenants>(routes!(tenants::close::handler)))
        .routes(guarded::<ReadQuota>(routes!(tenants::quota::handler)))
        .routes(guarded::<ReadGrants>(routes!(grants::list::handler)))
        .routes(guarded::<WriteGrants>(routes!(grants::create::handler)))
        .routes(guarded::<WriteGrants>(routes!(grants::end::handler)))
        .routes(guarded::<ReadQuota>(routes!(quota_changes::list::of_tenant)))
        .routes(guarded::<ChangeQuota>(routes!(quota_changes::create::of_tenant)))
        .routes(guarded::<ReadQuota>(routes!(quota_changes::list::of_project)))
        .routes(guarded::<ChangeOwnQuota>(routes!(quota_changes::create::of_project)))
        .routes(guarded::<ReadQuota>(routes!(quota_changes::list::of_key)))
        .routes(guarded::<ChangeOwnQuota>(routes!(quota_changes::create::of_key)))
        // Shared pools
        .routes(guarded::<ManagePools>(routes!(pools::list::handler)))
        .routes(guarded::<ManagePools>(routes!(pools::create::handler)))
        .routes(guarded::<ManagePools>(routes!(pools::read::handler)))
        .routes(guarded::<ManagePools>(routes!(pools::change::handler)))
        .routes(guarded::<ManagePools>(routes!(pools::set_member::handler)))
        .routes(guarded::<ManagePools>(routes!(pools::remove_member::handler)))
        // Both copies of the books
        .routes(guarded::<ReadQuota>(routes!(live::read::handler)))
        .routes(guarded::<ReadQuota>(routes!(live::freezes::handler)))
        .routes(guarded::<WriteLedger>(routes!(live::roll_back::handler)))
        .routes(guarded::<WriteLedger>(routes!(live::rebuild::handler)))
        .routes(guarded::<ReadAlerts>(routes!(alerts::list::handler)))
        .routes(guarded::<AcknowledgeAlerts>(routes!(alerts::acknowledge::handler)))
        .routes(guarded::<ReadLedger>(routes!(reconciliations::list::handler)))
        .routes(guarded::<Reconcile>(routes!(reconciliations::create::handler)))
        .routes(guarded::<ReadLedger>(routes!(reconciliations::snapshots::handler)))
        // Projects and keys
        .routes(guarded::<ReadProjects>(routes!(projects::list::handler)))
        .routes(guarded::<WriteProjects>(routes!(projects::create::handler)))
        .routes(guarded::<ReadProjects>(routes!(projects::read::handler)))
        .routes(guarded::<WriteProjects>(routes!(projects::change::handler)))
        .routes(guarded::<WriteProjects>(routes!(projects::archive::handler)))
        .routes(guarded::<ReadKeys>(routes!(keys::list::handler)))
        .routes(guarded::<WriteKeys>(routes!(keys::create::handler)))
        .routes(guarded::<ReadKeys>(routes!(keys::read::handler)))
        .routes(guarded::<WriteKeys>(routes!(keys::change::handler)))
        .routes(guarded::<WriteKeys>(routes!(keys::delete::handler)))
        .routes(guarded::<WriteKeys>(routes!(keys::disable::handler)))
        .routes(guarded::<WriteKeys>(routes!(keys::enable::handler)))
        .routes(guarded::<WriteKeys>(routes!(keys::rotate::handler)))
        // Events
        .routes(guarded::<ReadEvents>(routes!(events::list::handler)))
        .routes(guarded::<ReadEvents>(routes!(events::types::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::list::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::create::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::read::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::change::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::delete::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::rotate_secret::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::test::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::enable::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::deliveries::handler)))
        .routes(guarded::<WriteWebhooks>(routes!(webhooks::redeliver::handler)))
        // Catalog
        .routes(guarded::<ReadModels>(routes!(models::list::handler)))
        .routes(guarded::<WriteModels>(routes!(models::create::handler)))
        .routes(guarded::<ReadModels>(routes!(models::read::handler)))
        .routes(guarded::<WriteModels>(routes!(models::change::handler)))
        .routes(guarded::<WriteModels>(routes!(models::delete::handler)))
        .routes(guarded::<ReadModels>(routes!(targets::list::handler)))
        .routes(guarded::<WriteModels>(routes!(targets::create::handler)))
        .routes(guarded::<WriteModels>(routes!(targets::change::handler)))
        .routes(guarded::<WriteModels>(routes!(targets::delete::handler)))
        .routes(guarded::<ReadPrices>(routes!(prices::list::handler)))
        .routes(guarded::<WritePrices>(routes!(prices::create::handler)))
        .routes(guarded::<ReadPrices>(routes!(price_matrix::read::handler)))
        .routes(guarded::<WritePrices>(routes!(price_matrix::write::handler)))
        .routes(guarded::<SimulatePrices>(routes!(price_simulations::create::handler)))
        .routes(guarded::<ReadUpstreams>(routes!(upstreams::list::handler)))
        .routes(guarded::<WriteUpstreams>(routes!(upstreams::create::handler)))
        .routes(guarded::<ReadUpstreams>(routes!(upstreams::read::handler)))
        .routes(guarded::<WriteUpstreams>(routes!(upstreams::change::handler)))
        .routes(guarded::<WriteUpstreams>(routes!(upstreams::delete::handler)))
        .routes(guarded::<WriteUpstreams>(routes!(upstreams::test::handler)))
        .routes(guarded::<ManagePlatform>(routes!(upstreams::rewrap_keys::handler)))
        // Usage
        .routes(guarded::<ReadUsage>(routes!(requests::list::handler)))
        .routes(guarded::<ReadUsage>(routes!(requests::read::handler)))
        .routes(guarded::<ReadUsage>(routes!(requests::export::handler)))
        .routes(guarded::<ReadUsage>(routes!(usage::read::handler)))
        .routes(guarded::<ReadUsage>(routes!(usage::export::handler)))
        .routes(guarded::<WriteUsage>(routes!(usage::ingest::handler)))
        .routes(guarded::<ReadUsage>(routes!(statements::list::handler)))
        .routes(guarded::<ReadUsage>(routes!(statements::read::handler)))
        .routes(guarded::<AnyPerson>(routes!(playground::chat::handler)))
        // The platform
        .routes(guarded::<ReadPlatform>(routes!(platform::overview::handler)))
        .routes(guarded::<ReadPlatform>(routes!(platform::system::handler)))
        .routes(guarded::<ReadPlatform>(routes!(platform::settings::handler)))
        .routes(guarded::<ManagePlatform>(routes!(platform::change_settings::handler)))
}

/// The OpenAPI document of every operation.
#[must_use]
pub fn document() -> OpenApi {
    whole().into_openapi()
}

/// The whole service: API, its document, health.
///
/// # Errors
/// Where the document can't be written as JSON.
pub fn router(app: App) -> anyhow::Result<Router> {
    let (operations, document) = whole().split_for_parts();
    let api = operations
        .merge(openapi::serve(&document)?)
        .route("/api/{*rest}", axum::routing::any(|| async { StatusCode::NOT_FOUND }))
        .layer(
            ServiceBuilder::new()
                .layer(from_fn(problem::finish))
                .layer(SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
                .layer(SetResponseHeaderLayer::overriding(
                    header::X_CONTENT_TYPE_OPTIONS,
                    HeaderValue::from_static("nosniff"),
                ))
                .layer(CatchPanicLayer::new())
                .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, CALL_WITHIN))
                .layer(from_fn(body::buffer)),
        );
    let console = console::routes(app.config().gateway_url.as_deref());
    Ok(Router::new()
        .merge(api)
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .layer(from_fn_with_state(app.clone(), call::observe))
        .with_state(app)
        .merge(console))
}

//! A tenant with everything below it, and the catalog beside it: what the operations of the matrix are called on.

use domain::TenantId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::bodies;
use crate::world::{PASSWORD, Who, World};

/// Ids of one of everything.
pub struct Sample {
    pub tenant: String,
    pub project: String,
    pub key: String,
    pub grant: String,
    pub model: String,
    pub target: String,
    pub upstream: String,
    pub request: String,
    pub service_token: String,
    pub webhook: String,
    pub alert: String,
    /// A pool without members.
    pub pool: String,
    /// A person of the tenant.
    pub user: String,
    /// A session of that person.
    pub session: String,
}

impl Sample {
    pub async fn make(world: &World) -> Self {
        let who = &world.system;
        let name = uuid::Uuid::now_v7().to_string();
        let tenant = world.tenant(&name, "5").await.id();
        let project =
            world.post(&format!("/tenants/{tenant}/projects"), who, json!({"name": "p"})).await.expect(201).id();
        let key = world.post(&format!("/projects/{project}/keys"), who, json!({"name": "k"})).await.expect(201).id();
        let model = world.post("/models", who, bodies::model(&name)).await.expect(201).id();
        let upstream = world.post("/upstreams", who, bodies::upstream(&name)).await.expect(201).id();
        let target = json!({"upstream_id": upstream, "upstream_model": "gpt"});
        let target = world.post(&format!("/models/{model}/targets"), who, target).await.expect(201).id();
        let grants = world.get(&format!("/tenants/{tenant}/grants"), who).await.expect(200).body;
        let grant = grants["items"][0]["id"].as_str().unwrap().to_owned();
        let request = record(world, &tenant, &project, &key).await;
        let token = world.token(&["tenants:read".to_owned()], None).await;
        let service_token = token_id(world, &token).await;
        let webhook = json!({"tenant_id": tenant, "url": "https://example.com/hook", "event_types": ["quota.low"]});
        let webhook = world.post("/webhooks", who, webhook).await.expect(201).id();
        let alert = alert(world, tenant.parse().unwrap(), "urgent", "beyond_limit").await;
        let pool = world.post("/pools", who, bodies::pool(&name)).await.expect(201).id();
        let (user, session) = person(world, tenant.parse().unwrap()).await;
        Self {
            tenant,
            project,
            key,
            grant,
            model,
            target,
            upstream,
            request,
            service_token,
            webhook,
            alert,
            pool,
            user,
            session,
        }
    }

    pub fn tenant_id(&self) -> TenantId {
        self.tenant.parse().unwrap()
    }

    /// A path of the document with these ids in it.
    pub fn path(&self, template: &str) -> String {
        let id = match template.split('/').nth(1) {
            Some("service-tokens") => &self.service_token,
            Some("pools") => &self.pool,
            _ => &self.target,
        };
        template
            .replace("{t}", &self.tenant)
            .replace("{p}", &self.project)
            .replace("{k}", &self.key)
            .replace("{g}", &self.grant)
            .replace("{m}", &self.model)
            .replace("{u}", &self.upstream)
            .replace("{req}", &self.request)
            .replace("{al}", &self.alert)
            .replace("{w}", &self.webhook)
            .replace("{period}", &this_month())
            .replace("{usr}", &self.user)
            .replace("{ses}", &self.session)
            .replace("{id}", id)
    }
}

/// A person of the tenant with a session, without the cost of a password.
/// An open alert of the tenant's own account, as a comparison writes it.
pub async fn alert(world: &World, tenant: TenantId, grade: &str, kind: &str) -> String {
    let id = domain::AlertId::generate();
    let numbers = json!({"total": "100000000", "used": "90000000", "frozen": "20000000", "credit_limit": "0", "limit": "100000000",
        "refunded": "5", "version": 7});
    let trend = json!({"last_hour": "1", "day_before": "24", "same_hour_before": "0", "week": null});
    let sql = format!(
        "INSERT INTO alerts (id, grade, kind, tenant_id, scope, numbers, trend, remedy)
         VALUES ('{}', '{grade}', '{kind}', '{}', '{tenant}', '{numbers}', '{trend}', 'add a grant')",
        id.uuid(),
        tenant.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    id.to_string()
}

async fn person(world: &World, tenant: TenantId) -> (String, String) {
    let email = world.person("tenant_viewer", Some(tenant)).await;
    let mut tx = world.store.begin().await.unwrap();
    let user = store::users::by_email(&mut tx, &email).await.unwrap().id;
    let token = uuid::Uuid::now_v7();
    let new = store::sessions::NewSession {
        user_id: user,
        refresh_hash: token.as_bytes(),
        address: "127.0.0.1",
        agent: "test",
        expires_at: time::OffsetDateTime::now_utc() + time::Duration::hours(1),
    };
    let session = store::sessions::create(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
    (user.to_string(), session.to_string())
}

/// The newest session of a signed-in person.
async fn own_session(world: &World, who: &Who) -> String {
    let sessions = world.get("/me/sessions", who).await.expect(200).body;
    sessions["items"][0]["id"].as_str().unwrap().to_owned()
}

async fn token_id(world: &World, token: &Who) -> String {
    let Who::Bearer(text) = token else { unreachable!("a token") };
    let key = domain::api_key::KeyText::parse(domain::api_key::KeyKind::Service, text).unwrap();
    let mut tx = world.store.begin().await.unwrap();
    store::service_tokens::by_secret_hash(&mut tx, &key.hash(&crate::world::secret_key())).await.unwrap().id.to_string()
}

/// A recorded request of the key: 0.10 credits frozen, 0.07 charged.
pub async fn record(world: &World, tenant: &str, project: &str, key: &str) -> String {
    let id = domain::RequestId::generate();
    let uuid = |text: &str| match text.split_once('_') {
        Some(("t", _)) => text.parse::<TenantId>().unwrap().uuid(),
        Some(("p", _)) => text.parse::<domain::ProjectId>().unwrap().uuid(),
        _ => text.parse::<domain::KeyId>().unwrap().uuid(),
    };
    let (t, p, k, r) = (uuid(tenant), uuid(project), uuid(key), id.uuid());
    let sql = format!(
        "INSERT INTO usage_records (request_id, tenant_id, project_id, key_id, model, outcome, estimate, frozen, actual, usage, upstream_status)
         VALUES ('{r}', '{t}', '{p}', '{k}', 'gpt', 'final', 9000000, 10000000, 7000000, '{{\"input\": 12}}', 200);
         INSERT INTO settlements (request_id, kind, tenant_id, project_id, key_id, scopes, amount, outcome, model)
         VALUES ('{r}', 0, '{t}', '{p}', '{k}', '{{}}', 7000000, 'final', 'gpt');
         INSERT INTO allocations (request_id, kind, grant_id, amount)
         SELECT '{r}', 0, id, 7000000 FROM grants WHERE tenant_id = '{t}' ORDER BY id LIMIT 1"
    );
    world.database.execute(&sql).await.unwrap();
    id.to_string()
}

/// What the operation needs beside the sample: an upstream that a target uses can't be removed, so its target goes first; only
/// a budget can be changed by a delta.
pub async fn prepare(world: &World, operation: &str, sample: &Sample) {
    let table = match operation {
        "delete_upstream" => {
            world.delete(&format!("/targets/{}", sample.target), &world.system).await.expect(204);
            return;
        }
        "test_upstream" => {
            // Nobody listens there: the answer comes at once.
            world.database.execute("UPDATE upstreams SET base_url = 'http://127.0.0.1:1'").await.unwrap();
            return;
        }
        "remove_pool_member" => {
            let (pool, tenant) = (sample.pool.parse::<domain::PoolId>().unwrap().uuid(), sample.tenant_id().uuid());
            let sql = format!(
                "INSERT INTO pool_members (tenant_id, pool_id, weight) VALUES ('{tenant}', '{pool}', 1) ON CONFLICT DO NOTHING"
            );
            world.database.execute(&sql).await.unwrap();
            return;
        }
        "change_project_quota" => "projects",
        "change_key_quota" => "api_keys",
        _ => return,
    };
    let tenant = sample.tenant_id().uuid();
    let sql =
        format!("UPDATE {table} SET budget_amount = 300000000, budget_period = 'month' WHERE tenant_id = '{tenant}'");
    world.database.execute(&sql).await.unwrap();
}

/// The present month of UTC, as a statement's period.
pub fn this_month() -> String {
    let now = time::OffsetDateTime::now_utc();
    format!("{:04}-{:02}", now.year(), u8::from(now.month()))
}

/// What the operation needs of its caller: a session of their own to end, a second factor to confirm or remove.
pub async fn prepare_person(world: &World, operation: &str, sample: &mut Sample, who: &Who) -> Option<Value> {
    match operation {
        "end_own_session" => sample.session = own_session(world, who).await,
        "confirm_totp" | "remove_totp" => {
            let secret = world.send(world.request(Method::POST, "/me/totp", who)).await.expect(200).body;
            let code = code(secret["secret"].as_str().unwrap(), 0);
            if operation == "confirm_totp" {
                return Some(json!({"code": code}));
            }
            let confirm = world.request(Method::PUT, "/me/totp", who).json(&json!({"code": code}));
            let codes = world.send(confirm).await.expect(200).body;
            return Some(json!({"code": codes["recovery_codes"][0]}));
        }
        _ => {}
    }
    None
}

/// The code of a second factor, so many steps of 30 s from now.
pub fn code(secret: &str, steps: i64) -> String {
    let secret = totp_rs::Secret::try_from_base32(secret).unwrap();
    let totp = totp_rs::Builder::new().with_secret(secret).build().unwrap();
    let now = time::OffsetDateTime::now_utc().unix_timestamp() + steps * 30;
    totp.generate(u64::try_from(now).unwrap()).to_string()
}

/// A body that the operation takes.
pub fn body(operation: &str, sample: &Sample) -> Option<Value> {
    let name = uuid::Uuid::now_v7().to_string();
    Some(match operation {
        "create_user" => {
            json!({"email": format!("{name}@example.com"), "role": "tenant_viewer", "tenant_id": sample.tenant})
        }
        "change_user" => json!({"name": "changed", "role": "tenant_owner"}),
        "change_own_password" => json!({"current": PASSWORD, "new": "another horse battery"}),
        "confirm_totp" | "remove_totp" => json!({"code": "000000"}),
        "create_service_token" => json!({"name": "t", "scopes": ["tenants:read"]}),
        "create_tenant" => json!({"name": "t", "plan": {"amount": "1"}}),
        "change_tenant" => json!({"name": "changed"}),
        "ingest_usage" => {
            json!({"key_id": sample.key, "model": "m", "charge": "0.01", "reference": name, "occurred_at": "2026-01-01T00:00:00Z"})
        }
        "change_settings" => json!({"retention": {"events_days": 60}}),
        "acknowledge_alert" => json!({"note": "seen"}),
        "reconcile" => json!({"tenant_id": sample.tenant, "dry_run": true}),
        "simulate_prices" => json!({"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z",
            "prices": [{"model": "gpt", "price": {"input": "1", "output": "2"}}]}),
        "write_price_matrix" => json!({"models": []}),
        "playground_chat" => json!({"key": crate::playground::key(), "model": "m", "messages": []}),
        "archive_project" | "test_upstream" | "rewrap_upstream_keys" => json!({}),
        "suspend_tenant" | "resume_tenant" | "close_tenant" | "disable_key" | "enable_key" | "end_grant"
        | "roll_back_freeze" => {
            json!({"reason": "test"})
        }
        "rebuild_tenant" => json!({"dry_run": false}),
        "change_tenant_quota" => json!({"delta": "-1", "reason": "test"}),
        "change_project_quota" | "change_key_quota" => json!({"delta": "1", "reason": "test"}),
        "create_grant" => json!({"kind": "gift", "amount": "1.5"}),
        "create_project" => json!({"name": "p", "budget": {"amount": "3", "period": "month"}}),
        "change_project" => json!({"name": "changed", "limits": {"rpm": 5}}),
        "change_key" => json!({"name": "changed", "limits": {"in_flight": 5}}),
        "create_key" => json!({"name": "k", "models": null}),
        "create_model" => bodies::model(&name),
        "change_model" => json!({"max_output_tokens": 10}),
        "create_target" => json!({"upstream_id": sample.upstream, "upstream_model": "m"}),
        "change_target" => json!({"weight": 3}),
        "create_price" => json!({"input": "1", "output": "2"}),
        "create_upstream" => bodies::upstream(&name),
        "change_upstream" => json!({"read_timeout_ms": 1000}),
        "create_pool" => bodies::pool(&name),
        "change_pool" => json!({"guaranteed_percent": 40}),
        "set_pool_member" => json!({"weight": 3}),
        "create_webhook" => json!({"url": "https://example.com/hook", "event_types": ["quota.low"]}),
        "rotate_key" | "rotate_service_token" => json!({"grace_s": 60}),
        "rotate_webhook_secret" | "test_webhook" | "enable_webhook" => json!({}),
        "change_webhook" => json!({"description": "changed"}),
        "redeliver_webhook" => json!({"from": "2020-01-01T00:00:00Z"}),
        "sign_out"
        | "read_session"
        | "list_users"
        | "delete_user"
        | "list_own_sessions"
        | "end_own_session"
        | "start_totp"
        | "list_audit"
        | "export_audit"
        | "list_service_tokens"
        | "delete_service_token"
        | "list_tenants"
        | "read_tenant"
        | "read_tenant_quota"
        | "read_tenant_live"
        | "list_alerts"
        | "list_reconciliations"
        | "list_snapshots"
        | "list_freezes"
        | "list_grants"
        | "list_tenant_quota_changes"
        | "list_project_quota_changes"
        | "list_key_quota_changes"
        | "list_projects"
        | "list_pools"
        | "read_pool"
        | "remove_pool_member"
        | "read_project"
        | "list_keys"
        | "read_key"
        | "delete_key"
        | "list_models"
        | "read_model"
        | "delete_model"
        | "list_targets"
        | "delete_target"
        | "list_prices"
        | "read_price_matrix"
        | "list_upstreams"
        | "read_upstream"
        | "delete_upstream"
        | "list_webhooks"
        | "read_webhook"
        | "delete_webhook"
        | "list_webhook_deliveries"
        | "list_events"
        | "list_event_types"
        | "list_requests"
        | "export_requests"
        | "read_usage"
        | "export_usage"
        | "list_statements"
        | "read_statement"
        | "read_overview"
        | "read_system"
        | "read_settings"
        | "read_request" => return None,
        other => panic!("the operation {other} is new: give it a row here, with a body that it takes"),
    })
}

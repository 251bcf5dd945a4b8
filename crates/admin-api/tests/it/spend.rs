//! Charges as gateways and the reconciler record them.

use domain::record::Outcome;
use domain::{Amount, KeyId, PeriodLabel, ProjectId, RequestId, Scope, TenantId, Usage, UsageRecord};
use store::record::OutcomeRow;

use crate::world::World;

/// Who pays.
#[derive(Debug, Clone, Copy)]
pub struct Payer {
    pub tenant: TenantId,
    pub project: ProjectId,
    pub key: KeyId,
}

impl Payer {
    /// A tenant with a plan, a project and a key.
    pub async fn make(world: &World, name: &str, plan: &str) -> Self {
        let tenant = world.tenant(name, plan).await.id();
        Self::of(world, &tenant).await
    }

    /// Another project and key of a tenant.
    pub async fn of(world: &World, tenant: &str) -> Self {
        let body = serde_json::json!({"name": "x"});
        let project =
            world.post(&format!("/tenants/{tenant}/projects"), &world.system, body.clone()).await.expect(201).id();
        let key = world.post(&format!("/projects/{project}/keys"), &world.system, body).await.expect(201).id();
        let (tenant, project, key) = (tenant.parse().unwrap(), project.parse().unwrap(), key.parse().unwrap());
        Self { tenant, project, key }
    }

    pub fn row(&self, model: &str, outcome: Outcome, units: i64, usage: Usage) -> OutcomeRow {
        let request_id = RequestId::generate();
        OutcomeRow {
            request_id,
            tenant_id: self.tenant,
            scopes: vec![
                Scope::Key(self.key, PeriodLabel::none()),
                Scope::Project(self.project, PeriodLabel::none()),
                Scope::Tenant(self.tenant),
            ],
            outcome,
            amount: Amount::new(units).unwrap(),
            frozen: Amount::new(500).unwrap(),
            version: i64::MAX,
            record: UsageRecord {
                request_id,
                client_request_id: None,
                tenant_id: self.tenant,
                project_id: self.project,
                key_id: self.key,
                model: model.to_owned(),
                served_model: None,
                estimate: Amount::ZERO,
                frozen: Amount::new(500).unwrap(),
                extensions: 0,
                usage,
                attempts: Vec::new(),
                upstream_status: Some(200),
                estimated: usage == Usage::default(),
                overrun: false,
                started_at: None,
                frozen_at: None,
                first_byte_at: None,
                ended_at: None,
            },
        }
    }
}

/// Records it, in a transaction of its own.
pub async fn book(world: &World, row: &OutcomeRow) {
    let mut tx = world.store.begin().await.unwrap();
    store::load::load(&mut tx, row.tenant_id, &row.scopes).await.unwrap();
    store::record::record(&mut tx, std::slice::from_ref(row)).await.unwrap();
    tx.commit().await.unwrap();
}

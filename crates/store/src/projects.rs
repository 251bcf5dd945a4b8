//! Projects of a tenant.

use domain::{Amount, Limits, ProjectId, SoftBudget, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach, Window};

/// A project as stored.
#[derive(Debug, Clone)]
pub struct Project {
    /// Id.
    pub id: ProjectId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Name.
    pub name: String,
    /// `active` or `archived`.
    pub status: String,
    /// How much per period; in the tenant's unit.
    pub budget: Option<Budget>,
    /// What happens from a percentage of the budget on.
    pub soft_budget: Option<SoftBudget>,
    /// Rates, in-flight and the most for one request, over all of its keys.
    pub limits: Limits,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

/// What an account of a project's or key's period begins with.
pub(crate) struct Owner {
    pub budget: Option<i64>,
    pub limits: serde_json::Value,
    pub unit: String,
}

/// The project's, held against changes until the transaction's end; a change that is under way is waited for.
pub(crate) async fn owner(conn: &mut PgConnection, tenant: TenantId, id: ProjectId) -> Result<Option<Owner>, Error> {
    let owner = sqlx::query_as!(
        Owner,
        r#"SELECT p.budget_amount AS "budget: i64", p.limits, t.unit FROM projects p JOIN tenants t ON t.id = p.tenant_id
           WHERE p.id = $1 AND p.tenant_id = $2 FOR SHARE OF p"#,
        id.uuid(),
        tenant.uuid(),
    );
    Ok(owner.fetch_optional(conn).await?)
}

/// An amount per period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// How much.
    pub amount: Amount,
    /// `day`, `week`, `month` or `year`.
    pub period: String,
}

impl Budget {
    /// Reads the two columns; a check in the schema keeps them null together.
    pub(crate) fn read(amount: Option<i64>, period: Option<String>) -> Result<Option<Self>, Error> {
        let (Some(units), Some(period)) = (amount, period) else { return Ok(None) };
        let amount = Amount::new(units).map_err(|why| Error::corrupt("budget_amount", why))?;
        Ok(Some(Self { amount, period }))
    }
}

struct Row {
    id: Uuid,
    tenant_id: Uuid,
    name: String,
    status: String,
    budget_amount: Option<i64>,
    budget_period: Option<String>,
    soft_budget: Option<serde_json::Value>,
    limits: serde_json::Value,
    created_at: OffsetDateTime,
    version: i64,
}

impl TryFrom<Row> for Project {
    type Error = Error;
    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: ProjectId::from_uuid(row.id),
            tenant_id: TenantId::from_uuid(row.tenant_id),
            name: row.name,
            status: row.status,
            budget: Budget::read(row.budget_amount, row.budget_period)?,
            soft_budget: read_soft(row.soft_budget)?,
            limits: serde_json::from_value(row.limits).map_err(|why| Error::corrupt("projects.limits", why))?,
            created_at: row.created_at,
            version: row.version,
        })
    }
}

/// A soft budget as stored.
pub(crate) fn read_soft(stored: Option<serde_json::Value>) -> Result<Option<SoftBudget>, Error> {
    stored.map(serde_json::from_value).transpose().map_err(|why| Error::corrupt("projects.soft_budget", why))
}

fn write_soft(soft: Option<&SoftBudget>) -> Result<Option<serde_json::Value>, Error> {
    soft.map(serde_json::to_value).transpose().map_err(|why| Error::corrupt("projects.soft_budget", why))
}

/// Creates a project. Its account is the caller's next step, in the same transaction.
///
/// # Errors
/// Those of Postgres.
pub async fn create(
    conn: &mut PgConnection,
    tenant: TenantId,
    name: &str,
    budget: Option<&Budget>,
    soft_budget: Option<&SoftBudget>,
    limits: &Limits,
) -> Result<Project, Error> {
    let id = ProjectId::generate();
    sqlx::query!(
        "INSERT INTO projects (id, tenant_id, name, budget_amount, budget_period, limits, soft_budget)
         VALUES ($1, $2, $3, $4::bigint, $5, $6, $7)",
        id.uuid(),
        tenant.uuid(),
        name,
        budget.map(|budget| budget.amount.units()),
        budget.map(|budget| budget.period.as_str()),
        json(limits)?,
        write_soft(soft_budget)?,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id, &Reach::All).await
}

/// Limits as stored.
pub(crate) fn json(limits: &Limits) -> Result<serde_json::Value, Error> {
    serde_json::to_value(limits).map_err(|why| Error::corrupt("limits", why))
}

/// Writes what may change of a project whose tenant is locked.
///
/// # Errors
/// `NotFound`.
pub async fn update(conn: &mut PgConnection, project: &Project) -> Result<Project, Error> {
    sqlx::query!(
        "UPDATE projects SET name = $2, limits = $3, soft_budget = $4, updated_at = now(), version = version + 1 WHERE id = $1",
        project.id.uuid(),
        project.name,
        json(&project.limits)?,
        write_soft(project.soft_budget.as_ref())?,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, project.id, &Reach::All).await
}

/// Archives a project.
///
/// # Errors
/// `NotFound`.
pub async fn archive(conn: &mut PgConnection, id: ProjectId) -> Result<Project, Error> {
    sqlx::query!(
        "UPDATE projects SET status = 'archived', updated_at = now(), version = version + 1 WHERE id = $1",
        id.uuid(),
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id, &Reach::All).await
}

/// Reads a project within reach.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: ProjectId, reach: &Reach) -> Result<Project, Error> {
    let within = reach.ids();
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, tenant_id, name, status, budget_amount AS "budget_amount: i64", budget_period, soft_budget, limits, created_at, version
           FROM projects WHERE id = $1 AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2))"#,
        id.uuid(),
        within.as_deref(),
    )
    .fetch_one(conn)
    .await?;
    row.try_into()
}

/// Lists a tenant's projects; the caller has checked its reach.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, tenant: TenantId, window: Window) -> Result<Vec<Project>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, tenant_id, name, status, budget_amount AS "budget_amount: i64", budget_period, soft_budget, limits, created_at, version
           FROM projects WHERE tenant_id = $1 AND ($2::uuid IS NULL OR CASE WHEN $3 THEN id > $2 ELSE id < $2 END)
           ORDER BY CASE WHEN $3 THEN id END, id DESC LIMIT $4"#,
        tenant.uuid(),
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Project::try_from).collect()
}

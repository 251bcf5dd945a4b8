//! `POST /projects/{p}/keys`.

use api_types::key::{CreateKey, Key};
use domain::api_key::{KeyKind, KeyText};
use domain::{Limits, ProjectId, Unit};
use store::keys::NewKey;
use store::projects::Budget;

use crate::auth::policy::WriteKeys;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::keys::{events, fields, view};
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::projects::budget;
use crate::reply::Reply;
use crate::validate::Fields;
use crate::{limits, scopes};

/// Creates a key and opens its account. The secret is in this reply and nowhere else.
#[utoipa::path(post, path = "/projects/{p}/keys", operation_id = "create_key", tag = "keys", request_body = CreateKey,
    params(("p" = ProjectId, Path, description = "The project.")),
    responses((status = 201, description = "The key with its secret.", body = Key, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteKeys>,
    Id(id): Id<ProjectId>,
    Json { value: body, .. }: Json<CreateKey>,
) -> Result<Reply<Key>> {
    let project = store::projects::get(&mut call.tx, id, &call.reach).await?;
    let tenant = store::tenants::lock(&mut call.tx, project.tenant_id, &call.reach).await?;
    if tenant.status == "closed" || project.status != "active" {
        return Err(Error::conflict("the project is archived or its tenant is closed: it takes no new keys"));
    }
    let unit = unit(&tenant)?;
    let checked = check(&mut call, &body, unit).await?;
    let secret = KeyText::generate(KeyKind::Api, &rand::random());
    let hash = secret.hash(call.app.secret());
    let key = store::keys::create(&mut call.tx, &checked.row(&project, &body, &hash, secret.shown())).await?;
    let present = scopes::key(&tenant, &key)?;
    store::accounts::create(&mut call.tx, &present.account(tenant.id)).await?;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let mut view = view(key, unit, quota)?;
    events::created(&mut call, &view).await?;
    call.commit(Audit::new("key.create", view.id).of(tenant.id).after(&view)).await?;
    view.secret = Some(secret.expose().to_owned());
    let (path, version) = (format!("/keys/{}", view.id), view.version);
    Ok(Reply::created(&path, view).version(version))
}

struct Checked {
    name: String,
    budget: Option<Budget>,
    ip_ranges: Option<Vec<String>>,
    safety_factor: Option<String>,
    limits: Limits,
}

impl Checked {
    fn row<'a>(
        &'a self,
        project: &store::projects::Project,
        body: &'a CreateKey,
        hash: &'a [u8],
        prefix: &'a str,
    ) -> NewKey<'a> {
        NewKey {
            tenant_id: project.tenant_id,
            project_id: project.id,
            name: &self.name,
            secret_hash: hash,
            prefix,
            budget: self.budget.as_ref(),
            models: body.models.as_deref(),
            ip_ranges: self.ip_ranges.as_deref(),
            expires_at: body.expires_at.map(Into::into),
            safety_factor: self.safety_factor.as_deref(),
            limits: &self.limits,
        }
    }
}

async fn check(call: &mut Call<WriteKeys>, body: &CreateKey, unit: Unit) -> Result<Checked> {
    let mut fields = Fields::new();
    let name = fields.text("name", &body.name, 200);
    let budget = budget(&mut fields, body.budget.as_ref(), unit);
    let ip_ranges = body.ip_ranges.as_ref().map(|ranges| fields::ip_ranges(&mut fields, ranges));
    let safety_factor = body.safety_factor.as_ref().map(|factor| fields::safety_factor(&mut fields, factor));
    let limits = limits::apply(&mut fields, &Limits::default(), body.limits.as_ref(), unit);
    fields::expires_at(&mut fields, body.expires_at);
    if let Some(models) = &body.models {
        fields::models(call, &mut fields, models).await?;
    }
    fields.done()?;
    Ok(Checked { name, budget, ip_ranges, safety_factor, limits })
}

//! `POST /projects/{p}/keys`.

use api_types::key::{CreateKey, Key};
use domain::api_key::{KeyKind, KeyText};
use domain::{Amount, ProjectId, Unit};
use ipnet::IpNet;
use store::accounts::NewAccount;
use store::keys::NewKey;
use store::projects::Budget;
use time::OffsetDateTime;

use crate::auth::policy::WriteKeys;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::keys::view;
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::projects::budget;
use crate::reply::Reply;
use crate::scopes;
use crate::validate::Fields;

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
    let account = NewAccount {
        scope: present.scope.clone(),
        tenant_id: tenant.id,
        total: present.budget,
        credit_limit: Amount::ZERO,
        overdraft_limit: Amount::ZERO,
        overdraft_percent: None,
    };
    store::accounts::create(&mut call.tx, &account).await?;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let mut view = view(key, unit, quota)?;
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
        }
    }
}

async fn check(call: &mut Call<WriteKeys>, body: &CreateKey, unit: Unit) -> Result<Checked> {
    let mut fields = Fields::new();
    let name = fields.text("name", &body.name, 200);
    let budget = budget(&mut fields, body.budget.as_ref(), unit);
    let ip_ranges = body.ip_ranges.as_ref().map(|ranges| ip_ranges(&mut fields, ranges));
    let safety_factor =
        body.safety_factor.as_ref().map(|factor| fields.factor("safety_factor", factor, 10_000, 100_000));
    let in_future = body.expires_at.is_none_or(|at| at.instant() > OffsetDateTime::now_utc());
    fields.check(in_future, "expires_at", "out_of_range", "must be in the future");
    if let Some(models) = &body.models {
        fields.check(
            (1..=1000).contains(&models.len()),
            "models",
            "out_of_range",
            "name 1 to 1000 models, or leave it out for every model",
        );
        for name in store::models::unknown_names(&mut call.tx, models).await? {
            fields.refuse("models", "not_found", format!("there is no model {name:?}"));
        }
    }
    fields.done()?;
    Ok(Checked { name, budget, ip_ranges, safety_factor })
}

/// Ranges in their canonical form; a single address is a range of one.
fn ip_ranges(fields: &mut Fields, ranges: &[String]) -> Vec<String> {
    fields.check(
        (1..=1000).contains(&ranges.len()),
        "ip_ranges",
        "out_of_range",
        "name 1 to 1000 ranges, or leave it out for everywhere",
    );
    let mut read = Vec::new();
    for (index, text) in ranges.iter().enumerate() {
        let range = text.parse::<IpNet>().or_else(|_| text.parse::<std::net::IpAddr>().map(IpNet::from));
        match range {
            Ok(range) => read.push(range.trunc().to_string()),
            Err(_) => fields.refuse(
                &format!("ip_ranges[{index}]"),
                "invalid",
                "must be a range such as 192.0.2.0/24 or 2001:db8::/32",
            ),
        }
    }
    read
}

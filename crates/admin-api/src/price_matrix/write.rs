//! `PUT /price-matrix`.

use api_types::matrix::{ChangedModel, MatrixChanges, PriceMatrix};

use super::apply::{self, Step};
use super::differ;
use super::stored::{MOST, Stored};
use crate::auth::policy::WritePrices;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::list::Query;
use crate::reply::Reply;
use crate::validate::Fields;

/// Whether it is only looked at.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Ask {
    /// `true`: says what would change, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Makes the catalog what the file says, wholly or not at all: models that are not in it go, others are added and changed, a
/// price that differs begins as a new one. In force on every gateway within a second. Try it with `dry_run=true` first.
#[utoipa::path(put, path = "/price-matrix", operation_id = "write_price_matrix", tag = "prices", request_body = PriceMatrix,
    params(Ask), responses((status = 200, description = "What changed, or would.", body = MatrixChanges)))]
pub async fn handler(
    mut call: Call<WritePrices>,
    Query(ask): Query<Ask>,
    Json { value: body, .. }: Json<PriceMatrix>,
) -> Result<Reply<MatrixChanges>> {
    let stored = Stored::read(&mut call.tx).await?;
    let steps = compare(&stored, &body)?;
    let changes = described(&steps, ask.dry_run);
    if ask.dry_run {
        return Ok(Reply::ok(changes));
    }
    for step in &steps {
        apply::apply(&mut call.tx, step).await?;
    }
    // What nobody changed needs no entry; the call is one all the same.
    call.commit(Audit::new("price_matrix.write", "price_matrix").after(&changes)).await?;
    Ok(Reply::ok(changes))
}

/// Everything that is to be done; refuses the file as a whole where a part of it can't be.
fn compare<'a>(stored: &'a Stored, body: &PriceMatrix) -> Result<Vec<Step<'a>>> {
    let mut fields = Fields::new();
    let fits = i64::try_from(body.models.len()).is_ok_and(|count| count <= MOST);
    fields.check(fits, "models", "out_of_range", &format!("at most {MOST} models"));
    let mut names = std::collections::HashSet::new();
    let mut steps = Vec::new();
    for (index, model) in body.models.iter().enumerate() {
        let path = format!("models[{index}]");
        let is_new = names.insert(model.name.trim());
        fields.check(is_new, &format!("{path}.name"), "already_exists", "the file has this model twice");
        let before = stored.models.iter().find(|entry| entry.row.name == model.name.trim());
        let differences = match before {
            Some(entry) => differ::differences(&entry.shown, model)?,
            None => Vec::new(),
        };
        let step = fields.within(&path, |fields| apply::step(fields, stored, before, model, differences))?;
        steps.push(step);
    }
    fields.done()?;
    let gone = stored.models.iter().filter(|entry| !names.contains(entry.row.name.as_str()));
    steps.extend(gone.map(Step::Remove));
    Ok(steps)
}

fn described(steps: &[Step<'_>], dry_run: bool) -> MatrixChanges {
    let mut changes =
        MatrixChanges { dry_run, added: Vec::new(), changed: Vec::new(), removed: Vec::new(), unchanged: 0 };
    for step in steps {
        match step {
            Step::Keep => changes.unchanged += 1,
            Step::Add(work) => changes.added.push(work.model.name.clone()),
            Step::Change(work, differences) => {
                changes.changed.push(ChangedModel { name: work.model.name.clone(), differences: differences.clone() });
            }
            Step::Remove(entry) => changes.removed.push(entry.row.name.clone()),
        }
    }
    changes
}

//! `GET /tenants/{t}/statements/{period}`.

use api_types::statement::Statement;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ReadUsage;
use crate::error::{Error, Result};
use crate::numbers::unit;
use crate::path::Ids;
use crate::reply::Reply;
use crate::statements::{Calendar, line, statements};
use crate::usage::offset;

/// A period's statement with its lines. `{period}` is the label of a listed one, such as `m20261101`; `2026-11` is the
/// period of a month that begins in November 2026.
#[utoipa::path(get, path = "/tenants/{t}/statements/{period}", operation_id = "read_statement", tag = "usage",
    params(("t" = TenantId, Path, description = "The tenant."), ("period" = String, Path, description = "The period's label.")),
    responses((status = 200, description = "The statement.", body = Statement)))]
pub async fn handler(mut call: Call<ReadUsage>, Ids(id, name): Ids<TenantId, String>) -> Result<Reply<Statement>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let calendar = Calendar::of(&tenant)?;
    let period = calendar.named(&name).ok_or_else(Error::not_found)?;
    let (from, to) = (offset(period.start)?, offset(period.end)?);
    let lines = store::statements::lines(&mut call.tx, id, from, to).await?;
    // Its charge is that of these very lines, whatever is recorded meanwhile.
    let mut statements = statements(&mut call, &tenant, &calendar, &[period], Some(&lines)).await?;
    let mut statement = statements.pop().ok_or_else(|| Error::internal("no statement"))?;
    let unit = unit(&tenant)?;
    statement.lines = Some(lines.into_iter().map(|of| line(of, unit)).collect::<Result<_>>()?);
    Ok(Reply::ok(statement))
}

//! One tenant's grants and its account while they change: read under the account's lock, changed in memory, written at once
//! as rows, events and the account's next version.

use domain::grant::{GrantBalance, GrantKind, GrantStatus, burn_order, repay};
use domain::{Amount, GrantId, Scope, Snapshot, TenantId};
use jiff::Timestamp;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::NewGrant;
use crate::{Error, accounts, instant};

/// A grant in the book.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub balance: GrantBalance,
    pub started_version: Option<i64>,
    pub ended_version: Option<i64>,
    pub is_changed: bool,
}

/// A row of `grant_events` to be written.
#[derive(Debug)]
pub(super) struct Event {
    pub grant: Uuid,
    pub kind: &'static str,
    pub delta: i64,
    pub repaid: i64,
    /// What was left of a grant that ended.
    pub unused: i64,
}

/// A tenant's grants, opened for one change.
#[derive(Debug)]
pub(crate) struct Book {
    pub(super) tenant_id: TenantId,
    /// Postgres' clock when it was opened.
    pub(crate) now: Timestamp,
    /// The version that this change makes.
    pub(super) version: i64,
    pub(super) total: i64,
    pub(super) used: i64,
    pub(super) lapse_version: i64,
    pub(super) lapsed: i64,
    /// Added to the lifetime sum.
    pub(super) granted: i64,
    pub(super) entries: Vec<Entry>,
    /// Rows of `grants` to be written, with who gave them and the remark.
    pub(super) given: Vec<NewGrant>,
    pub(super) events: Vec<Event>,
}

impl Book {
    /// Locks the tenant's account and reads its grants that are pending or in force.
    ///
    /// # Errors
    /// `NotFound` without an account; what Postgres refused.
    pub(crate) async fn open(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Self, Error> {
        let scope = Scope::Tenant(tenant_id);
        let locked = accounts::lock(conn, std::slice::from_ref(&scope)).await?;
        let account = locked.into_iter().next().ok_or(Error::NotFound)?;
        let now = sqlx::query_scalar!(r#"SELECT clock_timestamp() AS "now!""#).fetch_one(&mut *conn).await?;
        Ok(Self {
            tenant_id,
            now: instant::read("clock", now)?,
            version: account.version + 1,
            total: account.total.unwrap_or_default().units(),
            used: account.used.units(),
            lapse_version: account.lapse_version,
            lapsed: account.lapsed.units(),
            granted: 0,
            entries: read(conn, tenant_id).await?,
            given: Vec::new(),
            events: Vec::new(),
        })
    }

    /// Whose grants.
    pub(crate) const fn tenant_id(&self) -> TenantId {
        self.tenant_id
    }

    /// The grants as they stand in the book.
    pub(crate) fn balances(&self) -> Vec<GrantBalance> {
        self.entries.iter().map(|entry| entry.balance.clone()).collect()
    }

    /// A grant of the book.
    pub(crate) fn balance(&self, id: GrantId) -> Option<&GrantBalance> {
        self.entries.iter().map(|entry| &entry.balance).find(|balance| balance.id == id)
    }

    /// Enters a new grant and starts it where its beginning has come.
    pub(crate) fn give(&mut self, grant: NewGrant) -> Result<(), Error> {
        let starts_at =
            grant.starts_at.map(|at| instant::read("grants.starts_at", at)).transpose()?.unwrap_or(self.now);
        let ends_at = grant.ends_at.map(|at| instant::read("grants.ends_at", at)).transpose()?;
        let kind = GrantKind::parse(&grant.kind).ok_or_else(|| Error::corrupt("grants.kind", &grant.kind))?;
        let balance = GrantBalance {
            id: grant.id,
            kind,
            priority: grant.priority,
            amount: grant.amount,
            used: Amount::ZERO,
            starts_at,
            ends_at,
            created_at: self.now,
            status: GrantStatus::Pending,
        };
        let id = grant.id;
        self.granted += grant.amount.units();
        self.event(id, "created", 0, 0);
        self.given.push(grant);
        self.entries.push(Entry { balance, started_version: None, ended_version: None, is_changed: true });
        if starts_at <= self.now { self.start(id) } else { Ok(()) }
    }

    /// Puts a pending grant in force. What is used beyond the other grants (debt first, then overdraft and credit line) is
    /// borne by it at once.
    pub(crate) fn start(&mut self, id: GrantId) -> Result<(), Error> {
        let (uncovered, version) = (self.uncovered(), self.version);
        let entry = self.entry(id)?;
        let given = entry.balance.amount;
        let repaid = repay(Amount::new(uncovered).unwrap_or(Amount::MAX), given);
        entry.balance.status = GrantStatus::InForce;
        entry.balance.used = repaid;
        entry.started_version = Some(version);
        self.total += given.units();
        self.event(id, "started", given.units(), repaid.units());
        Ok(())
    }

    /// Ends a grant: its amount and its spending leave the account together. What was left of it stays usable for requests
    /// that were frozen at a lower version, unless the grant began in this same change.
    pub(crate) fn end(&mut self, id: GrantId, status: GrantStatus) -> Result<(), Error> {
        let version = self.version;
        let entry = self.entry(id)?;
        let was_in_force = entry.balance.status == GrantStatus::InForce;
        let began_before = entry.started_version.is_some_and(|started| started < version);
        entry.balance.status = status;
        entry.ended_version = Some(version);
        let (amount, used) = (entry.balance.amount.units(), entry.balance.used.units());
        if was_in_force {
            self.total -= amount;
            self.used -= used;
            if began_before {
                if self.lapse_version != version {
                    (self.lapse_version, self.lapsed) = (version, 0);
                }
                self.lapsed += amount - used;
            }
        }
        let (delta, unused) = if was_in_force { (-amount, amount - used) } else { (0, 0) };
        self.events.push(Event { grant: id.uuid(), kind: status.as_str(), delta, repaid: 0, unused });
        Ok(())
    }

    /// Changes what a grant gives by `delta`, never below zero. Raised, it bears what is owed; lowered below what was spent of
    /// it, the spending stays with the account: credit line, overdraft or debt.
    pub(crate) fn adjust(&mut self, id: GrantId, delta: i64) -> Result<(), Error> {
        let uncovered = self.uncovered();
        let entry = self.entry(id)?;
        let amount = entry.balance.amount.units() + delta;
        entry.balance.amount = Amount::new(amount).map_err(|why| Error::corrupt("grant_balances.amount", why))?;
        let mut repaid = 0;
        let is_in_force = entry.balance.status == GrantStatus::InForce;
        if is_in_force {
            let used = entry.balance.used.units();
            repaid = if delta > 0 { uncovered.min(delta) } else { (amount - used).min(0) };
            entry.balance.used =
                Amount::new(used + repaid).map_err(|why| Error::corrupt("grant_balances.used", why))?;
            self.total += delta;
        }
        self.granted += delta;
        self.event(id, "adjusted", if is_in_force { delta } else { 0 }, repaid);
        Ok(())
    }

    /// Raises the grant that is spent last by `units`. False, and nothing changed, where none is in force.
    pub(crate) fn raise(&mut self, units: i64) -> Result<bool, Error> {
        let in_force = self.balances().into_iter().filter(|grant| grant.status == GrantStatus::InForce);
        let Some(last) = in_force.max_by(burn_order) else { return Ok(false) };
        self.adjust(last.id, units)?;
        Ok(true)
    }

    /// Takes `units` from the grants in force in reverse burn order: first what is left of them, then what was spent.
    /// False, and nothing changed, where they do not give that much in all.
    pub(crate) fn decrease(&mut self, units: i64) -> Result<bool, Error> {
        let mut grants: Vec<GrantBalance> =
            self.balances().into_iter().filter(|grant| grant.status == GrantStatus::InForce).collect();
        grants.sort_by(|a, b| burn_order(b, a));
        if grants.iter().map(|grant| grant.amount.units()).sum::<i64>() < units {
            return Ok(false);
        }
        let mut left = units;
        let mut taken: Vec<(GrantId, i64)> = Vec::new();
        for grant in &grants {
            let part = grant.remaining().units().min(left);
            left -= part;
            taken.push((grant.id, part));
        }
        for (grant, (_, part)) in grants.iter().zip(&mut taken) {
            let more = (grant.amount.units() - *part).min(left);
            left -= more;
            *part += more;
        }
        for (id, part) in taken.into_iter().filter(|(_, part)| *part > 0) {
            self.adjust(id, -part)?;
        }
        Ok(true)
    }

    /// Moves the end of a grant; `None`: never.
    pub(crate) fn move_end(&mut self, id: GrantId, ends_at: Option<Timestamp>) -> Result<(), Error> {
        self.entry(id)?.balance.ends_at = ends_at;
        Ok(())
    }

    /// What is spent beyond the grants: credit line, overdraft or debt.
    fn uncovered(&self) -> i64 {
        let in_force = self.entries.iter().filter(|entry| entry.balance.status == GrantStatus::InForce);
        (self.used - in_force.map(|entry| entry.balance.used.units()).sum::<i64>()).max(0)
    }

    /// A grant that is about to change.
    fn entry(&mut self, id: GrantId) -> Result<&mut Entry, Error> {
        let entry = self.entries.iter_mut().find(|entry| entry.balance.id == id).ok_or(Error::NotFound)?;
        entry.is_changed = true;
        Ok(entry)
    }

    fn event(&mut self, id: GrantId, kind: &'static str, delta: i64, repaid: i64) {
        self.events.push(Event { grant: id.uuid(), kind, delta, repaid, unused: 0 });
    }

    /// Writes the change; version + 1.
    ///
    /// # Errors
    /// What Postgres refused.
    pub(crate) async fn close(self, conn: &mut PgConnection, actor: &str, reason: &str) -> Result<Snapshot, Error> {
        let tenant_id = self.tenant_id;
        super::write::write(conn, self, actor, reason).await?;
        let snapshots = accounts::snapshots(conn, &[Scope::Tenant(tenant_id)]).await?;
        snapshots.into_iter().next().ok_or(Error::NotFound)
    }
}

async fn read(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Vec<Entry>, Error> {
    let rows = sqlx::query_as!(
        BalanceRow,
        r#"SELECT grant_id, tenant_id, kind, amount AS "amount!: i64", used AS "used!: i64", priority, starts_at, ends_at, created_at,
                  status, started_version, ended_version
           FROM grant_balances WHERE tenant_id = $1 AND status IN ('pending', 'in_force')"#,
        tenant_id.uuid()
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let (started_version, ended_version) = (row.started_version, row.ended_version);
            Ok(Entry { balance: row.balance()?, started_version, ended_version, is_changed: false })
        })
        .collect()
}

/// A row of `grant_balances`.
pub(crate) struct BalanceRow {
    pub grant_id: Uuid,
    pub tenant_id: Uuid,
    pub kind: String,
    pub amount: i64,
    pub used: i64,
    pub priority: i32,
    pub starts_at: OffsetDateTime,
    pub ends_at: Option<OffsetDateTime>,
    pub created_at: OffsetDateTime,
    pub status: String,
    pub started_version: Option<i64>,
    pub ended_version: Option<i64>,
}

impl BalanceRow {
    pub(crate) fn balance(self) -> Result<GrantBalance, Error> {
        let amount = |what, units| Amount::new(units).map_err(|why| Error::corrupt(what, why));
        Ok(GrantBalance {
            id: GrantId::from_uuid(self.grant_id),
            kind: GrantKind::parse(&self.kind).ok_or_else(|| Error::corrupt("grant_balances.kind", &self.kind))?,
            priority: self.priority,
            amount: amount("grant_balances.amount", self.amount)?,
            used: amount("grant_balances.used", self.used)?,
            starts_at: instant::read("grant_balances.starts_at", self.starts_at)?,
            ends_at: self.ends_at.map(|at| instant::read("grant_balances.ends_at", at)).transpose()?,
            created_at: instant::read("grant_balances.created_at", self.created_at)?,
            status: GrantStatus::parse(&self.status)
                .ok_or_else(|| Error::corrupt("grant_balances.status", &self.status))?,
        })
    }
}

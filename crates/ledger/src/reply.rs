//! Replies of scripts: arrays of strings, the first is the code.

use domain::{Amount, LimitName, LimitUse, Numbers, Scope, Status};

use crate::LedgerError;

/// How many strings `report` in the prelude appends.
pub const NUMBERS: usize = 8;

/// A reply that is read from front to back.
#[derive(Debug)]
pub struct Reply {
    script: &'static str,
    parts: Vec<String>,
    at: usize,
}

impl Reply {
    pub fn new(script: &'static str, parts: Vec<String>) -> Self {
        Self { script, parts, at: 0 }
    }

    pub fn unexpected(&self) -> LedgerError {
        LedgerError::Protocol { script: self.script, reply: self.parts.join(" ") }
    }

    pub fn word(&mut self) -> Result<String, LedgerError> {
        let word = self.parts.get(self.at).cloned().ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(word)
    }

    pub fn integer(&mut self) -> Result<i64, LedgerError> {
        let word = self.word()?;
        word.parse().map_err(|_| self.unexpected())
    }

    pub fn amount(&mut self) -> Result<Amount, LedgerError> {
        let units = self.integer()?;
        Amount::new(units).map_err(|_| self.unexpected())
    }

    pub fn optional(&mut self) -> Result<Option<i64>, LedgerError> {
        let word = self.word()?;
        if word.is_empty() { Ok(None) } else { word.parse().map(Some).map_err(|_| self.unexpected()) }
    }

    fn optional_amount(&mut self) -> Result<Option<Amount>, LedgerError> {
        self.optional()?.map(Amount::new).transpose().map_err(|_| self.unexpected())
    }

    /// The numbers of `scope`, as `report` wrote them.
    pub fn numbers(&mut self, scope: &Scope) -> Result<Numbers, LedgerError> {
        let total = self.optional_amount()?;
        let credit_limit = self.amount()?;
        let limit = self.optional_amount()?;
        let (used, frozen, version, valid_until_ms) =
            (self.amount()?, self.amount()?, self.integer()?, self.optional()?);
        let status = self.word()?;
        let status = Status::parse(&status).ok_or_else(|| self.unexpected())?;
        Ok(Numbers { scope: scope.clone(), total, used, frozen, credit_limit, limit, version, status, valid_until_ms })
    }

    /// The rest of the reply, as `report_limits` wrote it, each with its scope.
    pub fn limit_uses(&mut self, scopes: &[Scope]) -> Result<Vec<(Scope, LimitUse)>, LedgerError> {
        let mut uses = Vec::new();
        while self.at < self.parts.len() {
            let scope = self.which(scopes)?;
            let level = scope.level();
            let word = self.word()?;
            let name = LimitName::parse(&word).ok_or_else(|| self.unexpected())?;
            let (most, used, resets_in_ms) = (self.integer()?, self.integer()?, self.optional()?);
            uses.push((scope, LimitUse { level, name, most, used, resets_in_ms }));
        }
        Ok(uses)
    }

    /// The account that the reply's next string numbers (from 1).
    pub fn which(&mut self, scopes: &[Scope]) -> Result<Scope, LedgerError> {
        let number = self.integer()?;
        let index = usize::try_from(number - 1).map_err(|_| self.unexpected())?;
        scopes.get(index).cloned().ok_or_else(|| self.unexpected())
    }
}

//! A tenant's grants as the model keeps them: gifts in the order in which they were given.

use domain::GrantId;

/// One grant. `ended`: the account's version that ended it.
#[derive(Debug)]
struct Gift {
    id: GrantId,
    amount: i64,
    used: i64,
    ended: Option<i64>,
}

impl Gift {
    /// Bears as much of `units` as it can, and says how much.
    fn bear(&mut self, units: i64) -> i64 {
        let part = units.min(self.amount - self.used);
        self.used += part;
        part
    }
}

/// All of them, and what none of them bears.
#[derive(Debug, Default)]
pub struct Grants {
    gifts: Vec<Gift>,
    uncovered: i64,
    pub lapse_version: i64,
    pub lapsed: i64,
}

impl Grants {
    fn in_force(&self) -> impl Iterator<Item = &Gift> {
        self.gifts.iter().filter(|gift| gift.ended.is_none())
    }

    pub fn total(&self) -> i64 {
        self.in_force().map(|gift| gift.amount).sum()
    }

    pub fn used(&self) -> i64 {
        self.in_force().map(|gift| gift.used).sum::<i64>() + self.uncovered
    }

    pub fn pick(&self, which: usize) -> Option<GrantId> {
        let ids: Vec<_> = self.in_force().map(|gift| gift.id).collect();
        if ids.is_empty() { None } else { Some(ids[which % ids.len()]) }
    }

    /// A new grant repays what is owed.
    pub fn give(&mut self, id: GrantId, amount: i64) {
        let used = self.uncovered.min(amount);
        self.uncovered -= used;
        self.gifts.push(Gift { id, amount, used, ended: None });
    }

    pub fn end(&mut self, id: GrantId, version: i64) {
        let gift = self.gifts.iter_mut().find(|gift| gift.id == id).unwrap();
        gift.ended = Some(version);
        (self.lapse_version, self.lapsed) = (version, gift.amount - gift.used);
    }

    /// A charge of a request frozen at `version`: what ended since bears first.
    pub fn charge(&mut self, version: i64, units: i64) {
        let mut left = units;
        for gift in self.gifts.iter_mut().filter(|gift| gift.ended.is_some_and(|ended| ended > version)) {
            let part = gift.bear(left);
            left -= part;
            if gift.ended == Some(self.lapse_version) {
                self.lapsed -= part;
            }
        }
        for gift in self.gifts.iter_mut().filter(|gift| gift.ended.is_none()) {
            left -= gift.bear(left);
        }
        self.uncovered += left;
    }

    /// From the newest: what is left first, then what was spent, which stays with the account.
    pub fn decrease(&mut self, units: i64) {
        let mut left = units;
        for gift in self.gifts.iter_mut().rev().filter(|gift| gift.ended.is_none()) {
            let part = left.min(gift.amount - gift.used);
            gift.amount -= part;
            left -= part;
        }
        for gift in self.gifts.iter_mut().rev().filter(|gift| gift.ended.is_none()) {
            let part = left.min(gift.amount);
            (gift.amount, gift.used) = (gift.amount - part, gift.used - part);
            self.uncovered += part;
            left -= part;
        }
    }
}

//! Arguments of scripts: strings in the order of each script's header.

use std::collections::HashMap;

use domain::{FreezeEntry, Snapshot};

use crate::keys;

/// A snapshot as thirteen arguments; see `read_snapshot` in the prelude.
pub fn push_snapshot(args: &mut Vec<String>, snapshot: &Snapshot) {
    let optional = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
    args.push(snapshot.scope.to_string());
    args.push(snapshot.incarnation.to_string());
    args.push(snapshot.version.to_string());
    args.push(optional(snapshot.total.map(domain::Amount::units)));
    args.push(snapshot.credit_limit.to_string());
    args.push(optional(snapshot.limit.map(domain::Amount::units)));
    args.push(snapshot.used.to_string());
    args.push(snapshot.status.as_str().to_owned());
    args.push(optional(snapshot.valid_until_ms));
    args.push(snapshot.lapse_version.to_string());
    args.push(snapshot.lapsed.to_string());
    args.push(snapshot.limits.packed());
    args.push(optional(snapshot.share.map(domain::Amount::units)));
}

/// Only the scope, for a caller without a snapshot.
pub fn push_no_snapshot(args: &mut Vec<String>, scope: &domain::Scope) {
    args.push(scope.to_string());
    args.extend(std::iter::repeat_n(String::new(), 12));
}

/// The keys of a batch, each once; arguments name them by their number (from 1).
#[derive(Debug, Default)]
pub struct Keys {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Keys {
    /// The number of `key`, added where it is new.
    pub fn number(&mut self, key: String) -> String {
        let next = self.list.len() + 1;
        let list = &mut self.list;
        let number = *self.numbers.entry(key).or_insert_with_key(|key| {
            list.push(key.clone());
            next
        });
        number.to_string()
    }

    /// The keys in the order of their numbers.
    pub fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// One freeze of a beat or settle; see `read_items` in the prelude.
pub fn push_item(args: &mut Vec<String>, keys: &mut Keys, entry: &FreezeEntry) {
    let home = entry.home();
    let shard = domain::Shard::of(home);
    let scopes: Vec<String> = entry.scopes.iter().map(ToString::to_string).collect();
    args.push(keys.number(keys::freezes(home)));
    args.push(keys::member(home, entry.request_id));
    args.push(entry.request_id.to_string());
    args.push(entry.state.letter().to_owned());
    args.push(entry.want.to_string());
    args.push(entry.need.to_string());
    args.push(entry.amount.to_string());
    args.push(entry.progress.to_string());
    args.push(entry.created_ms.to_string());
    args.push(entry.version.to_string());
    args.push(entry.gateway.clone());
    args.push(entry.model.clone());
    args.push(scopes.join(","));
    args.push(entry.tokens.to_string());
    args.push(entry.scopes.len().to_string());
    for name in [keys::account, keys::rates, keys::running] {
        args.extend(entry.scopes.iter().map(|scope| keys.number(name(shard, scope))));
    }
}

//! The address: read, followed and changed. The browser keeps the history; which page an address shows is `place.rs`'.

use leptos::prelude::*;

use crate::browser;

/// The present address, shared by the whole console.
#[derive(Debug, Clone, Copy)]
pub struct Router {
    path: RwSignal<String>,
    /// Without the question mark, as it stands in the address.
    query: RwSignal<String>,
}

impl Router {
    /// Reads the address, and follows links and the browser's own buttons from now on.
    #[must_use]
    pub fn start() -> Self {
        let (path, query) = browser::address();
        let router = Self { path: RwSignal::new(path), query: RwSignal::new(query) };
        browser::on_address(move || router.look());
        browser::on_link(move |address| router.go(&address));
        router
    }

    /// The path; tracks.
    #[must_use]
    pub fn path(self) -> String {
        self.path.get()
    }

    /// A parameter of the query; empty where there is none. Tracks.
    #[must_use]
    pub fn parameter(self, name: &str) -> String {
        let found = parameters(&self.query.read()).find(|(other, _)| *other == name).map(|(_, value)| value.to_owned());
        found.map(|value| browser::decoded(&value)).unwrap_or_default()
    }

    /// Goes to another page.
    pub fn go(self, address: &str) {
        browser::push_address(address, false);
        self.look();
        browser::to_top();
    }

    /// Goes to another page in place of this one: going back leads to the one before.
    pub fn replace(self, address: &str) {
        browser::push_address(address, true);
        self.look();
    }

    /// Stays on the page with other parameters; an empty one is removed. `replace`: without an entry in the history.
    pub fn ask(self, changes: &[(&str, String)], replace: bool) {
        let query = asked(&self.query.read_untracked(), changes, browser::encoded);
        let path = self.path.get_untracked();
        let address = if query.is_empty() { path } else { format!("{path}?{query}") };
        browser::push_address(&address, replace);
        self.look();
    }

    fn look(self) {
        let (path, query) = browser::address();
        // Both at once, for whoever reads both; and nothing where nothing changed.
        if *self.query.read_untracked() != query {
            self.query.set(query);
        }
        if *self.path.read_untracked() != path {
            self.path.set(path);
        }
    }
}

fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// The query with these changes.
fn asked(query: &str, changes: &[(&str, String)], encode: impl Fn(&str) -> String) -> String {
    let kept = parameters(query).filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    let mut pairs: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
    let wanted = changes.iter().filter(|(_, value)| !value.is_empty());
    pairs.extend(wanted.map(|(name, value)| format!("{name}={}", encode(value))));
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_changed_one_by_one() {
        let encode = |text: &str| text.replace(' ', "%20");
        let changes = [("q", "a b".to_owned()), ("cursor", String::new())];
        assert_eq!(asked("limit=10&cursor=x&q=old", &changes, encode), "limit=10&q=a%20b");
        assert_eq!(asked("", &[("q", String::new())], encode), "");
        assert_eq!(parameters("a=1&b&=").collect::<Vec<_>>(), [("a", "1"), ("b", ""), ("", "")]);
    }
}

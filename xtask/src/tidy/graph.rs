//! The direction of dependencies, and who may name which library.

use std::collections::BTreeSet;

use anyhow::Context;
use serde_json::Value;

/// A member of the workspace and what its `Cargo.toml` names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    name: String,
    /// Normal and build dependencies.
    uses: BTreeSet<String>,
    /// Dependencies of its tests.
    tests_use: BTreeSet<String>,
}

/// Members of the workspace that each may use. Servers never use servers; ledger and store never each other.
const ALLOWED: &[(&str, &[&str])] = &[
    ("tollgate-domain", &[]),
    ("tollgate-api-types", &["tollgate-domain"]),
    ("tollgate-admin-ui", &["tollgate-domain", "tollgate-api-types"]),
    ("tollgate-ledger", &["tollgate-domain"]),
    ("tollgate-store", &["tollgate-domain"]),
    ("tollgate-quota", &["tollgate-domain", "tollgate-ledger", "tollgate-store"]),
    ("tollgate-gateway", &["tollgate-domain", "tollgate-ledger", "tollgate-store", "tollgate-quota"]),
    (
        "tollgate-admin-api",
        &["tollgate-domain", "tollgate-api-types", "tollgate-ledger", "tollgate-store", "tollgate-quota"],
    ),
    (
        "tollgate-reconciler",
        &["tollgate-domain", "tollgate-api-types", "tollgate-ledger", "tollgate-store", "tollgate-quota"],
    ),
    ("tollgate-cli", &["tollgate-domain", "tollgate-api-types", "tollgate-ledger", "tollgate-store", "tollgate-quota"]),
    ("tollgate-sim-upstream", &[]),
    ("tollgate-mail-catcher", &[]),
    ("tollgate-testkit", &[]),
    ("tollgate-bench", &[]),
    ("xtask", &["tollgate-testkit"]),
];

/// What the tests of any crate may use besides.
const TESTS_MAY_USE: &[&str] = &["tollgate-testkit", "tollgate-sim-upstream", "tollgate-mail-catcher"];

/// Libraries with one home. The second list is who else may name it, in tests only.
const HOMES: &[(&str, &[&str], &[&str])] = &[
    ("redis", &["tollgate-ledger"], &[]),
    ("sqlx", &["tollgate-store", "tollgate-testkit"], &[]),
    (
        "axum",
        &[
            "tollgate-gateway",
            "tollgate-admin-api",
            "tollgate-reconciler",
            "tollgate-sim-upstream",
            "tollgate-mail-catcher",
        ],
        &[],
    ),
    ("leptos", &["tollgate-admin-ui"], &[]),
];

/// Decides and does nothing: neither waits nor asks, and builds for WebAssembly.
const PURE: &[&str] = &["tollgate-domain", "tollgate-api-types"];
/// What such a crate can't use.
const IMPURE: &[&str] = &["tokio", "reqwest", "hyper", "axum", "redis", "sqlx"];

/// Members from `cargo metadata`.
pub fn read(metadata: &Value) -> anyhow::Result<Vec<Member>> {
    let members = metadata["workspace_members"].as_array().context("cargo metadata names no members")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let ours = packages.iter().filter(|package| members.contains(&package["id"]));
    Ok(ours.map(member).collect())
}

fn member(package: &Value) -> Member {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut member = Member { name: text(&package["name"]), ..Member::default() };
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let list = if dependency["kind"] == "dev" { &mut member.tests_use } else { &mut member.uses };
        list.insert(text(&dependency["name"]));
    }
    member
}

/// Complaints about members.
pub fn check(members: &[Member]) -> Vec<String> {
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut complaints = Vec::new();
    for member in members {
        complaints.extend(direction(member, &names));
        complaints.extend(homes(member));
        if PURE.contains(&member.name.as_str()) {
            let impure = member.uses.iter().filter(|name| IMPURE.contains(&name.as_str()));
            complaints.extend(impure.map(|name| format!("{} must not use {name}: it has no I/O", member.name)));
        }
    }
    complaints
}

fn direction(member: &Member, names: &BTreeSet<&str>) -> Vec<String> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == member.name) else {
        return vec![format!("{} has no place in the graph: give it one in xtask/src/tidy/graph.rs", member.name)];
    };
    let is_ours = |name: &&String| names.contains(name.as_str()) && **name != member.name;
    let wrong = member.uses.iter().filter(is_ours).filter(|name| !allowed.contains(&name.as_str()));
    let wrong_in_tests = member
        .tests_use
        .iter()
        .filter(is_ours)
        .filter(|name| !allowed.contains(&name.as_str()) && !TESTS_MAY_USE.contains(&name.as_str()));
    wrong
        .map(|name| format!("{} must not use {name}: dependencies point one way", member.name))
        .chain(wrong_in_tests.map(|name| format!("the tests of {} must not use {name}", member.name)))
        .collect()
}

fn homes(member: &Member) -> Vec<String> {
    let mut complaints = Vec::new();
    for (library, homes, in_tests) in HOMES {
        let is_home = homes.contains(&member.name.as_str());
        let is_guest = in_tests.contains(&member.name.as_str());
        let named = member.uses.contains(*library) || (member.tests_use.contains(*library) && !is_guest);
        if named && !is_home {
            complaints.push(format!("{} must not name {library}: only {} may", member.name, homes.join(", ")));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, uses: &[&str], tests_use: &[&str]) -> Member {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Member { name: name.into(), uses: set(uses), tests_use: set(tests_use) }
    }

    fn complaints(broken: Member) -> Vec<String> {
        let mut members: Vec<Member> = ALLOWED.iter().map(|(name, uses)| member(name, uses, TESTS_MAY_USE)).collect();
        assert_eq!(check(&members), Vec::<String>::new(), "the rules agree with themselves");
        members.retain(|member| member.name != broken.name);
        members.push(broken);
        check(&members)
    }

    #[test]
    fn wrong_directions_are_found() {
        for (name, uses) in [
            ("tollgate-ledger", "tollgate-store"),
            ("tollgate-store", "tollgate-ledger"),
            ("tollgate-gateway", "tollgate-admin-api"),
            ("tollgate-domain", "tollgate-api-types"),
            ("tollgate-gateway", "tollgate-testkit"),
        ] {
            let found = complaints(member(name, &[uses], &[]));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(name) && found[0].contains(uses));
        }
        assert_eq!(complaints(member("tollgate-gateway", &[], &["tollgate-admin-api"])).len(), 1);
        assert_eq!(complaints(member("tollgate-common", &[], &[])).len(), 1);
    }

    #[test]
    fn libraries_away_from_home_are_found() {
        assert_eq!(complaints(member("tollgate-gateway", &["redis"], &[])).len(), 1);
        assert_eq!(complaints(member("tollgate-quota", &[], &["sqlx"])).len(), 1);
        assert_eq!(complaints(member("tollgate-quota", &["axum"], &[])).len(), 1);
        assert_eq!(complaints(member("tollgate-domain", &["tokio"], &[])).len(), 1);
        assert_eq!(complaints(member("tollgate-store", &["sqlx"], &[])).len(), 0);
    }
}

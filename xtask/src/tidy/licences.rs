//! Licences of everything that is compiled in.

use serde_json::Value;

/// Permissive, or copyleft by file only.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Complaints about packages of `cargo metadata`.
pub fn check(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    packages
        .iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or_default()))
        .map(|package| {
            let (name, version, licence) =
                (text(&package["name"]), text(&package["version"]), text(&package["license"]));
            format!("{name} {version} has the licence `{licence}`, which is not one that the project takes")
        })
        .collect()
}

/// An SPDX expression: one of an `OR`, all of an `AND`. The old form `MIT/Apache-2.0` is an `OR`.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.trim();
    if let Some(parts) = split(expression, " OR ").or_else(|| split(expression, "/")) {
        return parts.into_iter().any(is_allowed);
    }
    if let Some(parts) = split(expression, " AND ") {
        return parts.into_iter().all(is_allowed);
    }
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.map_or_else(|| ALLOWED.contains(&expression), is_allowed)
}

/// Splits at a separator outside of brackets; `None` where there is none.
fn split<'a>(expression: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_u32, 0);
    for (at, character) in expression.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= from && expression[at..].starts_with(separator) => {
                parts.push(&expression[from..at]);
                from = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[from..]);
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "Apache-2.0 AND ISC",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT OR Apache-2.0) AND AGPL-3.0-only", "LGPL-3.0"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn a_package_is_named() {
        let metadata = serde_json::json!({"packages": [
            {"name": "good", "version": "1.0.0", "license": "MIT"},
            {"name": "bad", "version": "2.0.0", "license": "SSPL-1.0"},
            {"name": "none", "version": "3.0.0", "license": null},
        ]});
        let found = check(&metadata);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("bad 2.0.0") && found[1].starts_with("none 3.0.0"));
    }
}

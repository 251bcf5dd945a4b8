//! Rust sources: sizes, and words that mean "not finished".

use std::path::Path;

/// Lines of a file at most. Most are far below.
const MAX_LINES: usize = 500;

/// Text that may not stand in a source, in two parts so that this file does not contain it, and what to do instead.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("#[ign", "ore", "make the test pass or remove it"),
    ("todo", "!(", "finish it"),
    ("unimple", "mented!(", "finish it"),
    ("#[all", "ow(", "use #[expect(..., reason = \"...\")]"),
    ("#![all", "ow(", "use #![expect(..., reason = \"...\")]"),
    ("TO", "DO", "do it, or file an issue"),
    ("FIX", "ME", "fix it, or file an issue"),
];

/// Complaints about a source.
pub fn check(path: &Path, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        complaints
            .push(format!("{} has {lines} lines, more than {MAX_LINES}: split it by noun or verb", path.display()));
    }
    for (line, number) in text.lines().zip(1..) {
        for (first, second, remedy) in FORBIDDEN {
            let word = format!("{first}{second}");
            if line.contains(&word) {
                complaints.push(format!("{}:{number} has `{word}`: {remedy}", path.display()));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found() {
        let check = |text: &str| check(Path::new("src/a.rs"), text);
        assert_eq!(check("fn a() {}\n"), Vec::<String>::new());
        assert_eq!(check(&"//\n".repeat(MAX_LINES + 1)).len(), 1);
        for (first, second, remedy) in FORBIDDEN {
            let found = check(&format!("fn a() {{}}\n{first}{second}\n"));
            assert_eq!(found.len(), 1);
            assert!(found[0].starts_with("src/a.rs:2 ") && found[0].ends_with(remedy), "{found:?}");
        }
    }
}

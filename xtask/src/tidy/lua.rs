//! The ledger's scripts: each is a small module with a header.

use std::path::Path;

/// Shared by all scripts, so they may be longer and have no header of their own.
const FRAGMENTS: [&str; 3] = ["prelude.lua", "limits.lua", "items.lua"];
/// Lines of a script at most.
const MAX_LINES: usize = 80;
/// Lines of a fragment at most.
const MAX_FRAGMENT_LINES: usize = 250;
/// Each at the beginning of a comment line.
const HEADER: [&str; 3] = ["KEYS", "ARGV", "Returns"];

/// Complaints about a script.
pub fn check(path: &Path, text: &str) -> Vec<String> {
    let name = path.display();
    let mut complaints = Vec::new();
    if !text.lines().next().is_some_and(|line| line.starts_with("#!lua")) {
        complaints.push(format!("{name} does not begin with #!lua: Redis would not check its keys"));
    }
    let is_fragment = path.file_name().is_some_and(|file| FRAGMENTS.iter().any(|fragment| file == *fragment));
    let (lines, most) = (text.lines().count(), if is_fragment { MAX_FRAGMENT_LINES } else { MAX_LINES });
    if lines > most {
        complaints.push(format!("{name} has {lines} lines, more than {most}: one verb per script"));
    }
    if !is_fragment {
        let comments: Vec<&str> = text.lines().skip(1).take_while(|line| line.starts_with("--")).collect();
        for word in HEADER {
            if !comments.iter().any(|line| line.trim_start_matches(['-', ' ']).starts_with(word)) {
                complaints.push(format!("{name} has no `-- {word}` in its header"));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "#!lua\n-- beat: keeps.\n-- Guarantee: none.\n-- KEYS 1\n-- ARGV 1\n-- Returns OK\nreturn { 'OK' }\n";

    #[test]
    fn each_fault_is_found() {
        let check = |text: &str| check(Path::new("lua/beat.lua"), text);
        assert_eq!(check(GOOD), Vec::<String>::new());
        assert_eq!(check(&GOOD.replace("#!lua", "--")).len(), 1);
        assert_eq!(check(&GOOD.replace("-- Returns", "-- Gives")).len(), 1);
        assert_eq!(check(&format!("{GOOD}{}", "-- more\n".repeat(80))).len(), 1);
        let prelude = format!("#!lua\n{}", "-- more\n".repeat(100));
        assert_eq!(super::check(Path::new("lua/prelude.lua"), &prelude), Vec::<String>::new());
    }
}

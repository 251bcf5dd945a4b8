//! Migrations: `NNNN_verb_noun.sql`, without gaps.

use std::path::Path;

/// Complaints about the names in `migrations/`.
///
/// # Errors
/// When the folder can't be read.
pub fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(root.join("migrations"))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    names.sort();
    Ok(complaints(&names))
}

fn complaints(names: &[String]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, number) in names.iter().zip(1_u32..) {
        let words = name.strip_suffix(".sql").and_then(|stem| stem.strip_prefix(&format!("{number:04}_")));
        let has_form = words.is_some_and(|words| {
            words.split('_').count() >= 2
                && words.split('_').all(|word| !word.is_empty())
                && words
                    .chars()
                    .all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
        });
        if !has_form {
            complaints.push(format!("migrations/{name} is not {number:04}_verb_noun.sql, the next in order"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_gaps_are_found() {
        let check = |names: &[&str]| complaints(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).len();
        assert_eq!(check(&["0001_create_roles.sql", "0002_add_key_note.sql"]), 0);
        assert_eq!(check(&["0001_create_roles.sql", "0003_add_note.sql"]), 1);
        assert_eq!(check(&["0001_create_roles.sql", "0001_add_note.sql"]), 1);
        assert_eq!(check(&["0001_create.sql"]), 1);
        assert_eq!(check(&["0001_create_roles.sql", "notes.txt"]), 1);
    }
}

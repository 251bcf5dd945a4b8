//! Counting what passed, by the runners' own summaries.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, bail};

use crate::cargo;

/// What passed and what did not.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Tests and steps.
    pub passed: u64,
    /// Tests and steps.
    pub failed: u64,
}

impl Tally {
    /// Runs a test runner, shows what it prints, adds its counts.
    ///
    /// # Errors
    /// When it can't be started, or fails without having counted a failure.
    pub fn count(&mut self, command: &mut Command) -> anyhow::Result<()> {
        let name = cargo::describe(command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't start {name}"))?;
        let out = child.stdout.take().context("no pipe")?;
        let err = child.stderr.take().context("no pipe")?;
        let errors = thread::spawn(move || relay(err, &mut std::io::stderr()));
        let mut counted = relay(out, &mut std::io::stdout());
        counted.add(errors.join().unwrap_or_default());
        let status = child.wait()?;
        self.settle(&name, status.success(), counted)
    }

    /// Adds a runner's counts. One that fails without having counted a failure has not run its tests.
    fn settle(&mut self, name: &str, succeeded: bool, counted: Self) -> anyhow::Result<()> {
        self.add(counted);
        if !succeeded && counted.failed == 0 {
            bail!("{name} failed");
        }
        Ok(())
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Something passed and nothing failed.
    pub const fn is_green(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    /// `N passed, N failed`
    pub fn last_line(self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }

    /// The counts of a line that closes a run of nextest, of a test program, of pytest or of Node.js.
    fn of_line(line: &str) -> Self {
        // Indented it is a failed test's own output, shown by nextest, which counts it itself.
        let is_test_program = line.starts_with("test result: ");
        let line = line.trim();
        if let Some(tally) = Self::of_node(line) {
            return tally;
        }
        // `=== 5 passed in 1.0s ===`, or without the frame where it runs quietly; over a minute `in 61.0s (0:01:01)`.
        let bare = line.trim_matches(['=', ' ']);
        let is_pytest = bare.starts_with(|first: char| first.is_ascii_digit())
            && bare
                .rsplit_once(" in ")
                .is_some_and(|(_, time)| time.split(' ').next().is_some_and(|s| s.ends_with('s')));
        let is_summary = line.starts_with("Summary [") || is_test_program || is_pytest;
        if !is_summary {
            return Self::default();
        }
        let words: Vec<&str> = line.split([' ', ',', ';', '.']).filter(|word| !word.is_empty()).collect();
        let mut tally = Self::default();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else { continue };
            match pair[1] {
                "passed" => tally.passed += number,
                "failed" | "error" | "errors" | "timed" => tally.failed += number,
                _ => {}
            }
        }
        tally
    }
}

impl Tally {
    /// `# pass 3` or `ℹ fail 1`, each on a line of its own.
    fn of_node(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
        let (word, number) = rest.split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "pass" => Some(Self { passed: number, failed: 0 }),
            "fail" | "cancelled" => Some(Self { passed: 0, failed: number }),
            _ => None,
        }
    }
}

/// Passes lines on and counts.
fn relay(from: impl Read, to: &mut impl Write) -> Tally {
    let mut tally = Tally::default();
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let text = String::from_utf8_lossy(&line);
        tally.add(Tally::of_line(&text));
        let _ = writeln!(to, "{text}");
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_runners_closing_line() {
        let cases = [
            ("     Summary [   5.294s] 4 tests run: 4 passed, 0 skipped", 4, 0),
            ("     Summary [  61.2s] 9 tests run: 6 passed (1 slow), 2 failed, 1 timed out, 0 skipped", 6, 3),
            (
                "test result: FAILED. 11 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.0s",
                11,
                2,
            ),
            ("=================== 3 failed, 12 passed, 1 error in 3.21s ===================", 12, 4),
            ("    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 19 filtered out", 0, 0),
            ("64 passed in 37.29s", 64, 0),
            ("70 passed in 79.62s (0:01:19)", 70, 0),
            ("# pass 7", 7, 0),
            ("ℹ fail 2", 0, 2),
            ("# tests 9", 0, 0),
            ("test tests::two_passed ... ok", 0, 0),
            ("5 passed", 0, 0),
        ];
        for (line, passed, failed) in cases {
            assert_eq!(Tally::of_line(line), Tally { passed, failed }, "{line}");
        }
    }

    #[test]
    fn a_runner_that_fails_without_a_count_is_an_error() {
        let mut tally = Tally::default();
        assert!(!tally.is_green(), "no test is no success");
        let mut shown = Vec::new();
        let counted = relay("a\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n".as_bytes(), &mut shown);
        assert_eq!(String::from_utf8(shown).unwrap().lines().count(), 2);
        tally.settle("runner", false, counted).unwrap();
        assert_eq!(tally.last_line(), "1 passed, 1 failed");
        assert!(!tally.is_green());
        assert!(tally.settle("runner", false, Tally { passed: 3, failed: 0 }).is_err());
        assert!(tally.count(Command::new("sh").args(["-c", "exit 1"])).is_err());
    }
}

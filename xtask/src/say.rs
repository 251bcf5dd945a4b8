//! Progress, to standard error. A terminal that is gone is no reason to stop.

use std::io::Write;

/// What is being done now.
pub fn step(text: &str) {
    let _ = writeln!(std::io::stderr(), "==> {text}");
}

/// A detail of the present step.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "    {text}");
}

/// A result, to standard output.
pub fn result(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

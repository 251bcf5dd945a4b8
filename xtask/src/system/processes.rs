//! Processes that outlive the call that started them.

use std::process::Command;
use std::time::Duration;

use testkit::process::{send, signal_name};
use testkit::wait;

use super::state::Process;

/// Whether the process lives and is still the program that was started: its number may have gone to another since.
pub fn is_alive(process: &Process, program: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=,args=", "-p", &process.pid.to_string()]).output();
    let Ok(output) = output else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    // Z: it has ended, and its parent has not looked yet.
    !text.is_empty() && !text.starts_with('Z') && text.contains(program)
}

/// Asks the process to end, then ends it.
///
/// # Errors
/// When it can't be signalled.
pub fn end(process: &Process, program: &str, signal: &str, grace: Duration) -> anyhow::Result<()> {
    if !is_alive(process, program) {
        return Ok(());
    }
    let ended = || Ok((!is_alive(process, program)).then_some(()));
    // It may end between the look and the signal.
    let _ = send(signal, process.pid);
    if wait::until("the end", grace, ended).is_err() {
        let _ = send(signal_name::KILL, process.pid);
        wait::until(&format!("the end of {program} ({})", process.pid), Duration::from_secs(10), ended)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_that_was_started_counts() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process { pid: child.id(), stamp: String::new() };
        assert!(is_alive(&process, "sleep"));
        assert!(!is_alive(&process, "tollgate-gateway"));
        end(&process, "tollgate-gateway", signal_name::TERM, Duration::from_secs(1)).unwrap();
        assert!(child.try_wait().unwrap().is_none(), "a stranger is left alone");
        end(&process, "sleep", signal_name::TERM, Duration::from_secs(5)).unwrap();
        child.wait().unwrap();
        assert!(!is_alive(&process, "sleep"));
    }
}

//! What processes cost: CPU time and memory, as Linux tells.

use std::fs;

use anyhow::Context;

/// Ticks of CPU time in a second, `USER_HZ` of every Linux.
const TICKS_PER_S: u64 = 100;

/// CPU time that a process and its children have used so far, in milliseconds.
///
/// # Errors
/// There is no such process.
pub fn cpu_ms(pid: u32) -> anyhow::Result<u64> {
    let mut ticks = own_ticks(pid)?;
    for child in children(pid)? {
        ticks += own_ticks(child)?;
    }
    Ok(ticks * 1000 / TICKS_PER_S)
}

/// `utime` and `stime`, behind the command's name, which may hold spaces.
fn own_ticks(pid: u32) -> anyhow::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).with_context(|| format!("no process {pid}"))?;
    let (_, rest) = stat.rsplit_once(')').context("an unknown form of /proc/PID/stat")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).context("no CPU time");
    Ok(number(11)? + number(12)?)
}

fn children(pid: u32) -> anyhow::Result<Vec<u32>> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    Ok(list.split_whitespace().filter_map(|text| text.parse().ok()).collect())
}

/// Memory of a process that is in use, in bytes.
///
/// # Errors
/// There is no such process.
pub fn resident_bytes(pid: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}

//! Free ports on the loopback address.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

/// Below the range that Linux and macOS give to outgoing connections, so that no client socket takes a port between
/// the look here and the server's own bind.
const RANGE: Range<u16> = 20_000..30_000;

/// A port that nothing listened on a moment ago. Another process may still take it first: whoever starts a server on
/// it has to be ready to try another.
///
/// # Errors
/// When 200 random ports of the range are all taken.
pub fn free() -> anyhow::Result<u16> {
    for attempt in 0..200_u32 {
        let port = random_port(attempt);
        if is_free(port) {
            return Ok(port);
        }
    }
    anyhow::bail!("no free port among 200 tried between {} and {}", RANGE.start, RANGE.end)
}

/// Whether nothing listens on the loopback port now.
#[must_use]
pub fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// `RandomState` is seeded by the operating system: different in each process and each call.
fn random_port(attempt: u32) -> u16 {
    let width = u64::from(RANGE.end - RANGE.start);
    let offset = RandomState::new().hash_one(attempt) % width;
    RANGE.start + u16::try_from(offset).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_ports_that_can_be_bound() {
        for _ in 0..20 {
            let port = free().unwrap();
            assert!(RANGE.contains(&port));
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        }
    }

    #[test]
    fn sees_a_taken_port() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(!is_free(listener.local_addr().unwrap().port()));
    }
}

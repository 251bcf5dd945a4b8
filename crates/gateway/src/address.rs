//! From which address a call comes, behind proxies that are trusted to say so.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Address ranges. IPv4 addresses in IPv6 clothes are taken for what they are.
#[derive(Debug, Clone, Default)]
pub struct Ranges(Vec<IpNet>);

impl Ranges {
    /// Reads ranges such as `10.0.0.0/8` and single addresses.
    ///
    /// # Errors
    /// The first text that is neither.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let range = |text: &str| {
            let text = text.trim();
            let single = text.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
            single
                .or_else(|| text.parse::<IpNet>().ok())
                .ok_or_else(|| format!("`{text}` is no address or range such as 10.0.0.0/8"))
        };
        texts.into_iter().map(range).collect::<Result<_, _>>().map(Self)
    }

    /// Is the address in one of them?
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(&address))
    }
}

/// The address a call comes from: the connection's other end, unless that is a trusted proxy. Then the last hop in `X-Forwarded-For` that is
/// no trusted proxy itself; what stands before it anybody may have written.
#[must_use]
pub fn of_caller(peer: SocketAddr, headers: &HeaderMap, trusted: &Ranges) -> IpAddr {
    let mut caller = peer.ip().to_canonical();
    let lines: Vec<&str> = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !trusted.contains(caller) {
            break;
        }
        match hop_address(hop.trim()) {
            Some(address) => caller = address,
            None => break, // not to be understood: the hop that wrote it is all that is known
        }
    }
    caller
}

/// An address, with or without a port.
fn hop_address(hop: &str) -> Option<IpAddr> {
    let address = hop.parse::<IpAddr>().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    address.or_else(|| hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok()).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn caller(peer: &str, forwarded: &[&'static str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(line));
        }
        let trusted = Ranges::parse(trusted.iter().copied()).unwrap();
        of_caller(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_hops_are_believed() {
        assert_eq!(caller("1.2.3.4:5", &[], &[]), "1.2.3.4");
        assert_eq!(caller("1.2.3.4:5", &["9.9.9.9"], &[]), "1.2.3.4", "forged by the caller itself");
        assert_eq!(caller("10.0.0.1:5", &["9.9.9.9"], &["10.0.0.0/8"]), "9.9.9.9");
        assert_eq!(caller("10.0.0.1:5", &["6.6.6.6, 9.9.9.9"], &["10.0.0.0/8"]), "9.9.9.9", "the first is forged");
        assert_eq!(caller("10.0.0.1:5", &["6.6.6.6, 9.9.9.9, 10.0.0.2"], &["10.0.0.0/8"]), "9.9.9.9");
        assert_eq!(caller("10.0.0.1:5", &["6.6.6.6", "9.9.9.9"], &["10.0.0.0/8"]), "9.9.9.9", "several lines");
        assert_eq!(caller("10.0.0.1:5", &["nonsense"], &["10.0.0.0/8"]), "10.0.0.1");
        assert_eq!(caller("10.0.0.1:5", &["9.9.9.9, nonsense"], &["10.0.0.0/8"]), "10.0.0.1");
        assert_eq!(caller("10.0.0.1:5", &["9.9.9.9:443"], &["10.0.0.0/8"]), "9.9.9.9");
        assert_eq!(caller("[::1]:5", &["[2001:db8::7]:443"], &["::1"]), "2001:db8::7");
    }

    #[test]
    fn mapped_addresses_and_edges_of_ranges() {
        assert_eq!(caller("[::ffff:10.0.0.1]:5", &["::ffff:9.9.9.9"], &["10.0.0.1"]), "9.9.9.9");
        let ranges = Ranges::parse(["10.1.0.0/16", "2001:db8::/32", "192.0.2.7"]).unwrap();
        let contains = |address: &str| ranges.contains(address.parse().unwrap());
        for inside in ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "2001:db8::1", "2001:db8:ffff::", "192.0.2.7"] {
            assert!(contains(inside), "{inside}");
        }
        for outside in ["10.0.255.255", "10.2.0.0", "2001:db7::1", "192.0.2.8", "::1"] {
            assert!(!contains(outside), "{outside}");
        }
        assert!(Ranges::parse(["10.0.0.0/33"]).is_err() && Ranges::parse(["host"]).is_err());
    }
}

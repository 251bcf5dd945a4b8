//! Where Tollgate may connect to on a customer's behalf: addresses on the public internet, and what the operator allows.
//!
//! A URL's host proves nothing: names resolve to any address. What is decided here is the very address that is then
//! connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The address of a route such as `/chat/completions` at a provider. A base URL without a path of its own gets `/v1`.
#[must_use]
pub fn of_route(base_url: &str, route: &str) -> String {
    let has_path = base_url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    format!("{base_url}{}{route}", if has_path { "" } else { "/v1" })
}

/// Special-purpose networks of IPv4 (the IANA registry), with their names.
const SPECIAL_V4: &[(Ipv4Addr, u8, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a carrier"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "reserved for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a 6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "reserved for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "reserved for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "reserved for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// The only block of IPv6 with public addresses.
const GLOBAL_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// What is special within it, or worth a name outside of it.
const SPECIAL_V6: &[(Ipv6Addr, u8, &str)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "private"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
    // Teredo, ORCHID, benchmarks and the other protocols of the IETF.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "reserved for protocols"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "reserved for documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "reserved for documentation"),
];

/// Networks that the operator allows although they are not public.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(Vec<IpNet>);

impl Allowed {
    /// These networks.
    #[must_use]
    pub const fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Decides about one address. `Err` says what kind of address it is.
    ///
    /// # Errors
    /// The address is not public, and in no allowed network.
    pub fn check(&self, address: IpAddr) -> Result<(), &'static str> {
        let address = address.to_canonical();
        if self.0.iter().any(|network| network.contains(&address)) {
            return Ok(());
        }
        special(address).map_or(Ok(()), Err)
    }
}

/// What kind of address it is, unless it is a public one.
#[must_use]
pub fn special(address: IpAddr) -> Option<&'static str> {
    // ::ffff:a.b.c.d is a.b.c.d: the system connects to the latter.
    match address.to_canonical() {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let found = SPECIAL_V4.iter().find(|(base, bits, _)| within_v4(address, *base, *bits));
    found.map(|(_, _, name)| *name)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let embedded = Ipv4Addr::from((u32::from(segments[6]) << 16) | u32::from(segments[7]));
    // The network's translator connects to the IPv4 address inside.
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return special_v4(embedded);
    }
    if let Some((_, _, name)) = SPECIAL_V6.iter().find(|(base, bits, _)| within_v6(address, *base, *bits)) {
        return Some(name);
    }
    if !within_v6(address, GLOBAL_V6.0, GLOBAL_V6.1) {
        return Some("reserved");
    }
    // ISATAP: an interface id that holds an IPv4 address to tunnel to.
    let isatap = matches!(segments[4], 0 | 0x200) && segments[5] == 0x5efe;
    if isatap { special_v4(embedded) } else { None }
}

fn within_v4(address: Ipv4Addr, base: Ipv4Addr, bits: u8) -> bool {
    Ipv4Net::new(base, bits).is_ok_and(|network| network.contains(&address))
}

fn within_v6(address: Ipv6Addr, base: Ipv6Addr, bits: u8) -> bool {
    Ipv6Net::new(base, bits).is_ok_and(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &[&str] = &[
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.1.2.3",
        "127.255.255.255",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "192.168.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::10.1.2.3",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1.1.1.1",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:a00:1::",
        "2002:808:808::1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fdff:ffff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "2a00:1450::5efe:192.168.0.1",
        "2a00:1450::200:5efe:127.0.0.1",
    ];

    const PUBLIC: &[&str] = &[
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.1",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00:1450::1",
        "2a00:1450::5efe:8.8.8.8",
    ];

    #[test]
    fn special_addresses_are_refused_and_their_neighbours_are_not() {
        assert!(REFUSED.len() >= 60);
        for text in REFUSED {
            assert!(special(text.parse().unwrap()).is_some(), "{text} must be refused");
        }
        for text in PUBLIC {
            assert_eq!(special(text.parse().unwrap()), None, "{text} is public");
        }
    }

    #[test]
    fn what_is_allowed_is_allowed_in_every_form() {
        let allowed = Allowed::new(vec!["127.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        for text in ["127.0.0.1", "::ffff:127.0.0.1", "fd00::1", "1.1.1.1"] {
            assert_eq!(allowed.check(text.parse().unwrap()), Ok(()), "{text}");
        }
        assert_eq!(allowed.check("10.0.0.1".parse().unwrap()), Err("private"));
        assert_eq!(allowed.check("::1".parse().unwrap()), Err("loopback"));
        assert_eq!(Allowed::default().check("127.0.0.1".parse().unwrap()), Err("loopback"));
    }
}

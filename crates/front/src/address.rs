//! Whom limits per address count (04 §3).

use http::HeaderMap;
use http::header::HeaderName;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// What limits are counted by: an IPv4 address, or the /64 of an IPv6 one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AddressKey(IpAddr);

impl AddressKey {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(IpAddr::V4(address)),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
            }
        }
    }
}

/// A proxy that ends connections in front of the host, and the header it adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedProxy {
    /// The addresses the proxy dials from. A header that came from anywhere else counts
    /// for nothing.
    pub addresses: Vec<IpAddr>,
    /// The header it appends the client's address to, such as `x-forwarded-for`.
    pub header: HeaderName,
}

impl TrustedProxy {
    /// Whether a connection from there is the proxy's.
    pub(crate) fn dials_from(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.addresses
            .iter()
            .any(|trusted| trusted.to_canonical() == address)
    }
}

/// An address as proxies write it: with or without a port.
fn address_in(entry: &str) -> Option<IpAddr> {
    let with_port = || entry.parse::<SocketAddr>().ok().map(|address| address.ip());
    entry.parse().ok().or_else(with_port)
}

/// The client's address: the TCP peer's, or what a trusted proxy itself appended, which
/// is the last entry of its header's last line.
pub(crate) fn client_address(
    peer: SocketAddr,
    headers: &HeaderMap,
    proxy: Option<&TrustedProxy>,
) -> AddressKey {
    let dialled_from = peer.ip().to_canonical();
    let told = proxy
        .filter(|proxy| proxy.dials_from(dialled_from))
        .and_then(|proxy| headers.get_all(&proxy.header).iter().next_back())
        .and_then(|line| line.to_str().ok())
        .and_then(|line| line.rsplit(',').next())
        .and_then(|entry| address_in(entry.trim()));
    AddressKey::of(told.unwrap_or(dialled_from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> AddressKey {
        AddressKey::of(address.parse().unwrap())
    }

    #[test]
    fn a_mapped_address_is_its_ipv4_one_and_ipv6_counts_by_its_64() {
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("2001:db8:1:2:3::4"), key("2001:db8:1:2:ffff::"));
        assert_ne!(key("2001:db8:1:2::"), key("2001:db8:1:3::"));
    }

    #[test]
    fn a_header_counts_only_from_the_proxy_and_only_what_it_added() {
        let proxy = TrustedProxy {
            addresses: vec!["10.0.0.1".parse().unwrap()],
            header: HeaderName::from_static("x-forwarded-for"),
        };
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "203.0.113.9".parse().unwrap());
        headers.append("x-forwarded-for", "203.0.113.8, 192.0.2.7".parse().unwrap());
        let from = |address: &str, proxy| {
            client_address(
                SocketAddr::new(address.parse().unwrap(), 1),
                &headers,
                proxy,
            )
        };
        assert_eq!(from("10.0.0.1", Some(&proxy)), key("192.0.2.7"));
        assert_eq!(from("::ffff:10.0.0.1", Some(&proxy)), key("192.0.2.7"));
        assert_eq!(from("10.0.0.2", Some(&proxy)), key("10.0.0.2"));
        assert_eq!(from("10.0.0.1", None), key("10.0.0.1"));
        headers.append("x-forwarded-for", "[2001:db8::1]:4711".parse().unwrap());
        assert_eq!(
            client_address("10.0.0.1:1".parse().unwrap(), &headers, Some(&proxy)),
            key("2001:db8::")
        );
        headers.clear();
        assert_eq!(
            client_address("10.0.0.1:1".parse().unwrap(), &headers, Some(&proxy)),
            key("10.0.0.1")
        );
    }
}

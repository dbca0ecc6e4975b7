//! The proxies that a request came through.

use std::net::IpAddr;

use http::{HeaderMap, header};
use ipnet::IpNet;

use crate::listener::peer::Peer;

/// Toll's name in `Via` (RFC 9110 §7.6.3).
const PSEUDONYM: &str = "toll";

/// Whether `Via` says that this request has passed a Toll already.
pub fn came_through_here(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::VIA)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|hop| hop.split_whitespace().nth(1).is_some_and(|name| name.eq_ignore_ascii_case(PSEUDONYM)))
}

/// The address of the caller: the connection's, unless that is a trusted proxy; then the last address of
/// `X-Forwarded-For` that is none.
pub fn client_address(peer: &Peer, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let mut address = peer.address;
    if !is_trusted(&address) {
        return address;
    }
    let chain = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = chain.flat_map(|value| value.split(',')).map(str::trim).collect();
    for hop in hops.into_iter().rev() {
        match hop.parse::<IpAddr>() {
            Ok(named) => address = named.to_canonical(),
            Err(_) => break,
        }
        if !is_trusted(&address) {
            break;
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::listener::peer::Connection;

    fn peer(address: [u8; 4]) -> Peer {
        Connection::new(SocketAddr::from((address, 1)), false).request()
    }

    #[test]
    fn a_via_of_this_gateway_is_recognised_among_others() {
        let via = |value: &'static str| {
            HeaderMap::from_iter([(header::VIA, header::HeaderValue::from_static(value))])
        };
        assert!(came_through_here(&via("1.0 fred, 1.1 toll")));
        assert!(came_through_here(&via("2 Toll (on the edge)")));
        assert!(!came_through_here(&via("1.1 tollgate, 1.1 p.example (toll)")));
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().expect("a net")];
        let headers = HeaderMap::from_iter([(
            "x-forwarded-for".parse().expect("a name"),
            "6.6.6.6, 203.0.113.9, 10.0.0.2".parse().expect("a value"),
        )]);
        assert_eq!(client_address(&peer([10, 0, 0, 1]), &headers, &trusted).to_string(), "203.0.113.9");
        assert_eq!(client_address(&peer([192, 0, 2, 1]), &headers, &trusted).to_string(), "192.0.2.1");
    }
}

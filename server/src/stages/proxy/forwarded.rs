//! Who asked, told to the upstream: `X-Forwarded-*` and `Forwarded` (RFC 7239).

use std::net::IpAddr;

use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;

use crate::listener::peer::Peer;

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// What strangers say of themselves is not passed on: the chain begins at the first address that Toll itself saw or
/// trusts. `host` is what the client asked for.
pub fn tell(headers: &mut HeaderMap, peer: &Peer, trusted: &[IpNet], host: Option<HeaderValue>) {
    let near = peer.connection.address.ip().to_canonical();
    let scheme = if peer.connection.secure { "https" } else { "http" };
    if trusted.iter().any(|net| net.contains(&near)) {
        continue_rfc_7239(headers, near, scheme);
    } else {
        forget(headers);
    }
    let chain = headers.get_all(FOR).iter().filter_map(|value| value.to_str().ok());
    let chain: Vec<String> = chain.map(str::to_owned).chain([near.to_string()]).collect();
    if let Ok(chain) = HeaderValue::from_str(&chain.join(", ")) {
        headers.insert(FOR, chain);
    }
    if let (Some(host), false) = (host, headers.contains_key(HOST)) {
        headers.insert(HOST, host);
    }
    headers.entry(PROTO).or_insert(HeaderValue::from_static(scheme));
}

fn forget(headers: &mut HeaderMap) {
    let claims: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("x-forwarded-") || **name == FORWARDED || **name == REAL_IP)
        .cloned()
        .collect();
    for name in claims {
        headers.remove(name);
    }
}

/// A chain in the standard's form is continued; none is begun, since `X-Forwarded-*` says it already.
fn continue_rfc_7239(headers: &mut HeaderMap, near: IpAddr, scheme: &str) {
    if !headers.contains_key(FORWARDED) {
        return;
    }
    let node = match near {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("\"[{address}]\""),
    };
    if let Ok(hop) = HeaderValue::from_str(&format!("for={node};proto={scheme}")) {
        headers.append(FORWARDED, hop);
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::listener::peer::Connection;

    fn told(from: &str, said: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
        let peer = Connection::new(from.parse::<SocketAddr>().expect("an address"), false).request();
        let mut headers: HeaderMap = said
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        let trusted: Vec<IpNet> =
            vec!["10.0.0.0/8".parse().expect("a net"), "::1/128".parse().expect("a net")];
        tell(&mut headers, &peer, &trusted, Some(HeaderValue::from_static("toll.example")));
        let text = |value: &HeaderValue| value.to_str().expect("text").to_owned();
        let mut told: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        told.sort();
        told
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    const CLAIMS: &[(&str, &str)] = &[
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-host", "shop.example"),
        ("x-forwarded-port", "99"),
        ("x-forwarded-proto", "https"),
        ("x-real-ip", "6.6.6.6"),
        ("forwarded", "for=203.0.113.9"),
    ];

    #[test]
    fn a_strangers_claims_are_forgotten() {
        let expected = pairs(&[
            ("x-forwarded-for", "192.0.2.1"),
            ("x-forwarded-host", "toll.example"),
            ("x-forwarded-proto", "http"),
        ]);
        assert_eq!(told("192.0.2.1:5", CLAIMS), expected);
    }

    #[test]
    fn a_trusted_proxys_are_kept_and_continued() {
        let expected = pairs(&[
            ("forwarded", "for=\"[::1]\";proto=http"),
            ("forwarded", "for=203.0.113.9"),
            ("x-forwarded-for", "203.0.113.9, ::1"),
            ("x-forwarded-host", "shop.example"),
            ("x-forwarded-port", "99"),
            ("x-forwarded-proto", "https"),
            ("x-real-ip", "6.6.6.6"),
        ]);
        assert_eq!(told("[::1]:5", CLAIMS), expected);
        assert_eq!(told("10.0.0.1:5", &[])[0], pairs(&[("x-forwarded-for", "10.0.0.1")])[0]);
    }
}

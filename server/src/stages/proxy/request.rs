//! The head of a request as the upstream gets it.

use http::header::{self, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, Request, Version};
use ipnet::IpNet;

use super::cookies;
use crate::body::Body;
use crate::catalog::{Route, Target};
use crate::ledger::Entry;
use crate::listener::peer::Peer;
use crate::stages::key::Caller;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A head that can be sent to any of the upstream's targets.
pub struct Head {
    pub parts: Parts,
    /// Byte for byte as it came, less the route's prefix where it is stripped.
    pub path: String,
}

impl Head {
    pub fn to(&self, target: &Target, body: Body) -> Request<Body> {
        let mut text = String::with_capacity(target.base.len() + self.path.len() + 64);
        text.push_str(&target.base);
        text.push_str(&self.path);
        if let Some(query) = self.parts.uri.query() {
            text.push('?');
            text.push_str(query);
        }
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(target.scheme.clone());
        uri.authority = Some(target.authority.clone());
        uri.path_and_query =
            Some(PathAndQuery::try_from(text).expect("a part of a valid target behind a valid base is one"));
        let mut request = Request::new(body);
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = Uri::from_parts(uri).expect("scheme, authority and path are there");
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = self.parts.headers.clone();
        request
    }
}

/// Takes away what is between the client and Toll, adds what is between Toll and the upstream.
pub fn prepare(
    parts: &mut Parts,
    peer: &Peer,
    trusted: &[IpNet],
    entry: &Entry,
    route: &Route,
    caller: Option<&Caller>,
) {
    let headers = &mut parts.headers;
    let upgrade = wants_upgrade(headers).then(|| headers.get(header::UPGRADE).cloned()).flatten();
    remove_hop_by_hop(headers);
    if let Some(protocol) = upgrade {
        headers.insert(header::UPGRADE, protocol);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    remove_toll(headers);
    cookies::remove_session(headers);
    // hyper has answered it, and sends the body at once.
    headers.remove(header::EXPECT);
    let host = headers.remove(header::HOST);
    forwarded(headers, peer, trusted, host);
    headers.append(header::VIA, HeaderValue::from_static("1.1 toll"));
    if let Ok(id) = HeaderValue::from_str(&entry.record.request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let (true, Some(caller)) = (route.identity, caller) {
        if let Ok(partner) = HeaderValue::from_str(&caller.key.partner_slug) {
            headers.insert("x-toll-partner", partner);
        }
        headers.insert("x-toll-key-id", HeaderValue::from(caller.key.id));
    }
    for (name, value) in &route.upstream.headers {
        headers.insert(name.clone(), value.clone());
    }
}

/// `X-Forwarded-*` of strangers is not passed on: the chain begins at the first address that Toll itself saw or trusts.
fn forwarded(headers: &mut HeaderMap, peer: &Peer, trusted: &[IpNet], host: Option<HeaderValue>) {
    let near = peer.connection.address.ip().to_canonical();
    let is_trusted = trusted.iter().any(|net| net.contains(&near));
    if !is_trusted {
        for name in [header::FORWARDED, FORWARDED_FOR, FORWARDED_HOST, FORWARDED_PROTO] {
            headers.remove(name);
        }
    }
    if let Ok(near) = HeaderValue::from_str(&near.to_string()) {
        headers.append(FORWARDED_FOR, near);
    }
    if let (Some(host), false) = (host, headers.contains_key(FORWARDED_HOST)) {
        headers.insert(FORWARDED_HOST, host);
    }
    if !headers.contains_key(FORWARDED_PROTO) {
        let scheme = if peer.connection.secure { "https" } else { "http" };
        headers.insert(FORWARDED_PROTO, HeaderValue::from_static(scheme));
    }
}

/// RFC 9110 §7.6.1: what `Connection` names, and what belongs to one connection anyway.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        .collect();
    let always = [
        header::CONNECTION,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ];
    for name in named.iter().chain(&always) {
        headers.remove(name);
    }
}

/// Toll's own headers come from Toll alone.
pub fn remove_toll(headers: &mut HeaderMap) {
    let toll: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("x-toll-")).cloned().collect();
    for name in toll {
        headers.remove(name);
    }
}

/// RFC 9110 §7.8: an upgrade is asked for by both headers.
pub fn wants_upgrade(headers: &HeaderMap) -> bool {
    let names_upgrade = |value: &HeaderValue| {
        value
            .to_str()
            .is_ok_and(|value| value.split(',').any(|name| name.trim().eq_ignore_ascii_case("upgrade")))
    };
    headers.contains_key(header::UPGRADE) && headers.get_all(header::CONNECTION).iter().any(names_upgrade)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn what_connection_names_goes_no_further() {
        let mut all = headers(&[
            ("connection", "close, X-Secret"),
            ("x-secret", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("x-toll-partner", "forged"),
            ("accept", "*/*"),
        ]);
        remove_hop_by_hop(&mut all);
        remove_toll(&mut all);
        assert_eq!(all, headers(&[("accept", "*/*")]));
    }

    #[test]
    fn an_upgrade_needs_both_headers() {
        assert!(wants_upgrade(&headers(&[("connection", "keep-alive, Upgrade"), ("upgrade", "websocket")])));
        assert!(!wants_upgrade(&headers(&[("upgrade", "websocket")])));
        assert!(!wants_upgrade(&headers(&[("connection", "upgrade")])));
    }
}

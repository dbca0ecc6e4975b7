//! The head of a request as the upstream gets it.

use http::header::{self, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, Method, Request, Version};
use ipnet::IpNet;

use super::{cookies, forwarded};
use crate::body::Body;
use crate::catalog::{Route, Target};
use crate::ledger::Entry;
use crate::listener::peer::Peer;
use crate::stages::key::Caller;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");
/// Headers that must mean what Toll took them to mean.
const OURS: [&str; 13] = [
    "authorization",
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-api-key",
    "x-real-ip",
];

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
    let host = asked_host(parts);
    let via = via(parts.version);
    let headers = &mut parts.headers;
    let upgrade = wants_upgrade(headers).then(|| headers.get(header::UPGRADE).cloned()).flatten();
    remove_hop_by_hop(headers);
    if let Some(protocol) = upgrade {
        headers.insert(header::UPGRADE, protocol);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    remove_toll(headers);
    cookies::remove_session(headers);
    cookies::join(headers);
    remove_lookalikes(headers, &route.upstream.headers);
    // hyper has answered it, and sends the body at once.
    headers.remove(header::EXPECT);
    headers.remove(HTTP2_SETTINGS);
    forwarded::tell(headers, peer, trusted, host);
    headers.append(header::VIA, via);
    if parts.method == Method::OPTIONS || parts.method == Method::TRACE {
        count_hop(headers);
    }
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

/// The host that the client wants: that of an absolute target or `:authority` goes before `Host` (RFC 9112 §3.2.2). The
/// upstream's own takes its place.
fn asked_host(parts: &mut Parts) -> Option<HeaderValue> {
    let host = parts.headers.remove(header::HOST);
    match parts.uri.authority() {
        Some(authority) => HeaderValue::from_str(authority.as_str()).ok(),
        None => host,
    }
}

/// RFC 9110 §7.6.3: by which protocol the request came.
fn via(version: Version) -> HeaderValue {
    HeaderValue::from_static(match version {
        Version::HTTP_10 => "1.0 toll",
        Version::HTTP_2 => "2 toll",
        _ => "1.1 toll",
    })
}

/// One hop less is left (RFC 9110 §7.6.2); the route stage has answered where none was.
fn count_hop(headers: &mut HeaderMap) {
    let left = headers.get(header::MAX_FORWARDS).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    if let Some(left) = left.and_then(|left: u64| left.checked_sub(1)) {
        headers.insert(header::MAX_FORWARDS, left.into());
    }
}

/// Names that CGI and its descendants (WSGI, PHP, Rack) cannot tell from those that Toll answers for: there `_` and `-`
/// are one.
fn remove_lookalikes(headers: &mut HeaderMap, configured: &[(HeaderName, HeaderValue)]) {
    let is_ours = |dashed: &str| {
        ["x-toll-", "x-forwarded-"].iter().any(|prefix| dashed.starts_with(prefix))
            || OURS.contains(&dashed)
            || configured.iter().any(|(name, _)| name.as_str() == dashed)
    };
    let lookalikes: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().contains('_') && is_ours(&name.as_str().replace('_', "-")))
        .cloned()
        .collect();
    for name in lookalikes {
        headers.remove(name);
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

/// RFC 9110 §7.8: an upgrade is asked for by both headers. Not one to HTTP/2: through such a tunnel requests would pass
/// the gateway unseen; RFC 9113 §3.1 has withdrawn it. Nor one with a body, which would have to be read first.
pub fn wants_upgrade(headers: &HeaderMap) -> bool {
    let names_upgrade = |value: &HeaderValue| {
        value
            .to_str()
            .is_ok_and(|value| value.split(',').any(|name| name.trim().eq_ignore_ascii_case("upgrade")))
    };
    let is_http = |protocol: &HeaderValue| {
        protocol.to_str().is_ok_and(|names| {
            names.split([',', '/']).any(|name| {
                ["h2", "h2c", "h3", "http", "tls"].iter().any(|http| name.trim().eq_ignore_ascii_case(http))
            })
        })
    };
    let protocols = || headers.get_all(header::UPGRADE).iter();
    let has_body = headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0");
    headers.contains_key(header::UPGRADE)
        && !has_body
        && !protocols().any(is_http)
        && headers.get_all(header::CONNECTION).iter().any(names_upgrade)
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

    #[test]
    fn an_upgrade_to_http_or_with_a_body_is_none() {
        for protocol in ["h2c", "H2C", "HTTP/2.0", "TLS/1.0", "websocket, h2c"] {
            assert!(
                !wants_upgrade(&headers(&[("connection", "upgrade"), ("upgrade", protocol)])),
                "{protocol}"
            );
        }
        for (name, value) in [("content-length", "3"), ("transfer-encoding", "chunked")] {
            let asked = [("connection", "upgrade"), ("upgrade", "websocket"), (name, value)];
            assert!(!wants_upgrade(&headers(&asked)), "{name}");
        }
    }

    #[test]
    fn names_that_some_servers_take_for_ours_go_no_further() {
        let configured = [(HeaderName::from_static("x-service-token"), HeaderValue::from_static("s"))];
        let mut all = headers(&[
            ("content_length", "3"),
            ("x_toll_partner", "forged"),
            ("x_forwarded_for", "6.6.6.6"),
            ("x_service_token", "forged"),
            ("x_other", "kept"),
        ]);
        remove_lookalikes(&mut all, &configured);
        assert_eq!(all, headers(&[("x_other", "kept")]));
    }

    #[test]
    fn one_hop_less_is_left() {
        let mut all = headers(&[("max-forwards", "3")]);
        count_hop(&mut all);
        assert_eq!(all, headers(&[("max-forwards", "2")]));
    }
}

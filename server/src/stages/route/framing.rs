//! What hyper leaves to the application: `Host`, `CONNECT` and `*`.

use app::domain::outcome::Outcome;
use http::uri::Authority;
use http::{Method, Request, Version, header};

use super::single;
use crate::listener::peer::Peer;
use crate::listener::wire::Fault;

/// How the request is refused, and what its sender is told.
pub type Bad = (Outcome, &'static str);

/// RFC 9112 §3.2: one `Host`, and a valid one; and what the wire found.
pub fn check<B>(request: &Request<B>, peer: &Peer) -> Result<(), Bad> {
    match peer.fault {
        Some(Fault::Refused { outcome, detail }) => return Err((outcome, detail)),
        Some(Fault::Unreadable { detail, .. }) => return Err((Outcome::BadRequest, detail)),
        None => {}
    }
    let judged = match (request.method(), request.uri().path()) {
        (&Method::CONNECT, _) => Err("this gateway opens no tunnels"),
        (method, "*") if method != Method::OPTIONS => Err("`*` is a target for OPTIONS only"),
        _ => check_values(request).and_then(|()| check_length(request)).and_then(|()| check_host(request)),
    };
    judged.map_err(|why| (Outcome::BadRequest, why))
}

/// RFC 9113 §8.2.1, which h2 leaves open: over HTTP/1 such blanks are not part of a value, and the next server would read
/// another one.
fn check_values<B>(request: &Request<B>) -> Result<(), &'static str> {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let mut values = request.headers().values().map(|value| value.as_bytes());
    let is_odd = request.version() >= Version::HTTP_2
        && values.any(|value| is_blank(value.first()) || is_blank(value.last()));
    if is_odd { Err("a header's value begins or ends with a blank") } else { Ok(()) }
}

/// Over HTTP/1 the wire has judged it; HTTP/2 frames its bodies itself, and h2 compares (RFC 9113 §8.1.1).
fn check_length<B>(request: &Request<B>) -> Result<(), &'static str> {
    let is_odd = request.version() >= Version::HTTP_2
        && request.headers().contains_key(header::CONTENT_LENGTH)
        && single(request.headers(), &header::CONTENT_LENGTH)
            .is_none_or(|length| length != "0" && !is_plain(length));
    if is_odd { Err("`Content-Length` must stand once, as a plain decimal number") } else { Ok(()) }
}

/// Digits, the first of which counts: others may read `010` as eight.
fn is_plain(number: &str) -> bool {
    matches!(number.bytes().next(), Some(b'1'..=b'9')) && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn check_host<B>(request: &Request<B>) -> Result<(), &'static str> {
    let (headers, named) = (request.headers(), request.uri().authority());
    // That of an absolute target, or `:authority`: it goes before `Host` (RFC 9112 §3.2.2).
    if named.is_some_and(|authority| !is_host(authority.as_str())) {
        return Err("the target names no host");
    }
    if !headers.contains_key(header::HOST) {
        return match request.version() {
            version if version < Version::HTTP_11 => Ok(()),
            version if version >= Version::HTTP_2 && named.is_some() => Ok(()),
            _ => Err("`Host` is missing"),
        };
    }
    let host = single(headers, &header::HOST).ok_or("`Host` must stand exactly once")?;
    if !is_host(host) {
        return Err("`Host` names no host");
    }
    // RFC 9113 §8.3.1: the two must not differ.
    let differs = named.is_some_and(|authority| !authority.as_str().eq_ignore_ascii_case(host));
    if differs && request.version() >= Version::HTTP_2 {
        return Err("`Host` is not what `:authority` says");
    }
    Ok(())
}

/// `uri-host [ ":" port ]`, as RFC 9110 §7.2 has it: no user, no path, no list.
fn is_host(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let port_is_fine = match text.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') => port.is_empty() || port.parse::<u16>().is_ok(),
        _ => true,
    };
    !text.contains(['@', ',', '/', ' ', '+']) && !authority.host().is_empty() && port_is_fine
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::listener::peer::Connection;

    fn judge(version: Version, target: &str, hosts: &[&str]) -> Result<(), Bad> {
        let request = hosts.iter().fold(Request::builder().version(version).uri(target), |builder, host| {
            builder.header("host", *host)
        });
        let peer = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false).request();
        check(&request.body(()).expect("a request"), &peer)
    }

    #[test]
    fn host_must_stand_once_and_name_a_host() {
        let judge = |hosts: &[&str]| judge(Version::HTTP_11, "/api/x", hosts);
        for good in ["toll.example", "127.0.0.1:8080", "[::1]:8080", "[::1]", "a_b.example", "host:"] {
            assert!(judge(&[good]).is_ok(), "{good}");
        }
        for bad in [
            &[][..],
            &["a", "b"],
            &["a", "a"],
            &[""],
            &["user@host"],
            &["a,b"],
            &["a, b"],
            &["host/path"],
            &["host?q"],
            &["host#f"],
            &["host:99999"],
            &["host:a"],
            &["host:+1"],
            &["a b"],
            &[":80"],
            &["[::1"],
            &["http://host"],
        ] {
            assert!(judge(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn http_1_0_may_go_without_host_but_not_with_a_bad_one() {
        assert!(judge(Version::HTTP_10, "/api/x", &[]).is_ok());
        assert!(judge(Version::HTTP_10, "/api/x", &["a", "b"]).is_err());
    }

    #[test]
    fn an_absolute_target_names_a_host_without_a_user() {
        assert!(
            judge(Version::HTTP_11, "http://a/api/x", &["b"]).is_ok(),
            "RFC 9112 §3.2.2: Host is ignored"
        );
        assert!(judge(Version::HTTP_11, "http://a/api/x", &[]).is_err(), "but must be there");
        assert!(judge(Version::HTTP_11, "http://me@a/api/x", &["a"]).is_err());
    }

    #[test]
    fn http_2_needs_an_authority_and_host_must_agree_with_it() {
        assert!(judge(Version::HTTP_2, "http://a/api/x", &[]).is_ok());
        assert!(judge(Version::HTTP_2, "http://a/api/x", &["A"]).is_ok());
        assert!(judge(Version::HTTP_2, "http://a/api/x", &["b"]).is_err());
        assert!(judge(Version::HTTP_2, "/api/x", &["a"]).is_ok());
        assert!(judge(Version::HTTP_2, "/api/x", &[]).is_err());
    }
}

//! What a request asks, as the upstream sees it: for choosing among stored answers.

use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use ipnet::IpNet;

use crate::listener::peer::Peer;
use crate::stages::key::Identified;

/// Bytes that select an answer among those under one URI; different questions never have the same.
pub type Selecting = Vec<u8>;

/// The request's side of the comparison, borrowed: a hit copies no headers.
#[derive(Clone, Copy)]
pub struct View<'a> {
    headers: &'a HeaderMap,
    /// Partner and key, where the gateway tells the upstream who it is.
    identity: Option<(&'a str, i64)>,
    /// Scheme and host by which the client called: an upstream may build links from them.
    scheme: &'a [u8],
    host: &'a [u8],
}

/// The same, kept while the upstream is asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As the client sent them.
    pub headers: HeaderMap,
    identity: Option<(String, i64)>,
    scheme: Box<[u8]>,
    host: Box<[u8]>,
    /// The answer may depend on who asks: credentials went up, or the gateway told the upstream who it is.
    pub has_credentials: bool,
    pub has_cookie: bool,
}

impl<'a> View<'a> {
    pub fn of(identified: &'a Identified, trusted: &[IpNet]) -> View<'a> {
        let routed = &identified.routed;
        let caller = identified.caller.as_ref().filter(|_| routed.route.identity);
        let (scheme, host) = origin(&routed.arrived.request, &routed.arrived.peer, trusted);
        View {
            headers: routed.arrived.request.headers(),
            identity: caller.map(|caller| (caller.key.partner_slug.as_str(), caller.key.id)),
            scheme,
            host,
        }
    }

    pub fn keep(&self) -> Asked {
        Asked {
            headers: self.headers.clone(),
            identity: self.identity.map(|(partner, key)| (partner.to_owned(), key)),
            scheme: self.scheme.into(),
            host: self.host.into(),
            has_credentials: self.identity.is_some() || self.headers.contains_key(header::AUTHORIZATION),
            has_cookie: self.headers.contains_key(header::COOKIE),
        }
    }

    /// Every part is preceded by its length, so that no crafted value reads like two others.
    pub fn selecting(&self, vary: &[HeaderName]) -> Selecting {
        let mut selecting = Vec::with_capacity(64);
        push(&mut selecting, self.scheme);
        push(&mut selecting, &self.host.to_ascii_lowercase());
        for name in vary {
            match (self.identity, name.as_str()) {
                (Some((partner, _)), "x-toll-partner") => push(&mut selecting, partner.as_bytes()),
                (Some((_, key)), "x-toll-key-id") => push(&mut selecting, &key.to_be_bytes()),
                _ => match normal(self.headers, name) {
                    Some(value) => push(&mut selecting, &value),
                    // Absent is not empty.
                    None => selecting.extend(u32::MAX.to_be_bytes()),
                },
            }
        }
        selecting
    }
}

impl Asked {
    pub fn view(&self) -> View<'_> {
        View {
            headers: &self.headers,
            identity: self.identity.as_ref().map(|(partner, key)| (partner.as_str(), *key)),
            scheme: &self.scheme,
            host: &self.host,
        }
    }

    #[cfg(test)]
    pub fn for_tests(pairs: &[(&'static str, &'static str)]) -> Asked {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        let (has_credentials, has_cookie) =
            (headers.contains_key(header::AUTHORIZATION), headers.contains_key(header::COOKIE));
        let (scheme, host) = ((*b"http").into(), (*b"toll.example").into());
        Asked { headers, identity: None, scheme, host, has_credentials, has_cookie }
    }
}

fn push(selecting: &mut Selecting, part: &[u8]) {
    selecting.extend((part.len() as u32).to_be_bytes());
    selecting.extend(part);
}

/// RFC 9111 §4.1: lines are one list, and blank space around its members says nothing. The order stays: it may mean
/// something. Languages and codings have no case.
fn normal(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<u8>> {
    let mut lines = headers.get_all(name).iter().map(HeaderValue::as_bytes).peekable();
    lines.peek()?;
    let mut value = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for (n, line) in lines.enumerate() {
        if n > 0 {
            trim_end(&mut value);
            value.push(b',');
        }
        for &byte in line {
            let blank = byte == b' ' || byte == b'\t';
            if blank && !quoted && matches!(value.last(), None | Some(b',')) {
                continue;
            }
            if byte == b',' && !quoted {
                trim_end(&mut value);
            }
            if byte == b'"' && !escaped {
                quoted = !quoted;
            }
            escaped = quoted && byte == b'\\' && !escaped;
            value.push(byte);
        }
    }
    trim_end(&mut value);
    if [header::ACCEPT_LANGUAGE, header::ACCEPT_ENCODING, header::ACCEPT_CHARSET].contains(name) {
        value.make_ascii_lowercase();
    }
    Some(value)
}

fn trim_end(value: &mut Vec<u8>) {
    let kept = value.trim_ascii_end().len();
    value.truncate(kept);
}

/// Scheme and host as `X-Forwarded-Proto` and `-Host` tell them to the upstream.
fn origin<'a, B>(request: &'a Request<B>, peer: &Peer, trusted: &[IpNet]) -> (&'a [u8], &'a [u8]) {
    let near = peer.connection.address.ip().to_canonical();
    let is_trusted = trusted.iter().any(|net| net.contains(&near));
    let told = |name: &str| request.headers().get(name).filter(|_| is_trusted).map(HeaderValue::as_bytes);
    let own: &[u8] = if peer.connection.secure { b"https" } else { b"http" };
    let host = || {
        let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
        authority.or_else(|| request.headers().get(header::HOST).map(HeaderValue::as_bytes))
    };
    (told("x-forwarded-proto").unwrap_or(own), told("x-forwarded-host").or_else(host).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selecting(pairs: &[(&'static str, &'static str)], vary: &[HeaderName]) -> Selecting {
        Asked::for_tests(pairs).view().selecting(vary)
    }

    #[test]
    fn absent_empty_and_different_values_select_differently() {
        let names = [header::ACCEPT, header::ACCEPT_LANGUAGE];
        let all = [
            selecting(&[], &names),
            selecting(&[("accept", "")], &names),
            selecting(&[("accept", "a")], &names),
            selecting(&[("accept-language", "a")], &names),
            selecting(&[("accept", "a"), ("accept", "b")], &names),
            selecting(&[("accept", "b"), ("accept", "a")], &names),
            selecting(&[("accept", "ab")], &names),
            selecting(&[("accept", "\"a, b\"")], &names),
            selecting(&[("accept", "\"a,b\"")], &names),
        ];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(a == b, i == j, "{i} {j}");
            }
        }
    }

    #[test]
    fn lines_are_one_list_and_blank_space_says_nothing_rfc_9111_4_1() {
        let names = [header::ACCEPT, header::ACCEPT_LANGUAGE];
        let plain = selecting(&[("accept", "1,2")], &names);
        for same in ["1, 2", " 1 ,\t2 "] {
            assert_eq!(selecting(&[("accept", same)], &names), plain, "{same}");
        }
        assert_eq!(selecting(&[("accept", "1"), ("accept", "2")], &names), plain);
        let english = selecting(&[("accept-language", "EN-gb")], &names);
        assert_eq!(english, selecting(&[("accept-language", "en-GB")], &names));
        assert_ne!(selecting(&[("accept", "A")], &names), selecting(&[("accept", "a")], &names));
    }
}

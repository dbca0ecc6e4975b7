//! Trailers of requests and of answers (RFC 9110 §6.5).

use bytes::Bytes;
use futures::stream;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};

use crate::body::{Body, BodyError};

/// What frames, routes or authenticates a message, belongs to one connection, or says how the message is to be taken.
const OF_THE_HEAD: [&str; 36] = [
    "age",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "expect",
    "expires",
    "forwarded",
    "host",
    "if-match",
    "if-none-match",
    "keep-alive",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "via",
    "warning",
    "www-authenticate",
    "x-api-key",
    "x-real-ip",
    "x-request-id",
];

/// Takes away what must be known before the body, and so may come in no trailer (RFC 9110 §6.5.1): a server that merges
/// trailers into the head would otherwise believe it.
pub fn tidy(trailers: &mut HeaderMap) {
    let refused: Vec<HeaderName> =
        trailers.keys().filter(|name| !may_trail(name.as_str())).cloned().collect();
    for name in refused {
        trailers.remove(name);
    }
}

fn may_trail(name: &str) -> bool {
    let is_tolls = ["x-toll-", "x-forwarded-"].iter().any(|prefix| name.starts_with(prefix));
    !is_tolls && !name.contains('_') && !OF_THE_HEAD.contains(&name)
}

/// A body that is there whole, with trailers. Its length is kept from hyper, which then sends it in chunks: behind a
/// `Content-Length` there is no place for trailers.
pub fn body(data: Bytes, trailers: HeaderMap) -> Body {
    let frames = [Ok::<_, BodyError>(Frame::data(data)), Ok(Frame::trailers(trailers))];
    StreamBody::new(stream::iter(frames)).boxed_unsync()
}

/// Names them in `Trailer`; hyper sends no others.
pub fn announce(trailers: &HeaderMap, head: &mut HeaderMap) {
    let names: Vec<&str> = trailers.keys().map(HeaderName::as_str).collect();
    if let Ok(names) = HeaderValue::from_str(&names.join(", ")) {
        head.insert(header::TRAILER, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_head_must_say_is_not_taken_from_a_trailer() {
        let names = [
            "digest",
            "content-length",
            "host",
            "x-toll-partner",
            "content_length",
            "x-api-key",
            "x-checksum",
            "set-cookie",
            "grpc-status",
        ];
        let mut trailers: HeaderMap =
            names.iter().map(|name| (HeaderName::from_static(name), HeaderValue::from_static("1"))).collect();
        tidy(&mut trailers);
        let mut kept: Vec<&str> = trailers.keys().map(HeaderName::as_str).collect();
        kept.sort_unstable();
        assert_eq!(kept, ["digest", "grpc-status", "x-checksum"]);
    }
}

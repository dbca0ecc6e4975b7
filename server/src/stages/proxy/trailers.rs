//! Trailers of requests (RFC 9110 §6.5).

use bytes::Bytes;
use futures::stream;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};

use crate::body::{Body, BodyError};

/// Takes away what must be known before the body, and so may come in no trailer (RFC 9110 §6.5.1): a server that merges
/// trailers into the head would otherwise believe it.
pub fn tidy(trailers: &mut HeaderMap) {
    let refused: Vec<HeaderName> = trailers.keys().filter(|name| !may_trail(name)).cloned().collect();
    for name in refused {
        trailers.remove(name);
    }
}

fn may_trail(name: &HeaderName) -> bool {
    let is_tolls = ["x-toll-", "x-forwarded-"].iter().any(|prefix| name.as_str().starts_with(prefix));
    !is_tolls
        && !name.as_str().contains('_')
        && !matches!(
            *name,
            header::AUTHORIZATION
                | header::CACHE_CONTROL
                | header::CONNECTION
                | header::CONTENT_ENCODING
                | header::CONTENT_LENGTH
                | header::CONTENT_RANGE
                | header::CONTENT_TYPE
                | header::COOKIE
                | header::EXPECT
                | header::FORWARDED
                | header::HOST
                | header::MAX_FORWARDS
                | header::PROXY_AUTHORIZATION
                | header::RANGE
                | header::TE
                | header::TRAILER
                | header::TRANSFER_ENCODING
                | header::UPGRADE
                | header::VIA
        )
        && !matches!(
            name.as_str(),
            "keep-alive" | "proxy-connection" | "x-api-key" | "x-real-ip" | "x-request-id"
        )
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
        ];
        let mut trailers: HeaderMap =
            names.iter().map(|name| (HeaderName::from_static(name), HeaderValue::from_static("1"))).collect();
        tidy(&mut trailers);
        let mut kept: Vec<&str> = trailers.keys().map(HeaderName::as_str).collect();
        kept.sort_unstable();
        assert_eq!(kept, ["digest", "x-checksum"]);
    }
}

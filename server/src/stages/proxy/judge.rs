//! What is wrong with the head of an answer, although it could be read.

use http::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING, UPGRADE};
use http::response::Parts;
use http::{HeaderValue, StatusCode, Version};

/// Why the answer is not passed on, in words for the log. `asked`: the protocols that the request would change to.
pub fn fault(parts: &Parts, asked: Option<&HeaderValue>) -> Option<&'static str> {
    if parts.status.as_u16() > 599 {
        return Some("its status is none of HTTP's");
    }
    if parts.status == StatusCode::SWITCHING_PROTOCOLS {
        return match asked {
            None => Some("it switched protocols without having been asked"),
            Some(asked) if !is_one_of(parts.headers.get(UPGRADE), asked) => {
                Some("it switched to a protocol that it was not asked for")
            }
            Some(_) => None,
        };
    }
    if parts.version <= Version::HTTP_11 { framing(parts) } else { None }
}

/// RFC 9112 §6.1 and §6.3: what two parsers could take for two different messages. hyper refuses some of this by itself.
fn framing(parts: &Parts) -> Option<&'static str> {
    let headers = &parts.headers;
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        if parts.version < Version::HTTP_11 {
            return Some("HTTP/1.0 has no transfer codings");
        }
        if headers.contains_key(CONTENT_LENGTH) {
            return Some("it has a length and a transfer coding");
        }
        if codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return Some("its transfer coding is not just chunked");
        }
    }
    length(headers).err()
}

/// The one length that is named, however often (RFC 9110 §8.6).
pub fn length(headers: &HeaderMap) -> Result<Option<u64>, &'static str> {
    let mut found = None;
    for value in headers.get_all(CONTENT_LENGTH) {
        for text in value.as_bytes().split(|byte| *byte == b',') {
            let digits = text.trim_ascii();
            // `parse` would take a sign.
            let is_plain = digits.iter().all(u8::is_ascii_digit);
            let length = std::str::from_utf8(digits).ok().filter(|_| is_plain);
            let length = length.and_then(|text| text.parse().ok()).ok_or("its length is no number")?;
            if found.is_some_and(|found: u64| found != length) {
                return Err("it has two lengths");
            }
            found = Some(length);
        }
    }
    Ok(found)
}

fn is_one_of(chosen: Option<&HeaderValue>, asked: &HeaderValue) -> bool {
    let (Some(chosen), asked) = (chosen, asked.as_bytes()) else { return false };
    let names = |value: &[u8], name: &[u8]| {
        value.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(name))
    };
    chosen.as_bytes().split(|byte| *byte == b',').all(|name| names(asked, name.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(version: Version, status: u16, headers: &[(&'static str, &'static str)]) -> Parts {
        let mut parts = http::Response::new(()).into_parts().0;
        (parts.version, parts.status) = (version, StatusCode::from_u16(status).expect("a status"));
        for (name, value) in headers {
            parts.headers.append(*name, HeaderValue::from_static(value));
        }
        parts
    }

    fn is_faulty(version: Version, status: u16, headers: &[(&'static str, &'static str)]) -> bool {
        fault(&parts(version, status, headers), None).is_some()
    }

    #[test]
    fn framing_that_could_be_read_in_two_ways_is_a_fault() {
        let (one, zero) = (Version::HTTP_11, Version::HTTP_10);
        assert!(!is_faulty(one, 200, &[("content-length", "5")]));
        assert!(!is_faulty(one, 200, &[("content-length", "5, 5"), ("content-length", "5")]));
        assert!(!is_faulty(one, 200, &[("transfer-encoding", "Chunked")]));
        for lengths in ["5, 6", "+5", "-5", "0x5", "5 5", "", "18446744073709551616"] {
            assert!(is_faulty(one, 304, &[("content-length", lengths)]), "{lengths:?}");
        }
        assert!(is_faulty(one, 200, &[("content-length", "5"), ("content-length", "6")]));
        assert!(is_faulty(one, 200, &[("content-length", "5"), ("transfer-encoding", "chunked")]));
        for coding in ["gzip", "gzip, chunked", "chunked, chunked", "chunked, identity", ""] {
            assert!(is_faulty(one, 200, &[("transfer-encoding", coding)]), "{coding:?}");
        }
        assert!(is_faulty(zero, 200, &[("transfer-encoding", "chunked")]));
        assert!(is_faulty(one, 600, &[]));
    }

    #[test]
    fn only_a_protocol_that_was_asked_for_is_switched_to() {
        let switched = |protocol, asked: Option<&'static str>| {
            let asked = asked.map(HeaderValue::from_static);
            fault(&parts(Version::HTTP_11, 101, &[("upgrade", protocol)]), asked.as_ref()).is_none()
        };
        assert!(switched("WebSocket", Some("websocket")) && switched("b", Some("a, b")));
        assert!(!switched("h2c", Some("websocket")) && !switched("websocket", None));
        let silent = fault(&parts(Version::HTTP_11, 101, &[]), Some(&HeaderValue::from_static("a")));
        assert!(silent.is_some());
    }
}

//! Preconditions (RFC 9110 §13): those of clients, judged by a stored answer, and those that Toll sends to validate it.

use http::header::{self, HeaderMap, HeaderValue};

use super::freshness::date_of;
use super::stored::Stored;

/// Whether the request's conditions say that the client has this version (RFC 9111 §4.3.2). `If-None-Match` counts
/// before `If-Modified-Since`, and compares weakly.
pub fn holds_this_version(asked: &HeaderMap, stored: &HeaderMap) -> bool {
    if asked.contains_key(header::IF_NONE_MATCH) {
        let etag = stored.get(header::ETAG).map(|etag| opaque(etag.as_bytes()));
        let lists = asked.get_all(header::IF_NONE_MATCH).iter().map(HeaderValue::as_bytes);
        return lists
            .flat_map(entity_tags)
            .any(|tag| tag == b"*" || etag.is_some_and(|etag| opaque(tag) == etag));
    }
    let since = date_of(asked, &header::IF_MODIFIED_SINCE);
    let modified = date_of(stored, &header::LAST_MODIFIED).or_else(|| date_of(stored, &header::DATE));
    matches!((since, modified), (Some(since), Some(modified)) if modified <= since)
}

/// Whether a range may be taken from this version (RFC 9110 §13.1.5): the same, and surely the same byte for byte.
pub fn range_is_of_this_version(asked: &HeaderMap, stored: &HeaderMap) -> bool {
    let Some(validator) = asked.get(header::IF_RANGE) else { return true };
    if let Some(etag) = stored.get(header::ETAG)
        && validator.as_bytes().starts_with(b"\"")
    {
        return validator == etag;
    }
    let same_date = stored.get(header::LAST_MODIFIED).is_some_and(|modified| modified == validator);
    let modified = date_of(stored, &header::LAST_MODIFIED);
    // RFC 9110 §8.8.2.2: a date is strong only if nothing could have changed within its second.
    let is_strong = matches!(
        (modified, date_of(stored, &header::DATE)),
        (Some(modified), Some(date)) if date - modified >= 1_000_000
    );
    same_date && is_strong
}

/// Makes the request ask whether the stored answer is still good (RFC 9111 §4.3.1), instead of what the client asked
/// of its own.
pub fn ask_about(stored: &Stored, request: &mut HeaderMap) {
    remove(request);
    let validators =
        [(header::ETAG, header::IF_NONE_MATCH), (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE)];
    for (has, asks) in validators {
        if let Some(value) = stored.headers.get(has) {
            request.insert(asks, value.clone());
        }
    }
}

/// Takes the client's conditions and range away.
pub fn remove(request: &mut HeaderMap) {
    for name in [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE, header::IF_RANGE, header::RANGE] {
        request.remove(name);
    }
}

pub fn is_conditional(headers: &HeaderMap) -> bool {
    headers.contains_key(header::IF_NONE_MATCH) || headers.contains_key(header::IF_MODIFIED_SINCE)
}

/// RFC 9110 §15.4.5: what a 304 must repeat of the 200, and nothing that describes the body.
pub fn headers_of_304(stored: &HeaderMap) -> HeaderMap {
    let mut headers = stored.clone();
    for name in [
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
        header::CONTENT_RANGE,
        header::ACCEPT_RANGES,
    ] {
        headers.remove(name);
    }
    if headers.contains_key(header::ETAG) {
        headers.remove(header::LAST_MODIFIED);
    }
    headers
}

/// A list of entity tags; commas within quotes belong to the tag.
fn entity_tags(list: &[u8]) -> Vec<&[u8]> {
    let (mut tags, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in list.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                tags.push(list[start..at].trim_ascii());
                start = at + 1;
            }
            _ => {}
        }
    }
    tags.push(list[start..].trim_ascii());
    tags
}

/// Without the mark of weakness.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        headers
    }

    #[test]
    fn lists_weak_tags_commas_in_quotes_and_the_star_are_understood() {
        let stored = headers(&[("etag", "\"a,b\"")]);
        for holds in ["\"a,b\"", "W/\"a,b\"", "\"x\", \"a,b\"", "*"] {
            assert!(holds_this_version(&headers(&[("if-none-match", holds)]), &stored), "{holds}");
        }
        for not in ["\"a\"", "\"b\"", "a,b", "\"x\""] {
            assert!(!holds_this_version(&headers(&[("if-none-match", not)]), &stored), "{not}");
        }
        let weak = headers(&[("etag", "W/\"ü\"")]);
        assert!(holds_this_version(&headers(&[("if-none-match", "\"ü\"")]), &weak));
    }

    #[test]
    fn a_tag_counts_before_a_date() {
        let stored = headers(&[("etag", "\"1\""), ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT")]);
        let later = ("if-modified-since", "Thu, 22 Oct 2015 07:28:00 GMT");
        assert!(holds_this_version(&headers(&[later]), &stored));
        assert!(!holds_this_version(&headers(&[later, ("if-none-match", "\"2\"")]), &stored));
        let earlier = ("if-modified-since", "Tue, 20 Oct 2015 07:28:00 GMT");
        assert!(!holds_this_version(&headers(&[earlier]), &stored));
        assert!(!holds_this_version(&headers(&[("if-modified-since", "yesterday")]), &stored));
        let rfc_850 = ("if-modified-since", "Wednesday, 21-Oct-15 07:28:00 GMT");
        assert!(holds_this_version(&headers(&[rfc_850]), &stored));
    }

    #[test]
    fn a_range_needs_a_strong_validator_rfc_9110_13_1_5() {
        let modified = ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT");
        let stored = headers(&[("etag", "\"1\""), modified, ("date", "Thu, 22 Oct 2015 07:28:00 GMT")]);
        let holds = |validator, stored: &HeaderMap| {
            range_is_of_this_version(&headers(&[("if-range", validator)]), stored)
        };
        assert!(holds("\"1\"", &stored));
        assert!(holds(modified.1, &stored));
        assert!(!holds("\"2\"", &stored));
        assert!(!holds("W/\"1\"", &stored));
        assert!(!holds("Thu, 22 Oct 2015 07:28:00 GMT", &stored));
        assert!(!holds("W/\"1\"", &headers(&[("etag", "W/\"1\"")])));
        let just_changed = headers(&[modified, ("date", modified.1)]);
        assert!(!holds(modified.1, &just_changed));
        assert!(range_is_of_this_version(&HeaderMap::new(), &stored));
    }
}

//! Who holds the stored version gets a 304 (RFC 9110 §13, RFC 9111 §4.3.2).

use http::{HeaderMap, header};

use super::policy::parse_date;

/// Whether the request's conditions say that the client has this version. `If-None-Match` counts before
/// `If-Modified-Since`, and compares weakly.
pub fn holds_this_version(asked: &HeaderMap, stored: &HeaderMap) -> bool {
    if asked.contains_key(header::IF_NONE_MATCH) {
        let lists = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let etag = stored.get(header::ETAG).and_then(|etag| etag.to_str().ok()).map(opaque);
        return lists
            .flat_map(entity_tags)
            .any(|tag| tag == "*" || etag.is_some_and(|etag| opaque(tag) == etag));
    }
    let date = |headers: &HeaderMap, name| parse_date(headers.get(name)?.to_str().ok()?);
    let since = date(asked, header::IF_MODIFIED_SINCE);
    let modified = date(stored, header::LAST_MODIFIED).or_else(|| date(stored, header::DATE));
    matches!((since, modified), (Some(since), Some(modified)) if modified <= since)
}

/// RFC 9110 §15.4.5: what a 304 must repeat of the 200, and nothing that describes the body.
pub fn headers_of_304(stored: &HeaderMap) -> HeaderMap {
    let repeated = [
        header::CACHE_CONTROL,
        header::CONTENT_LOCATION,
        header::DATE,
        header::ETAG,
        header::EXPIRES,
        header::VARY,
    ];
    let mut headers = HeaderMap::new();
    for name in repeated {
        for value in stored.get_all(&name) {
            headers.append(name.clone(), value.clone());
        }
    }
    headers
}

/// A list of entity tags; commas within quotes belong to the tag.
fn entity_tags(list: &str) -> Vec<&str> {
    let (mut tags, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in list.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                tags.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    tags.push(list[start..].trim());
    tags
}

/// Without the mark of weakness.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
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
    fn lists_weak_tags_commas_in_quotes_and_the_star_are_understood() {
        let stored = headers(&[("etag", "\"a,b\"")]);
        for holds in ["\"a,b\"", "W/\"a,b\"", "\"x\", \"a,b\"", "*"] {
            assert!(holds_this_version(&headers(&[("if-none-match", holds)]), &stored), "{holds}");
        }
        for not in ["\"a\"", "\"b\"", "a,b", "\"x\""] {
            assert!(!holds_this_version(&headers(&[("if-none-match", not)]), &stored), "{not}");
        }
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
    }
}

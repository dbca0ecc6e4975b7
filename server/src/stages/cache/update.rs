//! A stored answer whose headers are renewed: by a 304 (RFC 9111 §4.3.4) or by the answer to a HEAD (§4.3.5).

use http::{HeaderMap, header};

use super::freshness::http_date;
use super::stored::Stored;
use crate::clock::Micros;

/// The stored headers with those of the newer answer in their place (§3.2). What the stored bytes depend on stays.
pub fn merge(stored: &Stored, newer: &HeaderMap, now: Micros) -> HeaderMap {
    let keeps = [header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::CONTENT_RANGE];
    let mut merged = stored.headers.clone();
    for name in newer.keys().filter(|name| !keeps.contains(name)) {
        merged.remove(name);
        for value in newer.get_all(name) {
            merged.append(name.clone(), value.clone());
        }
    }
    // An answer without a date is of now; the old date would make it old.
    if !newer.contains_key(header::DATE)
        && let Some(date) = http_date(now)
    {
        merged.insert(header::DATE, date);
    }
    merged
}

/// Whether a 304 speaks of this answer: one with a tag names it (§4.3.4).
pub fn is_of(stored: &Stored, not_modified: &HeaderMap) -> bool {
    let opaque = |headers: &HeaderMap| {
        headers
            .get(header::ETAG)
            .map(|tag| tag.as_bytes().strip_prefix(b"W/").unwrap_or(tag.as_bytes()).to_vec())
    };
    match (opaque(&stored.headers), opaque(not_modified)) {
        (Some(stored), Some(newer)) => stored == newer,
        _ => true,
    }
}

/// Whether the 200 to a HEAD describes the stored answer: every validator that it has, and its length (§4.3.5).
pub fn describes(stored: &Stored, head: &HeaderMap) -> bool {
    let same = |name| head.get(&name).is_none_or(|value| stored.headers.get(&name) == Some(value));
    let length = head.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    same(header::ETAG)
        && same(header::LAST_MODIFIED)
        && length.is_none_or(|length: usize| length == stored.body.len())
}

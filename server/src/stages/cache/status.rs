//! `Cache-Status` (RFC 9211).

use app::domain::cache_miss::CacheMiss;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::clock::Micros;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// `left`: microseconds until the answer is stale.
pub fn hit(headers: &mut HeaderMap, left: Micros) {
    append(headers, format!("toll; hit; ttl={}", left.div_euclid(1_000_000)));
}

pub fn miss(headers: &mut HeaderMap, why: CacheMiss, upstream: Option<StatusCode>, stored: bool) {
    let why = match why {
        CacheMiss::Off | CacheMiss::Bypass => "bypass",
        CacheMiss::First => "uri-miss",
        CacheMiss::Vary => "vary-miss",
        CacheMiss::Stale => "stale",
    };
    let mut value = format!("toll; fwd={why}");
    if let Some(status) = upstream {
        value.push_str(&format!("; fwd-status={}", status.as_u16()));
    }
    if stored {
        value.push_str("; stored");
    }
    append(headers, value);
}

/// Caches nearer to the origin stand first.
fn append(headers: &mut HeaderMap, value: String) {
    if let Ok(value) = HeaderValue::from_str(&value) {
        headers.append(CACHE_STATUS, value);
    }
}

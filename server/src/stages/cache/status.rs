//! `Cache-Status` (RFC 9211).

use app::domain::cache_miss::CacheMiss;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::clock::Micros;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Why a request went past what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// The cache is not for such requests: a body, an upgrade, a precondition, `no-store`.
    Bypass,
    Method,
    UriMiss,
    VaryMiss,
    Stale,
    /// A stored answer would do, but the request wants a newer one.
    Request,
}

impl Forward {
    /// As the books have it.
    pub fn in_books(self) -> CacheMiss {
        match self {
            Forward::Bypass | Forward::Method | Forward::Request => CacheMiss::Bypass,
            Forward::UriMiss => CacheMiss::First,
            Forward::VaryMiss => CacheMiss::Vary,
            Forward::Stale => CacheMiss::Stale,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Forward::Bypass => "bypass",
            Forward::Method => "method",
            Forward::UriMiss => "uri-miss",
            Forward::VaryMiss => "vary-miss",
            Forward::Stale => "stale",
            Forward::Request => "request",
        }
    }
}

/// What became of a request that was not answered from the store at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forwarded {
    /// What the upstream said, if it was asked.
    pub status: Option<u16>,
    pub stored: bool,
    pub collapsed: bool,
    /// Of what was stored or given.
    pub left: Option<Micros>,
}

/// `left`: microseconds until the answer is stale; negative for a stale one.
pub fn hit(headers: &mut HeaderMap, left: Micros) {
    append(headers, format!("toll; hit; ttl={}", seconds(left)));
}

/// Neither given from the store nor asked for.
pub fn refused(headers: &mut HeaderMap, why: &'static str) {
    append(headers, format!("toll; detail={why}"));
}

pub fn forwarded(headers: &mut HeaderMap, why: Forward, what: Forwarded) {
    let mut value = format!("toll; fwd={}", why.word());
    if let Some(status) = what.status {
        value.push_str(&format!("; fwd-status={status}"));
    }
    if what.stored {
        value.push_str("; stored");
    }
    if what.collapsed {
        value.push_str("; collapsed");
    }
    if let Some(left) = what.left {
        value.push_str(&format!("; ttl={}", seconds(left)));
    }
    append(headers, value);
}

fn seconds(left: Micros) -> i64 {
    left.div_euclid(1_000_000)
}

/// Caches nearer to the origin stand first.
fn append(headers: &mut HeaderMap, value: String) {
    if let Ok(value) = HeaderValue::from_str(&value) {
        headers.append(CACHE_STATUS, value);
    }
}

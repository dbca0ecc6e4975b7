//! What a shared cache may store (RFC 9111 §3).

use std::time::Duration;

use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName, Method, StatusCode, header};

use super::asked::Asked;
use super::directives::ResponseDirectives;
use super::freshness::{self, http_date};
use super::stored::{Stored, Use};
use super::targeted::TOLL_CACHE_CONTROL;
use super::{tags, vary};
use crate::clock::Micros;
use crate::stages::proxy::EndsByClose;

/// Statuses whose meaning this cache knows (RFC 9110 §15), for `must-understand`.
const UNDERSTOOD: [u16; 16] =
    [200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 421, 451, 501];
/// Statuses that may be given a lifetime that the origin did not name (RFC 9110 §15.1).
const HEURISTIC: [u16; 11] = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501];

/// When and how an answer came.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub asked_at: Micros,
    pub now: Micros,
    /// The lifetime of answers that carry none of their own: this cache does not guess.
    pub fallback: Duration,
}

/// The head of an answer.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    pub status: StatusCode,
    pub headers: &'a HeaderMap,
}

/// Whether a request with these headers gets an answer that others can use: a part, or an answer to a precondition,
/// is for one only, whatever its status.
pub fn asks_for_the_whole(method: &Method, headers: &HeaderMap) -> bool {
    let narrowing = [header::RANGE, header::IF_RANGE, header::IF_MATCH, header::IF_UNMODIFIED_SINCE];
    *method == Method::GET && !narrowing.iter().any(|name| headers.contains_key(name))
}

/// Bodies that end with the connection may be cut short, and event streams do not end.
pub fn ends(extensions: &Extensions, headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes().trim_ascii_start());
    let is_stream = kind.len() >= 17 && kind[..17].eq_ignore_ascii_case(b"text/event-stream");
    extensions.get::<EndsByClose>().is_none() && !is_stream
}

/// The answer ready to be stored but for its body; `None` if it may not be, or would be of no use.
pub fn judge(asked: &Asked, head: Head<'_>, arrival: Arrival) -> Option<Stored> {
    let Head { status, headers } = head;
    let allowed = ResponseDirectives::of(headers);
    if !may_be_stored(asked, status, headers, &allowed) {
        return None;
    }
    let own = freshness::own_lifetime(headers, &allowed, arrival.now);
    if own.is_none() && (asked.has_cookie || asked.has_credentials) {
        // An answer that says nothing of its freshness may well depend on the cookie.
        return None;
    }
    let may_be_given = HEURISTIC.contains(&status.as_u16()) || allowed.public;
    if own.is_none() && !may_be_given {
        return None;
    }
    let vary = vary::names(headers)?;
    let stored = Stored {
        status,
        headers: storable(headers, &allowed, arrival.now),
        body: Bytes::new(),
        selecting: asked.view().selecting(&vary),
        vary,
        tags: tags::of(headers),
        asked_at: arrival.asked_at,
        came_at: arrival.now,
        initial_age: freshness::initial_age(headers, arrival.asked_at, arrival.now),
        lifetime: own.unwrap_or(arrival.fallback.as_micros() as Micros),
        usage: Use::of(&allowed),
    };
    stored.is_worth_keeping(own).then_some(stored)
}

fn may_be_stored(
    asked: &Asked,
    status: StatusCode,
    headers: &HeaderMap,
    allowed: &ResponseDirectives,
) -> bool {
    let is_whole = !status.is_informational() && !matches!(status.as_u16(), 206 | 304);
    // §5.2.2.3: who understands the status ignores the `no-store` beside it.
    let is_understood = UNDERSTOOD.contains(&status.as_u16());
    let no_store = match allowed.must_understand {
        true => !is_understood,
        false => allowed.no_store,
    };
    // A cookie is for one, unless the origin says that the field alone is.
    let is_left_out = withheld(allowed).any(|name| *name == header::SET_COOKIE);
    is_whole
        && !no_store
        && !allowed.private.is_whole()
        && (is_left_out || !headers.contains_key(header::SET_COOKIE))
        && (!asked.has_credentials || allowed.shareable_despite_credentials())
}

/// Fields that the origin keeps from shared caches (§5.2.2.7), or from use without asking (§5.2.2.4).
fn withheld(allowed: &ResponseDirectives) -> impl Iterator<Item = &HeaderName> {
    allowed.private.fields().iter().chain(allowed.no_cache.fields())
}

/// §3.1: without what belongs to one exchange only; what `Connection` names is gone already.
fn storable(headers: &HeaderMap, allowed: &ResponseDirectives, now: Micros) -> HeaderMap {
    let mut kept = headers.clone();
    let never = [
        header::AGE,
        header::PROXY_AUTHENTICATE,
        HeaderName::from_static("proxy-authentication-info"),
        header::PROXY_AUTHORIZATION,
        header::SET_COOKIE,
        TOLL_CACHE_CONTROL,
    ];
    for name in never.iter().chain(withheld(allowed)) {
        kept.remove(name);
    }
    // RFC 9110 §6.6.1: who stores an answer without a date gives it one.
    if let (false, Some(date)) = (kept.contains_key(header::DATE), http_date(now)) {
        kept.insert(header::DATE, date);
    }
    kept
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;

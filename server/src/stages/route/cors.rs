//! Cross-origin calls (the Fetch standard's CORS protocol) on routes that name origins. There Toll alone says who may
//! read what; on other routes the upstream does.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method, Request};

use crate::catalog::Route;

/// What a page may read of an answer besides the safelisted headers.
const EXPOSED: &str = "X-Toll-Stage, X-Toll-Outcome, X-Toll-Id, X-Toll-Metered, X-Request-Id, X-RateLimit-Limit, \
                       X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, \
                       Cache-Status, ETag";
const ANY: HeaderValue = HeaderValue::from_static("*");

pub fn origin(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut all = headers.get_all(ORIGIN).iter();
    all.next().filter(|_| all.next().is_none()).cloned()
}

pub fn is_preflight<B>(route: &Route, request: &Request<B>) -> bool {
    !route.cors.is_empty()
        && request.method() == Method::OPTIONS
        && request.headers().contains_key(ORIGIN)
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The value that lets pages of `origin` read; `None` if they may not.
fn allowed(route: &Route, origin: Option<&HeaderValue>) -> Option<HeaderValue> {
    let origin = origin?;
    let names = |wanted: &[u8]| route.cors.iter().any(|listed| listed.as_bytes() == wanted);
    match names(b"*") {
        true => Some(ANY),
        false => names(origin.as_bytes()).then(|| origin.clone()),
    }
}

/// The headers of a preflight's answer; a foreign origin gets none that allow anything.
pub fn preflight(route: &Route, asked: &HeaderMap, answer: &mut HeaderMap) {
    answer.append(VARY, HeaderValue::from_static("Origin"));
    let Some(allowed) = allowed(route, origin(asked).as_ref()) else {
        return;
    };
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    if let Ok(methods) = HeaderValue::from_str(&route.methods_text()) {
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    for headers in asked.get_all(ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.append(ACCESS_CONTROL_ALLOW_HEADERS, headers.clone());
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

/// Lets a page of an allowed origin read the answer, refusals included. What the upstream allows counts for nothing,
/// but the headers that it exposes stay exposed.
pub fn expose(route: &Route, origin: Option<&HeaderValue>, answer: &mut HeaderMap) {
    if route.cors.is_empty() {
        return;
    }
    let allowed = allowed(route, origin);
    let exposed: Vec<HeaderValue> = answer.get_all(ACCESS_CONTROL_EXPOSE_HEADERS).iter().cloned().collect();
    for name in [ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS] {
        answer.remove(name);
    }
    // With credentials an origin must be named: the star would let every page read what is one user's.
    if allowed.as_ref().is_none_or(|allowed| allowed == ANY) {
        answer.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
    }
    answer.append(VARY, HeaderValue::from_static("Origin"));
    let Some(allowed) = allowed else { return };
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    for names in exposed {
        answer.append(ACCESS_CONTROL_EXPOSE_HEADERS, names);
    }
}

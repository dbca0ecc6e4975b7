//! Cross-origin calls (the Fetch standard's CORS protocol) on routes that name origins.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method, Request};

use crate::catalog::Route;

/// What a page may read of an answer besides the safelisted headers.
const EXPOSED: &str = "X-Toll-Stage, X-Toll-Outcome, X-Toll-Id, X-Request-Id, X-RateLimit-Limit, \
                       X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, \
                       Cache-Status, ETag";

pub fn origin(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(ORIGIN).cloned()
}

pub fn is_preflight<B>(route: &Route, request: &Request<B>) -> bool {
    !route.cors.is_empty()
        && request.method() == Method::OPTIONS
        && request.headers().contains_key(ORIGIN)
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn is_allowed(route: &Route, origin: &HeaderValue) -> bool {
    route.cors.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes())
}

/// The headers of a preflight's answer; a foreign origin gets none that allow anything.
pub fn preflight(route: &Route, asked: &HeaderMap, answer: &mut HeaderMap) {
    answer.append(VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = asked.get(ORIGIN).filter(|origin| is_allowed(route, origin)) else {
        return;
    };
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    if let Ok(methods) = HeaderValue::from_str(&route.methods_text()) {
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    if let Some(headers) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, headers.clone());
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

/// Lets a page of an allowed origin read the answer, refusals included.
pub fn expose(route: &Route, origin: Option<&HeaderValue>, answer: &mut HeaderMap) {
    if route.cors.is_empty() {
        return;
    }
    answer.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin.filter(|origin| is_allowed(route, origin)) {
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

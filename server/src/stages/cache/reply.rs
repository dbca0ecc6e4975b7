//! A stored answer as one request gets it (RFC 9111 §4): with its age, as 304 to who holds it, a part of it, without a
//! body for HEAD.

use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use super::conditional;
use super::range::{Part, part};
use super::stored::Stored;
use crate::body::{self, Body};
use crate::clock::Micros;

/// `asked`: the headers as the client sent them.
pub fn reply(stored: &Stored, asked: &HeaderMap, method: &Method, now: Micros) -> Response<Body> {
    let mut response = match body_of(stored, asked, method) {
        Part::Whole if conditional::holds_this_version(asked, &stored.headers) => {
            respond(StatusCode::NOT_MODIFIED, conditional::headers_of_304(&stored.headers), body::empty())
        }
        Part::Whole => whole(stored, method),
        Part::Bytes(range) => {
            let length = stored.body.len();
            let content_range = format!("bytes {}-{}/{length}", range.start, range.end - 1);
            let bytes = stored.body.slice(range);
            let mut headers = stored.headers.clone();
            headers.insert(header::CONTENT_LENGTH, bytes.len().into());
            insert(&mut headers, content_range);
            respond(StatusCode::PARTIAL_CONTENT, headers, body::full(bytes))
        }
        Part::Unsatisfiable => {
            // Of the answer nothing but its length: nobody is to keep this one in its place.
            let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            let mut headers = HeaderMap::from_iter([no_store]);
            insert(&mut headers, format!("bytes */{}", stored.body.len()));
            respond(StatusCode::RANGE_NOT_SATISFIABLE, headers, body::empty())
        }
    };
    let age = stored.age(now).div_euclid(1_000_000);
    response.headers_mut().insert(header::AGE, age.into());
    response
}

/// RFC 9110 §13.2.2: a 304 goes before a range, and a range is of a whole 200 only.
fn body_of(stored: &Stored, asked: &HeaderMap, method: &Method) -> Part {
    let ranges = *method == Method::GET
        && stored.status == StatusCode::OK
        && asked.contains_key(header::RANGE)
        && !conditional::holds_this_version(asked, &stored.headers)
        && conditional::range_is_of_this_version(asked, &stored.headers);
    if !ranges {
        return Part::Whole;
    }
    part(asked.get(header::RANGE).and_then(|range| range.to_str().ok()), stored.body.len())
}

fn whole(stored: &Stored, method: &Method) -> Response<Body> {
    let mut headers = stored.headers.clone();
    let has_length = stored.status != StatusCode::NO_CONTENT;
    if has_length {
        headers.insert(header::CONTENT_LENGTH, stored.body.len().into());
    }
    let body = if *method == Method::HEAD { body::empty() } else { body::full(stored.body.clone()) };
    respond(stored.status, headers, body)
}

fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn insert(headers: &mut HeaderMap, content_range: String) {
    if let Ok(value) = HeaderValue::from_str(&content_range) {
        headers.insert(header::CONTENT_RANGE, value);
    }
}

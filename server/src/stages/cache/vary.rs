//! By which request headers an answer was chosen (RFC 9111 §4.1).

use http::{HeaderMap, HeaderName, header};

/// What Toll writes itself for each request or client: no later request has the same.
const OWN: [&str; 3] = ["x-request-id", "x-forwarded-for", "forwarded"];

/// The field names of `Vary`, sorted; `None` where it holds `*` or something unreadable: nothing ever matches.
/// `X-Forwarded-Host` and `-Proto` select always, and so need no name.
pub fn names(headers: &HeaderMap) -> Option<Vec<HeaderName>> {
    let mut names = Vec::new();
    for value in headers.get_all(header::VARY) {
        for name in value.to_str().ok()?.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == "*" || OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return None;
            }
            names.push(HeaderName::from_bytes(name.as_bytes()).ok()?);
        }
    }
    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    names.dedup();
    Some(names)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_star_matches_nothing_and_names_are_sorted_once() {
        let vary =
            |value: &'static str| HeaderMap::from_iter([(header::VARY, HeaderValue::from_static(value))]);
        for never in ["*", "*, *", ", *", "Accept, *", "*, Accept", "X-Request-ID", "bad name"] {
            assert_eq!(names(&vary(never)), None, "{never}");
        }
        assert_eq!(names(&vary("Origin, accept, ORIGIN")), Some(vec![header::ACCEPT, header::ORIGIN]));
        assert_eq!(names(&HeaderMap::new()), Some(vec![]));
    }

    #[test]
    fn a_star_on_another_line_counts_too() {
        let mut headers = HeaderMap::new();
        headers.append(header::VARY, HeaderValue::from_static(""));
        headers.append(header::VARY, HeaderValue::from_static("*"));
        assert_eq!(names(&headers), None);
    }
}

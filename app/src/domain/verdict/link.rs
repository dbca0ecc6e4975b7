//! Where the evidence of a verdict is shown. The window goes along.

use super::evidence::{Evidence, UpstreamEvidence, Who};

/// Requests of the log: filters are `name=value`, named as the columns of the list.
pub fn requests(evidence: &Evidence, filters: &[(&str, &str)]) -> String {
    let path = match (evidence.who, &evidence.about) {
        (Who::Partner(_), None) => "/portal/requests",
        _ => "/ops/requests",
    };
    let whose = evidence.about.as_ref().map(|slug| ("partner", slug.as_str()));
    to(evidence, path, &filters.iter().copied().chain(whose).collect::<Vec<_>>())
}

/// As a filter: the route by which all came.
pub fn only_route<'a>(
    evidence: &'a Evidence,
    upstream: &UpstreamEvidence,
) -> Option<(&'static str, &'a str)> {
    let mut routes =
        evidence.routes.iter().filter(|route| route.upstream == upstream.name && route.tally.now.arrived > 0);
    let only = routes.next()?;
    routes.next().is_none().then_some(("route", only.name.as_str()))
}

/// A screen in the window of the evidence.
pub fn to(evidence: &Evidence, path: &str, filters: &[(&str, &str)]) -> String {
    let mut url = format!("{path}?{}", evidence.span.to_url());
    for (name, value) in filters {
        url.push('&');
        url.push_str(name);
        url.push('=');
        url.push_str(&escaped(value));
    }
    url
}

/// Percent-encoding of all but RFC 3986's unreserved characters.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => safe.push(byte as char),
            _ => safe.push_str(&format!("%{byte:02X}")),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::examples::hour;

    #[test]
    fn a_link_keeps_the_window_and_escapes_its_values() {
        let evidence = hour();
        assert_eq!(
            requests(&evidence, &[("outcome", "quota_early_retry"), ("partner", "a&b")]),
            "/ops/requests?from=2026-01-01T14:00Z&to=2026-01-01T15:00Z&outcome=quota_early_retry&partner=a%26b"
        );
    }
}

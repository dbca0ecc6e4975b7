//! Which of several answers under one URI a request selects (RFC 9111 §4.1).

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::stages::key::Identified;

/// The request headers as the upstream sees them, kept for the comparison.
#[derive(Clone, Debug)]
pub struct Asked {
    pub headers: HeaderMap,
    /// The answer may depend on who asks: credentials went up, or the gateway told the upstream who it is.
    pub has_credentials: bool,
    pub has_cookie: bool,
}

impl Asked {
    pub fn of(identified: &Identified) -> Asked {
        let routed = &identified.routed;
        let mut headers = routed.arrived.request.headers().clone();
        let mut has_credentials = headers.contains_key(header::AUTHORIZATION);
        if let (true, Some(caller)) = (routed.route.identity, &identified.caller) {
            has_credentials = true;
            if let Ok(partner) = HeaderValue::from_str(&caller.key.partner_slug) {
                headers.insert("x-toll-partner", partner);
            }
            headers.insert("x-toll-key-id", HeaderValue::from(caller.key.id));
        }
        let has_cookie = headers.contains_key(header::COOKIE);
        Asked { headers, has_credentials, has_cookie }
    }

    /// The values that `names` select by, in one text that no other values give.
    pub fn selecting(&self, names: &[HeaderName]) -> Vec<u8> {
        let mut selecting = Vec::new();
        for name in names {
            for value in self.headers.get_all(name) {
                let trimmed = value.as_bytes().trim_ascii();
                selecting.push(1);
                selecting.extend((trimmed.len() as u32).to_be_bytes());
                selecting.extend(trimmed);
            }
            selecting.push(0);
        }
        selecting
    }
}

/// The field names of `Vary`, sorted; `None` where it holds `*` or something unreadable: nothing ever matches.
pub fn names(headers: &HeaderMap) -> Option<Vec<HeaderName>> {
    let mut names = Vec::new();
    for value in headers.get_all(header::VARY) {
        for name in value.to_str().ok()?.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == "*" {
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
    use super::*;

    fn asked(pairs: &[(&'static str, &'static str)]) -> Asked {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        Asked { headers, has_credentials: false, has_cookie: false }
    }

    #[test]
    fn absent_empty_and_split_values_select_differently() {
        let names = [header::ACCEPT, header::ACCEPT_LANGUAGE];
        let all = [
            asked(&[]),
            asked(&[("accept", "")]),
            asked(&[("accept", "a")]),
            asked(&[("accept-language", "a")]),
            asked(&[("accept", "a"), ("accept", "b")]),
            asked(&[("accept", "ab")]),
        ];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(a.selecting(&names) == b.selecting(&names), i == j, "{i} {j}");
            }
        }
    }

    #[test]
    fn a_star_matches_nothing_and_names_are_sorted_once() {
        let vary =
            |value: &'static str| HeaderMap::from_iter([(header::VARY, HeaderValue::from_static(value))]);
        assert_eq!(names(&vary("Accept, *")), None);
        assert_eq!(names(&vary("Origin, accept, ORIGIN")), Some(vec![header::ACCEPT, header::ORIGIN]));
        assert_eq!(names(&HeaderMap::new()), Some(vec![]));
    }
}

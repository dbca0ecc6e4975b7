//! `Cache-Control` (RFC 9111 §5.2), of requests and of responses.

use http::{HeaderMap, header};

use crate::clock::Micros;

const SECOND: Micros = 1_000_000;
/// RFC 9111 §1.2.2: what is larger counts as this.
const LONGEST: u64 = 1 << 31;

/// Name in lower case, and the argument without its quotes.
fn directives(headers: &HeaderMap) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for value in headers.get_all(header::CACHE_CONTROL) {
        for part in split_outside_quotes(&String::from_utf8_lossy(value.as_bytes())) {
            let (name, argument) = match part.split_once('=') {
                Some((name, argument)) => (name, Some(argument.trim().trim_matches('"').to_owned())),
                None => (part.as_str(), None),
            };
            let name = name.trim().to_ascii_lowercase();
            if !name.is_empty() {
                all.push((name, argument));
            }
        }
    }
    all
}

fn split_outside_quotes(text: &str) -> Vec<String> {
    let (mut parts, mut quoted, mut escaped) = (vec![String::new()], false, false);
    for c in text.chars() {
        match c {
            ',' if !quoted => parts.push(String::new()),
            _ => {
                if c == '"' && !escaped {
                    quoted = !quoted;
                }
                escaped = quoted && c == '\\' && !escaped;
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    parts
}

/// Delta-seconds as microseconds. What is malformed, or stands twice with different values, counts as 0: stale.
fn seconds(directives: &[(String, Option<String>)], name: &str) -> Option<Micros> {
    let mut values = directives.iter().filter(|(n, _)| n == name).map(|(_, argument)| argument.as_deref());
    let first = values.next()?;
    if values.any(|other| other != first) {
        return Some(0);
    }
    let digits = first.filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let seconds = digits.map_or(0, |digits| digits.parse::<u64>().unwrap_or(LONGEST).min(LONGEST));
    Some(seconds as Micros * SECOND)
}

/// What a request asks of a cache (§5.2.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestDirectives {
    pub no_store: bool,
    pub no_cache: bool,
    pub only_if_cached: bool,
    max_age: Option<Micros>,
    min_fresh: Option<Micros>,
}

impl RequestDirectives {
    pub fn of(headers: &HeaderMap) -> RequestDirectives {
        let directives = directives(headers);
        let has = |name: &str| directives.iter().any(|(n, _)| n == name);
        // §5.4: Pragma counts only where there is no Cache-Control.
        let pragma = directives.is_empty()
            && headers.get_all(header::PRAGMA).iter().any(|value| {
                value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("no-cache"))
            });
        RequestDirectives {
            no_store: has("no-store"),
            no_cache: has("no-cache") || pragma,
            only_if_cached: has("only-if-cached"),
            max_age: seconds(&directives, "max-age"),
            min_fresh: seconds(&directives, "min-fresh"),
        }
    }

    /// Whether an answer of this age and lifetime, both in microseconds, is what the request accepts.
    pub fn accept(&self, age: Micros, lifetime: Micros) -> bool {
        self.max_age.is_none_or(|most| age <= most)
            && self.min_fresh.is_none_or(|least| lifetime - age >= least)
    }
}

/// What a response allows a shared cache (§5.2.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseDirectives {
    pub no_store: bool,
    /// Also where it is limited to some fields: those are not taken apart.
    pub private: bool,
    pub no_cache: bool,
    pub public: bool,
    pub must_revalidate: bool,
    pub max_age: Option<Micros>,
    pub s_maxage: Option<Micros>,
}

impl ResponseDirectives {
    pub fn of(headers: &HeaderMap) -> ResponseDirectives {
        let directives = directives(headers);
        let has = |name: &str| directives.iter().any(|(n, _)| n == name);
        ResponseDirectives {
            no_store: has("no-store"),
            private: has("private"),
            no_cache: has("no-cache"),
            public: has("public"),
            must_revalidate: has("must-revalidate"),
            max_age: seconds(&directives, "max-age"),
            s_maxage: seconds(&directives, "s-maxage"),
        }
    }

    /// §3.5: an answer to a request with credentials may be shared only if it says so.
    pub fn shareable_despite_credentials(&self) -> bool {
        self.public || self.must_revalidate || self.s_maxage.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn response(values: &[&str]) -> ResponseDirectives {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::CACHE_CONTROL, value.parse().expect("a value"));
        }
        ResponseDirectives::of(&headers)
    }

    #[test]
    fn names_have_no_case_and_commas_in_quotes_do_not_separate() {
        let parsed = response(&["Public, MAX-AGE=60", "private=\"set-cookie, no-store\""]);
        assert!(parsed.public && parsed.private && !parsed.no_store);
        assert_eq!(parsed.max_age, Some(60 * SECOND));
    }

    #[test]
    fn a_malformed_or_contradictory_age_is_stale_and_a_huge_one_is_capped() {
        for bad in ["max-age=-1", "max-age=x", "max-age=1.5", "max-age=", "max-age", "max-age=1, max-age=2"] {
            assert_eq!(response(&[bad]).max_age, Some(0), "{bad}");
        }
        assert_eq!(response(&["max-age=99999999999999999999"]).max_age, Some(LONGEST as Micros * SECOND));
        assert_eq!(response(&["max-age=\"60\""]).max_age, Some(60 * SECOND));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~]{0,80}") {
            response(&[&text]);
        }
    }
}

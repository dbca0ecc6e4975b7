//! Cache directives of requests (RFC 9111 §5.2.1) and responses (§5.2.2).

use http::header::{CACHE_CONTROL, HeaderMap, HeaderName, PRAGMA};

use super::list::{Directive, Directives, LIFETIMES};
use crate::clock::Micros;

/// What a request asks of a cache (§5.2.1, RFC 5861 §4). Times are microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestDirectives {
    pub no_store: bool,
    pub no_cache: bool,
    pub only_if_cached: bool,
    pub max_age: Option<Micros>,
    pub min_fresh: Option<Micros>,
    /// `Micros::MAX` where no limit was given.
    pub max_stale: Option<Micros>,
    pub stale_if_error: Option<Micros>,
}

impl RequestDirectives {
    pub fn of(headers: &HeaderMap) -> RequestDirectives {
        if !headers.contains_key(CACHE_CONTROL) {
            // §5.4: Pragma counts only where there is no Cache-Control.
            let asks = |value: &http::HeaderValue| {
                value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("no-cache"))
            };
            let no_cache = headers.get_all(PRAGMA).iter().any(asks);
            return RequestDirectives { no_cache, ..RequestDirectives::default() };
        }
        let all = Directives::of(headers, &CACHE_CONTROL);
        let max_stale = match all.first("max-stale") {
            Some(Directive { argument: None, .. }) => Some(Micros::MAX),
            _ => all.seconds("max-stale"),
        };
        RequestDirectives {
            no_store: all.has("no-store"),
            no_cache: all.has("no-cache"),
            only_if_cached: all.has("only-if-cached"),
            max_age: all.seconds("max-age"),
            min_fresh: all.seconds("min-fresh"),
            max_stale,
            stale_if_error: all.seconds("stale-if-error"),
        }
    }
}

/// A directive that may be limited to some fields (§5.2.2.4, §5.2.2.7).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Qualified {
    #[default]
    No,
    /// Only these fields.
    Fields(Vec<HeaderName>),
    Whole,
}

impl Qualified {
    pub fn is_whole(&self) -> bool {
        *self == Qualified::Whole
    }

    pub fn fields(&self) -> &[HeaderName] {
        match self {
            Qualified::Fields(fields) => fields,
            _ => &[],
        }
    }

    /// A list that cannot be read counts as the whole answer.
    fn of(all: &Directives, name: &str) -> Qualified {
        let mut found = Qualified::No;
        for directive in all.named(name) {
            let names = directive.argument.as_deref().unwrap_or_default().split(',').map(str::trim);
            let read: Result<Vec<_>, _> = names.map(|name| HeaderName::from_bytes(name.as_bytes())).collect();
            found = match (found, read) {
                (Qualified::Whole, _) | (_, Err(_)) => Qualified::Whole,
                (Qualified::No, Ok(fields)) => Qualified::Fields(fields),
                (Qualified::Fields(before), Ok(fields)) => Qualified::Fields([before, fields].concat()),
            };
        }
        found
    }
}

/// What a response allows a shared cache (§5.2.2, RFC 5861 §3, RFC 8246). Times are microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseDirectives {
    pub no_store: bool,
    pub private: Qualified,
    pub no_cache: Qualified,
    pub public: bool,
    pub must_revalidate: bool,
    pub proxy_revalidate: bool,
    pub must_understand: bool,
    pub immutable: bool,
    pub max_age: Option<Micros>,
    pub s_maxage: Option<Micros>,
    pub stale_while_revalidate: Option<Micros>,
    pub stale_if_error: Option<Micros>,
    /// They come from a targeted field, so `Expires` does not count (RFC 9213 §2.1).
    pub is_targeted: bool,
}

impl ResponseDirectives {
    /// Of the first targeted field that can be read, else of `Cache-Control`.
    pub fn of(headers: &HeaderMap) -> ResponseDirectives {
        match super::targeted::directives(headers) {
            Some(targeted) => ResponseDirectives { is_targeted: true, ..ResponseDirectives::read(&targeted) },
            None => ResponseDirectives::read(&Directives::of(headers, &CACHE_CONTROL)),
        }
    }

    fn read(all: &Directives) -> ResponseDirectives {
        let [max_age, s_maxage, stale_while_revalidate, stale_if_error] =
            LIFETIMES.map(|name| all.seconds(name));
        ResponseDirectives {
            no_store: all.has("no-store"),
            private: Qualified::of(all, "private"),
            no_cache: Qualified::of(all, "no-cache"),
            public: all.has("public"),
            must_revalidate: all.has("must-revalidate"),
            proxy_revalidate: all.has("proxy-revalidate"),
            must_understand: all.has("must-understand"),
            immutable: all.has("immutable"),
            max_age,
            s_maxage,
            stale_while_revalidate,
            stale_if_error,
            is_targeted: false,
        }
    }

    /// §3.5: an answer to a request with credentials may be shared only if it says so.
    pub fn shareable_despite_credentials(&self) -> bool {
        self.public || self.must_revalidate || self.s_maxage.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Micros = 1_000_000;

    fn response(values: &[&str]) -> ResponseDirectives {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CACHE_CONTROL, value.parse().expect("a value"));
        }
        ResponseDirectives::of(&headers)
    }

    fn request(value: &str) -> RequestDirectives {
        RequestDirectives::of(&HeaderMap::from_iter([(CACHE_CONTROL, value.parse().expect("a value"))]))
    }

    #[test]
    fn names_have_no_case_and_commas_in_quotes_do_not_separate() {
        let parsed = response(&["Public, MAX-AGE=60", "private=\"x-secret, no-store\""]);
        assert!(parsed.public && !parsed.no_store);
        assert_eq!(parsed.private.fields(), ["x-secret", "no-store"].map(HeaderName::from_static));
        assert_eq!(parsed.max_age, Some(60 * SECOND));
    }

    #[test]
    fn a_directive_with_and_without_fields_is_one_without() {
        assert!(response(&["no-cache=\"a\", no-cache"]).no_cache.is_whole());
        assert!(response(&["no-cache", "no-cache=\"a\""]).no_cache.is_whole());
        assert!(response(&["private=\"\""]).private.is_whole());
        assert!(response(&["private=\"a b\""]).private.is_whole());
        assert_eq!(response(&["no-cache=\"a\", no-cache=b"]).no_cache.fields().len(), 2);
    }

    #[test]
    fn a_request_may_ask_for_stale_answers_with_and_without_a_limit() {
        assert_eq!(request("max-stale").max_stale, Some(Micros::MAX));
        assert_eq!(request("max-stale=5").max_stale, Some(5 * SECOND));
        assert_eq!(request("max-stale=x").max_stale, Some(0));
        assert_eq!(request("min-fresh=5, stale-if-error=7").stale_if_error, Some(7 * SECOND));
        assert_eq!(request("max-age=0").max_age, Some(0));
    }

    #[test]
    fn pragma_counts_only_without_cache_control_rfc_9111_5_4() {
        let pragma = (PRAGMA, "no-cache".parse().expect("a value"));
        assert!(RequestDirectives::of(&HeaderMap::from_iter([pragma.clone()])).no_cache);
        let control = (CACHE_CONTROL, "max-age=5".parse().expect("a value"));
        assert!(!RequestDirectives::of(&HeaderMap::from_iter([pragma, control])).no_cache);
    }
}

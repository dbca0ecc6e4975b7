//! What a shared cache may store, and for how long it is fresh (RFC 9111 §3, §4.2).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderMap, Response, header};

use super::directives::ResponseDirectives;
use super::stored::Stored;
use super::vary::{self, Asked};
use crate::clock::Micros;
use crate::stages::proxy::EndsByClose;

/// Statuses whose meaning this cache knows (RFC 9110 §15); of these 206 and 304 are not whole answers.
const UNDERSTOOD: [u16; 16] =
    [200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 451, 501, 421];

/// The answer ready to be stored but for its body; `None` if it may not be, or would never be fresh.
/// `fallback` is the lifetime of answers that carry none of their own: this cache does not guess.
pub fn judge<B>(
    asked: &Asked,
    response: &Response<B>,
    fallback: Duration,
    asked_at: Micros,
    now: Micros,
) -> Option<Stored> {
    let headers = response.headers();
    let allowed = ResponseDirectives::of(headers);
    let may_be_stored = UNDERSTOOD.contains(&response.status().as_u16())
        && !allowed.no_store
        && !allowed.private
        && !allowed.no_cache
        // A cookie is for one.
        && !headers.contains_key(header::SET_COOKIE)
        && (!asked.has_credentials || allowed.shareable_despite_credentials())
        && response.extensions().get::<EndsByClose>().is_none();
    if !may_be_stored {
        return None;
    }
    let lifetime = match own_lifetime(headers, &allowed, now) {
        Some(own) => own,
        // An answer that says nothing of its freshness may well depend on the cookie.
        None if asked.has_cookie || asked.has_credentials => return None,
        None => fallback.as_micros() as Micros,
    };
    let stored = Stored {
        status: response.status(),
        headers: storable(headers),
        body: Bytes::new(),
        vary: vary::names(headers)?,
        came_at: now,
        initial_age: initial_age(headers, asked_at, now),
        lifetime,
    };
    stored.is_fresh(now).then_some(stored)
}

/// §4.2.1: the most specific wins, and what is malformed counts as expired.
fn own_lifetime(headers: &HeaderMap, allowed: &ResponseDirectives, now: Micros) -> Option<Micros> {
    if let Some(explicit) = allowed.s_maxage.or(allowed.max_age) {
        return Some(explicit);
    }
    let mut expires = headers.get_all(header::EXPIRES).iter();
    let first = expires.next()?;
    let date = http_date(headers, header::DATE).unwrap_or(now);
    let expires = first.to_str().ok().and_then(parse_date).filter(|_| expires.all(|other| other == first));
    Some(expires.map_or(0, |expires| (expires - date).max(0)))
}

/// §4.2.3, in microseconds.
fn initial_age(headers: &HeaderMap, asked_at: Micros, now: Micros) -> Micros {
    let apparent = http_date(headers, header::DATE).map_or(0, |date| (now - date).max(0));
    let age = headers.get(header::AGE).and_then(|age| age.to_str().ok());
    let age = age.and_then(|age| age.split(',').next()?.trim().parse::<u32>().ok()).unwrap_or(0);
    let corrected = Micros::from(age) * 1_000_000 + (now - asked_at).max(0);
    // Within a second of its own clock a server's `Date` says nothing.
    if apparent < 1_000_000 { corrected } else { apparent.max(corrected) }
}

/// Without what belongs to one exchange only; hop-by-hop fields are gone already.
fn storable(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    for name in [header::AGE, header::PROXY_AUTHENTICATE, header::SET_COOKIE] {
        kept.remove(name);
    }
    kept
}

fn http_date(headers: &HeaderMap, name: header::HeaderName) -> Option<Micros> {
    parse_date(headers.get(name)?.to_str().ok()?)
}

pub fn parse_date(text: &str) -> Option<Micros> {
    let time: SystemTime = httpdate::parse_http_date(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_micros() as Micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = 1_700_000_000_000_000;
    const SECOND: Micros = 1_000_000;

    fn asked(credentials: bool, cookie: bool) -> Asked {
        Asked { headers: HeaderMap::new(), has_credentials: credentials, has_cookie: cookie }
    }

    fn judged(asked: Asked, status: u16, pairs: &[(&'static str, &str)]) -> Option<Stored> {
        let mut response = Response::builder().status(status);
        for (name, value) in pairs {
            response = response.header(*name, *value);
        }
        judge(&asked, &response.body(()).expect("a response"), Duration::from_secs(0), NOW, NOW)
    }

    #[test]
    fn what_depends_on_who_asks_is_never_stored() {
        let fresh = ("cache-control", "max-age=60");
        assert!(judged(asked(false, false), 200, &[fresh]).is_some());
        for bad in [
            [fresh, ("set-cookie", "a=b")],
            [fresh, ("cache-control", "private")],
            [fresh, ("cache-control", "private=\"x\"")],
            [fresh, ("cache-control", "no-store")],
            [fresh, ("cache-control", "no-cache")],
            [fresh, ("vary", "*")],
        ] {
            assert!(judged(asked(false, false), 200, &bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn an_answer_to_credentials_is_stored_only_if_it_says_so_rfc_9111_3_5() {
        assert!(judged(asked(true, false), 200, &[("cache-control", "max-age=60")]).is_none());
        for allowed in ["public, max-age=60", "s-maxage=60", "must-revalidate, max-age=60"] {
            assert!(judged(asked(true, false), 200, &[("cache-control", allowed)]).is_some(), "{allowed}");
        }
    }

    #[test]
    fn the_most_specific_lifetime_wins_and_age_counts_against_it() {
        let lifetime = |pairs: &[(&'static str, &str)]| {
            judged(asked(false, false), 200, pairs).map(|s| s.lifetime / SECOND)
        };
        assert_eq!(lifetime(&[("cache-control", "s-maxage=9, max-age=5")]), Some(9));
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_micros(NOW as u64));
        let expires = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_micros((NOW + 30 * SECOND) as u64));
        assert_eq!(lifetime(&[("date", &date), ("expires", &expires)]), Some(30));
        assert_eq!(
            lifetime(&[("date", &date), ("expires", &expires), ("cache-control", "max-age=5")]),
            Some(5)
        );
        assert_eq!(lifetime(&[("expires", "0")]), None);
        assert_eq!(lifetime(&[("cache-control", "max-age=5"), ("age", "5")]), None);
        assert_eq!(lifetime(&[]), None);
    }

    #[test]
    fn statuses_that_are_no_whole_answers_are_not_stored() {
        for status in [206, 304, 500, 503, 418] {
            assert!(
                judged(asked(false, false), status, &[("cache-control", "max-age=60")]).is_none(),
                "{status}"
            );
        }
    }
}

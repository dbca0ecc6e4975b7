//! How long an answer is fresh and how old it is (RFC 9111 §4.2). All times are microseconds.

use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::directives::ResponseDirectives;
use super::list::whole_number;
use crate::clock::Micros;

const SECOND: Micros = 1_000_000;
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// §4.2.1: the most specific wins, and what is malformed counts as expired. `None`: the answer says nothing of it.
pub fn own_lifetime(headers: &HeaderMap, allowed: &ResponseDirectives, now: Micros) -> Option<Micros> {
    if let Some(explicit) = allowed.s_maxage.or(allowed.max_age) {
        return Some(explicit);
    }
    if allowed.is_targeted {
        return None;
    }
    let mut expires = headers.get_all(header::EXPIRES).iter();
    let first = expires.next()?;
    let date = date_of(headers, &header::DATE).unwrap_or(now);
    let expires = first.to_str().ok().and_then(parse_date).filter(|_| expires.all(|other| other == first));
    Some(expires.map_or(0, |expires| (expires - date).max(0)))
}

/// §4.2.3: how old the answer was when it came.
pub fn initial_age(headers: &HeaderMap, asked_at: Micros, now: Micros) -> Micros {
    let apparent = date_of(headers, &header::DATE).map_or(0, |date| (now - date).max(0));
    let corrected = age_of(headers) + (now - asked_at).max(0);
    // Within a second of its own clock a server's `Date` says nothing.
    if apparent < SECOND { corrected } else { apparent.max(corrected) }
}

/// §5.1: of a list the first member counts, and what is no number is ignored.
fn age_of(headers: &HeaderMap) -> Micros {
    let text = headers.get(header::AGE).and_then(|age| age.to_str().ok()).unwrap_or_default();
    let first = text.split(',').next().unwrap_or_default().trim();
    whole_number(first).unwrap_or(0) as Micros * SECOND
}

pub fn date_of(headers: &HeaderMap, name: &HeaderName) -> Option<Micros> {
    parse_date(headers.get(name)?.to_str().ok()?)
}

/// Any of the three forms of RFC 9110 §5.6.7.
pub fn parse_date(text: &str) -> Option<Micros> {
    let time = httpdate::parse_http_date(text).ok().or_else(|| parse_loosely(text))?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_micros() as Micros)
}

/// §4.2: a cache reads names in whatever case. Nor has the day to fit the date, which says it all.
fn parse_loosely(text: &str) -> Option<SystemTime> {
    let text = text.to_ascii_uppercase();
    let (day, rest) = text.split_at(text.find(|c: char| !c.is_ascii_alphabetic())?);
    let names = DAYS.map(|name| if day.len() == 3 { &name[..3] } else { name });
    names.iter().find(|name| name.eq_ignore_ascii_case(day))?;
    let with_month = |rest: String, month: &&str| rest.replace(&month.to_ascii_uppercase(), month);
    let rest = MONTHS.iter().fold(rest.to_owned(), with_month);
    names.iter().find_map(|name| httpdate::parse_http_date(&format!("{name}{rest}")).ok())
}

/// As a header has it, to the second.
pub fn http_date(at: Micros) -> Option<HeaderValue> {
    let time = UNIX_EPOCH + std::time::Duration::from_micros(at.max(0) as u64);
    HeaderValue::from_str(&httpdate::fmt_http_date(time)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = 1_700_000_000 * SECOND;

    fn date(seconds: i64) -> String {
        http_date(NOW + seconds * SECOND).expect("a date").to_str().expect("text").to_owned()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    fn lifetime(pairs: &[(&'static str, &str)]) -> Option<i64> {
        let headers = headers(pairs);
        own_lifetime(&headers, &ResponseDirectives::of(&headers), NOW).map(|lifetime| lifetime / SECOND)
    }

    #[test]
    fn the_most_specific_lifetime_wins_rfc_9111_4_2_1() {
        let (now, later) = (date(0), date(30));
        assert_eq!(lifetime(&[("cache-control", "s-maxage=9, max-age=5"), ("expires", &later)]), Some(9));
        assert_eq!(lifetime(&[("cache-control", "max-age=5"), ("expires", &later)]), Some(5));
        assert_eq!(lifetime(&[("date", &now), ("expires", &later)]), Some(30));
        assert_eq!(lifetime(&[]), None);
    }

    #[test]
    fn expires_counts_from_date_and_malformed_is_expired_rfc_9111_5_3() {
        assert_eq!(lifetime(&[("date", &date(400)), ("expires", &date(300))]), Some(0));
        assert_eq!(lifetime(&[("date", &date(-10)), ("expires", &date(10))]), Some(20));
        assert_eq!(lifetime(&[("date", "foo"), ("expires", &date(10))]), Some(10));
        for bad in ["0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 2:01:18 GMT", ""] {
            assert_eq!(lifetime(&[("expires", bad)]), Some(0), "{bad}");
        }
        assert_eq!(lifetime(&[("expires", &date(10)), ("expires", &date(20))]), Some(0));
        assert_eq!(lifetime(&[("expires", &date(10)), ("expires", &date(10))]), Some(10));
    }

    #[test]
    fn dates_are_read_in_all_forms_and_cases_and_nothing_else_is_one_rfc_9111_4_2() {
        let expected = parse_date("Thu, 18 Aug 2050 02:01:18 GMT");
        assert!(expected.is_some());
        for same in [
            "THU, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18 AUG 2050 02:01:18 GMT",
            "thu, 18 aug 2050 02:01:18 gMT",
            "Thursday, 18-Aug-50 02:01:18 GMT",
            "THURSDAY, 18-aug-50 02:01:18 GMT",
            "Thu Aug 18 02:01:18 2050",
            "Mon Aug 18 02:01:18 2050",
            "Mon, 18 Aug 2050 02:01:18 GMT",
        ] {
            assert_eq!(parse_date(same), expected, "{same}");
        }
        for bad in [
            "Thu, 18 Aug 2050 02:01:18 UTC",
            "Thu, 18 Aug 2050 02:01:18",
            "Thu 18 Aug 2050 02:01:18 GMT",
            "Thu, 18  Aug  2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 2:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT",
            "Thu, 18 Aug 50 02:01:18 GMT",
            "Thu, 18 August 2050 02:01:18 GMT",
            "Thursday, 18 Aug 2050 02:01:18 GMT",
            "Day, 18 Aug 2050 02:01:18 GMT",
            "Wed, 30 Feb 2050 02:01:18 GMT",
            "18 Aug 2050 02:01:18 GMT",
            "Thu, 18 Äug 2050 02:01:18 GMT",
            "",
        ] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn age_is_the_greater_of_what_is_told_and_what_is_seen_rfc_9111_4_2_3() {
        let age = |pairs: &[(&'static str, &str)]| initial_age(&headers(pairs), NOW - SECOND, NOW) / SECOND;
        assert_eq!(age(&[("age", "15")]), 16);
        assert_eq!(age(&[("age", "15, 0")]), 16);
        assert_eq!(age(&[("age", "99999999999")]), (1 << 31) + 1);
        for ignored in ["abc", "-7200", "7200.0", ""] {
            assert_eq!(age(&[("age", ignored)]), 1, "{ignored}");
        }
        assert_eq!(age(&[("date", &date(-30))]), 30);
        assert_eq!(age(&[("date", &date(-30)), ("age", "40")]), 41);
        assert_eq!(age(&[("date", &date(60))]), 1, "a clock that is ahead makes nothing older");
    }
}

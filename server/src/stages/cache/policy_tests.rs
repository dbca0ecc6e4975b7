use super::*;

const NOW: Micros = 1_700_000_000_000_000;
const SECOND: Micros = 1_000_000;

type Pair = (&'static str, &'static str);

fn judged(asked: &[Pair], status: u16, pairs: &[Pair], fallback: u64) -> Option<Stored> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, value.parse().expect("a value"));
    }
    let head = Head { status: StatusCode::from_u16(status).expect("a status"), headers: &headers };
    let arrival = Arrival { asked_at: NOW, now: NOW, fallback: Duration::from_secs(fallback) };
    judge(&Asked::for_tests(asked), head, arrival)
}

const FRESH: Pair = ("cache-control", "max-age=60");

#[test]
fn what_depends_on_who_asks_is_never_stored() {
    assert!(judged(&[], 200, &[FRESH], 0).is_some());
    for bad in [
        ("set-cookie", "a=b"),
        ("cache-control", "private"),
        ("cache-control", "no-store"),
        ("vary", "*"),
        ("cdn-cache-control", "private"),
    ] {
        assert!(judged(&[], 200, &[FRESH, bad], 60).is_none(), "{bad:?}");
    }
}

#[test]
fn an_answer_to_credentials_is_stored_only_if_it_says_so_rfc_9111_3_5() {
    let asked = [("authorization", "Basic x")];
    assert!(judged(&asked, 200, &[FRESH], 0).is_none());
    for allowed in ["public, max-age=60", "s-maxage=60", "must-revalidate, max-age=60"] {
        assert!(judged(&asked, 200, &[("cache-control", allowed)], 0).is_some(), "{allowed}");
    }
}

#[test]
fn parts_and_interim_answers_are_not_stored_and_any_final_status_with_a_lifetime_is_rfc_9111_3() {
    for status in [101, 206, 304] {
        assert!(judged(&[], status, &[FRESH], 0).is_none(), "{status}");
    }
    for status in [200, 201, 299, 302, 403, 404, 418, 500, 503, 599] {
        assert!(judged(&[], status, &[FRESH], 0).is_some(), "{status}");
    }
}

#[test]
fn a_lifetime_is_given_only_where_a_heuristic_is_allowed_rfc_9111_4_2_2() {
    for (status, stored) in [(200, true), (204, true), (404, true), (501, true), (201, false), (403, false)] {
        assert_eq!(judged(&[], status, &[], 60).is_some(), stored, "{status}");
    }
    assert!(judged(&[], 599, &[("cache-control", "public")], 60).is_some());
    assert!(judged(&[("cookie", "a=b")], 200, &[], 60).is_none());
    assert!(judged(&[], 200, &[("expires", "0")], 60).is_none(), "malformed is expired, not unknown");
}

#[test]
fn what_must_be_understood_is_stored_where_it_is_rfc_9111_5_2_2_3() {
    let must = ("cache-control", "must-understand, no-store, max-age=60");
    assert!(judged(&[], 200, &[must], 0).is_some());
    assert!(judged(&[], 299, &[must], 0).is_none());
    assert!(judged(&[], 299, &[("cache-control", "must-understand, max-age=60")], 0).is_none());
}

#[test]
fn named_fields_are_left_out_and_the_rest_is_stored_rfc_9111_5_2_2_4() {
    for control in ["max-age=60, no-cache=\"x-a, x-b\"", "max-age=60, private=\"X-A, X-B\""] {
        let pairs = [("cache-control", control), ("x-a", "1"), ("x-b", "2"), ("x-c", "3")];
        let stored = judged(&[], 200, &pairs, 0).expect("stored");
        let names: Vec<_> = ["x-a", "x-b", "x-c"].map(|name| stored.headers.contains_key(name)).into();
        assert_eq!(names, [false, false, true]);
        assert!(stored.is_fresh(NOW));
    }
    let cookie = [("cache-control", "max-age=60, no-cache=\"set-cookie\""), ("set-cookie", "a=b")];
    assert!(!judged(&[], 200, &cookie, 0).expect("stored").headers.contains_key("set-cookie"));
}

#[test]
fn what_could_never_be_used_is_not_kept() {
    let kept = |pairs: &[Pair]| judged(&[], 200, pairs, 0).is_some();
    for useless in ["no-cache", "max-age=0", "max-age=0, must-revalidate", "no-cache, stale-if-error=60"] {
        assert!(!kept(&[("cache-control", useless)]), "{useless}");
        assert!(kept(&[("cache-control", useless), ("etag", "\"1\"")]), "{useless}, but it can be validated");
    }
    assert!(kept(&[("cache-control", "max-age=0, stale-while-revalidate=60")]));
    assert!(!kept(&[]));
}

#[test]
fn a_stored_answer_has_a_date_and_no_field_of_one_exchange_rfc_9111_3_1() {
    let pairs = [FRESH, ("age", "5"), ("proxy-authenticate", "x"), ("proxy-authentication-info", "x")];
    let stored = judged(&[], 200, &pairs, 0).expect("stored");
    let mut names: Vec<_> = stored.headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["cache-control", "date"]);
    assert_eq!(stored.age(NOW) / SECOND, 5);
}

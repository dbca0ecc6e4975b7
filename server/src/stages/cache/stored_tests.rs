use http::header::{CACHE_CONTROL, HeaderValue};

use super::*;

const SECOND: Micros = 1_000_000;

/// With this `Cache-Control`, which came at 0.
fn stored(control: &'static str) -> Stored {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(control))]);
    let allowed = ResponseDirectives::of(&headers);
    Stored {
        status: StatusCode::OK,
        headers,
        body: Bytes::new(),
        vary: vec![],
        selecting: vec![],
        tags: [].into(),
        asked_at: 0,
        came_at: 0,
        initial_age: 0,
        lifetime: allowed.s_maxage.or(allowed.max_age).unwrap_or(0),
        usage: Use::of(&allowed),
    }
}

fn asks(control: &'static str) -> RequestDirectives {
    match control {
        "" => RequestDirectives::default(),
        _ => {
            RequestDirectives::of(&HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(control))]))
        }
    }
}

fn service(response: &'static str, request: &'static str, age: i64) -> Service {
    stored(response).service(&asks(request), age * SECOND)
}

#[test]
fn requests_limit_what_a_fresh_answer_serves_rfc_9111_5_2_1() {
    assert_eq!(service("max-age=60", "", 30), Service::Fresh);
    assert_eq!(service("max-age=60", "max-age=30", 30), Service::Fresh);
    assert_eq!(service("max-age=60", "max-age=29", 30), Service::Unwanted);
    assert_eq!(service("max-age=60", "max-age=0", 0), Service::Unwanted);
    assert_eq!(service("max-age=60", "min-fresh=30", 30), Service::Fresh);
    assert_eq!(service("max-age=60", "min-fresh=31", 30), Service::Unwanted);
    assert_eq!(service("max-age=60", "no-cache", 0), Service::Unwanted);
    assert_eq!(service("max-age=60, no-cache", "", 0), Service::TooOld);
}

#[test]
fn a_reload_gets_an_immutable_answer_while_it_is_fresh_rfc_8246() {
    assert_eq!(service("max-age=60, immutable", "max-age=0", 30), Service::Fresh);
    assert_eq!(service("max-age=60, immutable", "no-cache", 30), Service::Unwanted);
    assert_eq!(service("max-age=60, immutable", "max-age=0", 61), Service::TooOld);
}

#[test]
fn a_client_may_take_stale_answers_unless_the_origin_forbids_them_rfc_9111_5_2_1_2() {
    assert_eq!(service("max-age=60", "", 61), Service::TooOld);
    assert_eq!(service("max-age=60", "max-stale", 9_000), Service::Stale);
    assert_eq!(service("max-age=60", "max-stale=1", 61), Service::Stale);
    assert_eq!(service("max-age=60", "max-stale=1", 62), Service::TooOld);
    for forbids in ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=60"] {
        let control: &'static str = format!("max-age=60, {forbids}").leak();
        assert_eq!(service(control, "max-stale", 61), Service::TooOld, "{forbids}");
    }
}

#[test]
fn stale_while_revalidate_serves_within_its_time_rfc_5861_3() {
    let control = "max-age=60, stale-while-revalidate=10";
    assert_eq!(service(control, "", 59), Service::Fresh);
    assert_eq!(service(control, "", 70), Service::Revalidating);
    assert_eq!(service(control, "", 71), Service::TooOld);
    assert_eq!(service(control, "max-age=60", 65), Service::TooOld);
    assert_eq!(service("s-maxage=60, stale-while-revalidate=10", "", 65), Service::Revalidating);
    assert_eq!(service("max-age=60, must-revalidate, stale-while-revalidate=10", "", 65), Service::TooOld);
}

#[test]
fn errors_are_covered_for_as_long_as_the_origin_or_the_client_says_rfc_5861_4() {
    let covers =
        |response, request, age: i64| stored(response).serves_on_error(&asks(request), false, age * SECOND);
    assert!(!covers("max-age=60", "", 61));
    assert!(covers("max-age=60, stale-if-error=10", "", 70));
    assert!(!covers("max-age=60, stale-if-error=10", "", 71));
    assert!(covers("max-age=60", "stale-if-error=10", 70));
    assert!(!covers("max-age=60", "stale-if-error=10", 71));
    assert!(!covers("max-age=60, must-revalidate, stale-if-error=10", "", 61));
    assert!(!covers("s-maxage=60", "stale-if-error=10", 61));
    assert!(covers("s-maxage=60, stale-if-error=10", "", 61));
}

#[test]
fn who_is_cut_off_goes_on_for_as_long_as_the_answer_was_fresh_rfc_9111_4_2_4() {
    let covers = |response, age: i64| stored(response).serves_on_error(&asks(""), true, age * SECOND);
    assert!(covers("max-age=60", 120));
    assert!(!covers("max-age=60", 121));
    for forbids in ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=60"] {
        let control: &'static str = format!("max-age=60, {forbids}").leak();
        assert!(!covers(control, 61), "{forbids}");
    }
}

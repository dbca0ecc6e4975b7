use super::*;
use crate::domain::verdict::evidence::{Compared, EndedKey, Ending, RouteEvidence, Suspect};
use crate::domain::verdict::examples::{HASTY, hour, route, served, texts, upstream};
use crate::domain::verdict::verdicts;

/// All that arrived was for `orders`.
fn of(now: Tally) -> Evidence {
    Evidence {
        all: Compared { now, ..Compared::default() },
        routes: vec![route("orders", now, Tally::default())],
        upstreams: vec![upstream("orders", None)],
        ..hour()
    }
}

fn is_said(evidence: &Evidence) -> bool {
    texts(evidence).iter().any(|text| text.contains("got nothing because"))
}

#[test]
fn where_nothing_comes_through_it_is_said_what_became_of_it() {
    let now = Tally { arrived: 20, cached: 12, spent: 8, ..Tally::default() };
    let evidence = Evidence {
        all: Compared { now, ..Compared::default() },
        routes: vec![route("orders", now, Tally::default())],
        upstreams: vec![upstream("orders", None)],
        ..hour()
    };
    assert_eq!(
        texts(&evidence),
        [
            "`orders` got nothing because nothing came through to it: of 20 requests 12 were served from cache, 8 went \
         beyond a quota."
        ]
    );
}

#[test]
fn the_requests_behind_it_are_those_of_its_route_if_it_has_one() {
    let mut evidence = of(Tally { arrived: 20, spent: 20, ..Tally::default() });
    assert!(verdicts(&evidence)[0].href.starts_with("/ops/requests?"), "{:?}", verdicts(&evidence));
    assert!(verdicts(&evidence)[0].href.ends_with("&route=orders"));
    let second = route("second", Tally { arrived: 5, spent: 5, ..Tally::default() }, Tally::default());
    evidence.routes.push(RouteEvidence { upstream: "orders".into(), ..second });
    assert!(verdicts(&evidence)[0].href.ends_with("&upstream=orders"));
}

#[test]
fn fewer_than_twenty_are_not_worth_a_word() {
    assert!(is_said(&of(Tally { arrived: 20, barred: 20, unidentified: 20, ..Tally::default() })));
    assert!(!is_said(&of(Tally { arrived: 19, barred: 19, unidentified: 19, ..Tally::default() })));
}

#[test]
fn a_route_that_is_switched_off_is_called_so() {
    let mut evidence = of(Tally { arrived: 80, unidentified: 80, ..Tally::default() });
    assert_eq!(
        texts(&evidence),
        ["`orders` got nothing because all 80 requests for it were not acceptable."]
    );
    evidence.routes[0].is_open = false;
    assert_eq!(
        texts(&evidence),
        ["`orders` got nothing because all 80 requests for it met a route that is switched off."]
    );
}

#[test]
fn what_a_loop_explains_is_not_said_twice() {
    let looping = |early| {
        let acme = Suspect {
            slug: "acme".into(),
            early: Compared { now: early, before: 0 },
            habit: Some(HASTY),
            ..Suspect::default()
        };
        Evidence {
            suspects: vec![acme],
            ..of(Tally { arrived: 100, early, spent: 100 - early, ..Tally::default() })
        }
    };
    assert!(!is_said(&looping(90)));
    assert!(is_said(&looping(89)));
}

#[test]
fn what_ended_keys_explain_is_not_said_twice() {
    let with = |calls, ended_key| {
        let key = EndedKey {
            id: 7,
            partner: "acme".into(),
            ended: Ending::Revoked,
            ended_at: hour().window.from,
            calls,
            by_minute: vec![calls],
        };
        let now =
            Tally { arrived: 100, unidentified: 100, ended_key, no_key: 100 - ended_key, ..Tally::default() };
        let mut evidence = Evidence { ended_keys: vec![key], ..of(now) };
        // Strangers are not worth a word of their own here.
        evidence.all.now.merge(&served(10_000));
        evidence
    };
    assert!(!is_said(&with(90, 100)));
    assert!(is_said(&with(89, 100)), "others had keys that ended too");
    assert!(!is_said(&with(90, 90)));
    assert!(is_said(&with(89, 89)), "others had none");
}

#[test]
fn what_callers_without_a_key_explain_is_not_said_twice() {
    let strangers = |no_key| of(Tally { arrived: no_key, unidentified: no_key, no_key, ..Tally::default() });
    assert!(is_said(&strangers(49)));
    assert!(!is_said(&strangers(50)));
}

#[test]
fn an_upstream_whose_cache_answers_everything_needs_nobody() {
    let now = Tally { arrived: 400, cached: 400, ..Tally::default() };
    let evidence = Evidence {
        all: Compared { now, ..Compared::default() },
        routes: vec![route("orders", now, Tally::default())],
        upstreams: vec![upstream("orders", None)],
        ..hour()
    };
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(
        verdict.text(),
        "`orders` got nothing because all 400 requests for it were served from cache."
    );
    assert_eq!(verdict.tone, Tone::Good);
}

#[test]
fn what_a_cache_is_praised_for_is_not_said_twice() {
    let cached = |n| {
        let mut evidence = of(Tally { arrived: n, cached: n, ..Tally::default() });
        evidence.routes[0].has_cache = true;
        evidence
    };
    assert!(is_said(&cached(99)));
    assert!(!is_said(&cached(100)));
}

#[test]
fn ten_that_an_upstream_had_no_room_for_are_told_and_nine_are_not() {
    let of = |saturated| {
        of(Tally { arrived: 200, held: saturated, saturated, reached: 200 - saturated, ..Tally::default() })
    };
    assert!(texts(&of(9)).is_empty());
    let verdict = verdicts(&of(10)).remove(0);
    assert_eq!(
        verdict.text(),
        "`orders` had as many requests at once as it may have: 10 of 200 for it were held back."
    );
    assert!(
        verdict.href.ends_with("&stage=breaker&outcome=breaker_saturated&route=orders"),
        "{}",
        verdict.href
    );
    assert_eq!(
        texts(&Evidence { who: Who::Partner(1), ..of(190) }),
        ["`orders` had as many requests at once as it may have: 190 of your 200 for it were held back."]
    );
    let mut beside = Evidence { who: Who::Partner(1), ..of(190) };
    beside.routes[0].upstream = "internal".into();
    beside.upstreams[0].name = "internal".into();
    beside.routes.push(RouteEvidence {
        upstream: "internal".into(),
        ..route("refunds", served(60), Tally::default())
    });
    assert_eq!(
        texts(&beside),
        ["`orders` had as many requests at once as it may have: 190 of your 200 for it were held back."],
        "a partner knows the routes that it calls, and no upstream"
    );
}

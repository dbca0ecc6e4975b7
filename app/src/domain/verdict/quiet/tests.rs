use time::macros::datetime;

use super::*;
use crate::domain::verdict::evidence::{Compared, RouteEvidence, Suspect, Who};
use crate::domain::verdict::examples::{
    JUST_NOW, LONG_AGO, hour, minute, outage, route, served, shut, texts, upstream, without_calls_since,
};
use crate::domain::verdict::verdicts;

#[test]
fn an_open_breaker_is_why_an_upstream_is_quiet() {
    let verdict = verdicts(&shut(outage(312, 4))).remove(0);
    assert_eq!(
        verdict.text(),
        "`billing` got nothing since 14:02:11 because its breaker is open (5 timeouts in 10 s); 312 requests of 4 \
         partners were held back."
    );
    assert_eq!((verdict.rule, verdict.tone), (Rule::Quiet, Tone::Alarm));
    assert_eq!(verdict.href, "/ops/upstreams?from=2026-01-01T14:00Z&to=2026-01-01T15:00Z&upstream=billing");
}

#[test]
fn probes_are_something() {
    let probed = Outage { was_probed: true, ..outage(1, 0) };
    assert_eq!(
        texts(&shut(probed)),
        [
            "`billing` got nothing but probes since 14:02:11 because its breaker is open (5 timeouts in 10 s); 1 request was \
         held back."
        ]
    );
}

#[test]
fn a_breaker_that_opened_before_the_window_counts_only_what_is_in_it() {
    let since = datetime!(2025-12-31 23:59:59 UTC);
    let said = texts(&shut(Outage { since, first: since, ..outage(5, 1) })).remove(0);
    assert!(said.contains("since 31 December 2025, 23:59:59"), "{said}");
    assert!(said.ends_with("5 requests of 1 partner were held back in this window."), "{said}");
}

#[test]
fn retry_loops_are_not_blamed_for_the_quiet() {
    let mut evidence = shut(outage(312, 4));
    let early = Compared { now: 900, before: 0 };
    evidence.suspects = vec![Suspect { slug: "hasty".into(), early, ..Suspect::default() }];
    (evidence.all.now.early, evidence.all.now.arrived) = (900, 1_212);
    let quiet: Vec<_> = verdicts(&evidence).into_iter().filter(|v| v.rule == Rule::Quiet).collect();
    assert_eq!(quiet.len(), 1);
    assert!(!quiet[0].text().contains("hasty"));
}

#[test]
fn an_outage_that_is_over_is_told_in_the_past_if_ten_were_held_back() {
    let over = |held| {
        let until = Some(datetime!(2026-01-01 14:03:40 UTC));
        texts(&shut(Outage { until, ..outage(held, 2) }))
    };
    assert!(over(9).is_empty());
    assert_eq!(
        over(10),
        [
            "`billing` was shut off from 14:02:11 to 14:03:40 by its breaker (5 timeouts in 10 s); 10 requests of 2 partners \
         were held back."
        ]
    );
}

#[test]
fn a_breaker_that_opens_again_and_again_is_counted() {
    let until = Some(datetime!(2026-01-01 14:30:00 UTC));
    assert_eq!(
        texts(&shut(Outage { until, times: 12, ..outage(80, 2) })),
        [
            "`billing` was shut off 12 times between 14:02:11 and 14:30:00 by its breaker (5 timeouts in 10 s); 80 requests \
         of 2 partners were held back."
        ]
    );
}

#[test]
fn nobody_calls_is_said_only_where_others_are_called() {
    let of = |arrived| {
        let mut evidence = shut(outage(0, 0));
        evidence.routes.push(route("orders", served(arrived), Tally::default()));
        evidence.upstreams.push(upstream("orders", None));
        evidence.all.now = served(arrived);
        evidence
    };
    assert!(texts(&of(19)).is_empty());
    // Open it may be: as long as nobody comes, that is not why.
    assert_eq!(texts(&of(20)), ["`billing` is quiet because nobody calls it."]);
    let mut off = of(20);
    off.routes[0].is_open = false;
    assert!(texts(&off).is_empty(), "switched off on purpose");
}

#[test]
fn several_uncalled_upstreams_share_a_sentence() {
    let mut evidence = Evidence::new(Who::Ops, hour().window, hour().until);
    evidence.all.now = served(500);
    for name in ["a", "b", "c", "d", "e"] {
        evidence.routes.push(route(name, Tally::default(), Tally::default()));
        evidence.upstreams.push(upstream(name, None));
    }
    assert_eq!(texts(&evidence), ["`a`, `b`, `c` and 2 more are quiet because nobody calls them."]);
}

#[test]
fn a_breaker_that_is_open_once_more_tells_what_all_its_times_held_back() {
    let flapping = Outage { since: datetime!(2026-01-01 14:30:00 UTC), times: 5, ..outage(516, 2) };
    assert_eq!(
        texts(&shut(flapping)),
        [
            "`billing` got nothing since 14:30:00 because its breaker is open (5 timeouts in 10 s); since 14:02:11 it \
             opened 5 times, and 516 requests of 2 partners were held back."
        ]
    );
}

#[test]
fn a_breaker_that_has_opened_and_held_nobody_back_yet_is_told_if_there_were_callers() {
    let mut evidence = shut(outage(0, 0));
    assert!(texts(&evidence).is_empty());
    evidence.routes[0].tally.now = served(5);
    assert_eq!(
        texts(&evidence),
        [
            "`billing` has been shut off since 14:02:11 by its breaker (5 timeouts in 10 s); nobody was held back yet."
        ]
    );
}

#[test]
fn an_open_breaker_of_what_nobody_calls_any_more_is_told_apart_from_one_that_holds_callers_back() {
    let verdict = verdicts(&without_calls_since(LONG_AGO, LONG_AGO, outage(312, 4))).remove(0);
    assert_eq!(
        verdict.text(),
        "`billing` has been shut off since 14:02:11 by its breaker (5 timeouts in 10 s), and nobody has called it since \
         14:06; 312 requests of 4 partners were held back until then."
    );
    assert_eq!((verdict.rule, verdict.tone), (Rule::Quiet, Tone::Notice));
    let called = verdicts(&without_calls_since(JUST_NOW, JUST_NOW, outage(312, 4))).remove(0);
    assert!(called.text().starts_with("`billing` got nothing since 14:02:11"), "{}", called.text());
    assert_eq!(called.tone, Tone::Alarm);
}

#[test]
fn five_minutes_without_a_call_are_needed_to_say_that_nobody_calls() {
    let said = |called| texts(&without_calls_since(called, called, outage(312, 4))).remove(0);
    // It is 14:50:30.
    assert!(said(datetime!(2026-01-01 14:45 UTC)).contains("nobody has called it since 14:45"));
    assert!(!said(datetime!(2026-01-01 14:46 UTC)).contains("nobody has called"));
}

#[test]
fn calls_that_do_not_come_as_far_as_the_breaker_are_calls() {
    assert_eq!(
        texts(&without_calls_since(JUST_NOW, LONG_AGO, outage(312, 4))),
        [
            "`billing` has been shut off since 14:02:11 by its breaker (5 timeouts in 10 s); 312 requests of 4 partners were \
             held back, none since 14:06."
        ]
    );
}

#[test]
fn a_breaker_that_opened_once_more_without_callers_tells_how_often() {
    let flapping = Outage { since: datetime!(2026-01-01 14:30:00 UTC), times: 5, ..outage(516, 2) };
    let called = datetime!(2026-01-01 14:31 UTC);
    assert_eq!(
        texts(&without_calls_since(called, called, flapping)),
        [
            "`billing` has been shut off since 14:30:00 by its breaker (5 timeouts in 10 s), and nobody has called it since \
             14:31; since 14:02:11 it opened 5 times, and 516 requests of 2 partners were held back until then."
        ]
    );
}

#[test]
fn a_breaker_that_held_nobody_back_says_that_nobody_calls_once_nobody_does() {
    let mut evidence = without_calls_since(LONG_AGO, LONG_AGO, outage(0, 0));
    evidence.routes[0].tally.now = Tally { last_arrived: Some(LONG_AGO), ..served(5) };
    assert_eq!(
        texts(&evidence),
        [
            "`billing` has been shut off since 14:02:11 by its breaker (5 timeouts in 10 s), and nobody has called it since \
             14:06."
        ]
    );
}

#[test]
fn what_was_opened_by_hand_and_by_failures_is_told_as_both() {
    let said = |reason: &str, noted_by_hand| {
        let opened_by = OpenedBy::Both { noted_by_hand };
        let both = Outage { opened_by, times: 2, reason: reason.into(), ..outage(20, 1) };
        texts(&shut(both)).remove(0)
    };
    assert!(said("5 timeouts in 10 s", false).contains("(5 timeouts in 10 s; another time by hand)"));
    assert!(
        said("opened by ada for 1 hour", true)
            .contains("(opened by ada for 1 hour; another time by failures)")
    );
}

#[test]
fn whose_failures_hold_others_back_is_said() {
    let mut evidence = shut(outage(412, 2));
    let at = datetime!(2026-01-01 14:01 UTC);
    evidence.routes[0].slots = vec![minute(at, 19, 19)];
    evidence.routes.push(RouteEvidence {
        upstream: "billing".into(),
        slots: vec![minute(at, 17, 0)],
        ..route("refunds", served(17), Tally::default())
    });
    assert!(
        texts(&evidence)[0]
            .ends_with("412 requests of 2 partners were held back. What failed came by `billing`."),
        "{:?}",
        texts(&evidence)
    );
}

use time::macros::datetime;

use super::*;
use crate::domain::verdict::evidence::{Compared, Tally};
use crate::domain::verdict::examples::{hour, minute, outage, route, served, texts, upstream};
use crate::domain::verdict::verdicts;

/// Minutes from 14:00 on, of requests and failures each.
fn of(minutes: &[(u64, u64)]) -> Evidence {
    let sum = minutes.iter().fold(Tally::default(), |sum, (reached, failed)| Tally {
        arrived: sum.arrived + reached,
        reached: sum.reached + reached,
        failed: sum.failed + failed,
        ..sum
    });
    Evidence {
        all: Compared { now: sum, before: sum },
        routes: vec![RouteEvidence { slots: slots(minutes), ..route("billing", sum, sum) }],
        upstreams: vec![upstream("billing", None)],
        ..hour()
    }
}

fn slots(minutes: &[(u64, u64)]) -> Vec<Slot> {
    let asked = minutes.iter().enumerate().filter(|(_, (reached, _))| *reached > 0);
    let at = |n: usize| hour().window.from + Duration::minutes(n as i64);
    asked.map(|(n, (reached, failed))| minute(at(n), *reached, *failed)).collect()
}

/// Twenty good minutes, then 38 % of 50 a minute.
fn since_twenty_past() -> Vec<(u64, u64)> {
    let mut minutes = vec![(50, 0); 20];
    minutes.extend([(50, 19); 30]);
    minutes
}

#[test]
fn an_upstream_that_answers_5xx_is_at_fault_since_when_it_began() {
    let evidence = of(&since_twenty_past());
    assert_eq!(
        texts(&evidence),
        ["`billing` answered 38 % of what it got with 5xx since 14:20; nothing was stopped before it."]
    );
}

#[test]
fn what_was_stopped_before_it_is_counted() {
    let mut evidence = of(&since_twenty_past());
    let slots = &mut evidence.routes[0].slots;
    slots[30].answers.stopped = 1;
    assert!(texts(&evidence)[0].ends_with("; 1 request was stopped before it."));
}

#[test]
fn nine_failures_are_bad_luck_and_ten_are_not() {
    assert!(texts(&of(&[(20, 9)])).is_empty());
    assert_eq!(texts(&of(&[(20, 10)])).len(), 1);
}

#[test]
fn under_a_tenth_is_bearable() {
    assert!(texts(&of(&[(1_000, 100)])).is_empty());
    assert_eq!(
        texts(&of(&[(1_000, 101)])),
        ["`billing` answered 10 % of what it got with 5xx since 14:00; nothing was stopped before it."]
    );
}

#[test]
fn a_fault_that_is_over_has_an_end() {
    let mut minutes = since_twenty_past();
    minutes.extend([(50, 0); 5]);
    let evidence = of(&minutes);
    assert_eq!(
        texts(&evidence),
        [
            "`billing` answered 38 % of what it got with 5xx from 14:20 to 14:50; nothing was stopped before it."
        ]
    );
}

#[test]
fn a_good_minute_in_between_does_not_end_it() {
    let mut minutes = since_twenty_past();
    minutes[35] = (50, 0);
    minutes.push((50, 0));
    let said = texts(&of(&minutes)).remove(0);
    assert!(said.contains(" since 14:20;"), "{said}");
}

#[test]
fn failures_without_an_answer_are_told_apart() {
    let mut evidence = of(&[(80, 10)]);
    let answers = &mut evidence.routes[0].slots[0].answers;
    (answers.unanswered, answers.unreachable) = (20, 20);
    assert_eq!(
        texts(&evidence),
        [
            "`billing` failed 50 % of what was sent to it since 14:00: 10 5xx, 20 without an answer, 20 without a connection; \
         nothing was stopped before it."
        ]
    );
    let answers = &mut evidence.routes[0].slots[0].answers;
    (answers.unanswered, answers.failed) = (0, 0);
    assert_eq!(
        texts(&evidence),
        [
            "`billing` could not be reached for 20 % of what was sent to it since 14:00; nothing was stopped before it."
        ]
    );
}

#[test]
fn while_the_breaker_is_open_it_says_it_all() {
    let mut evidence = of(&since_twenty_past());
    evidence.upstreams[0].outage = Some(outage(1, 1));
    let said = texts(&evidence);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("its breaker is open"));
}

#[test]
fn a_partner_is_told_that_it_is_not_its_doing() {
    let mut evidence = of(&[(50, 19)]);
    evidence.who = Who::Partner(1);
    assert_eq!(
        texts(&evidence),
        ["`billing` answered 38 % of what it got from you with 5xx since 14:00; it is not your doing."]
    );
}

#[test]
fn an_upstream_that_nobody_has_called_since_it_failed_is_no_alarm() {
    let mut evidence = of(&[(50, 19)]);
    // It is 14:50:30.
    evidence.routes[0].tally.now.last_arrived = Some(datetime!(2026-01-01 14:01 UTC));
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(verdict.tone, Tone::Notice);
    assert_eq!(
        verdict.text(),
        "`billing` answered 38 % of what it got with 5xx since 14:00; nothing was stopped before it, and nobody has called \
         it since 14:01."
    );
    let mine = Evidence { who: Who::Partner(1), ..evidence.clone() };
    assert_eq!(
        texts(&mine),
        [
            "`billing` answered 38 % of what it got from you with 5xx since 14:00, and you have not called it since 14:01; it is not \
             your doing."
        ]
    );
    evidence.routes[0].tally.now.last_arrived = Some(datetime!(2026-01-01 14:50 UTC));
    assert_eq!(verdicts(&evidence)[0].tone, Tone::Alarm);
}

#[test]
fn a_route_that_failed_once_among_hundreds_is_not_named() {
    let mut evidence = of(&[(120, 120)]);
    evidence.who = Who::Partner(1);
    let named = |faults| {
        let mut evidence = evidence.clone();
        evidence.routes[0].tally.now = Tally { arrived: 120, reached: 120, failed: 120, ..Tally::default() };
        let once = Tally { arrived: 2, reached: 2, failed: faults, ..Tally::default() };
        let slots = slots(&[(2, faults)]);
        let refunds =
            RouteEvidence { upstream: "billing".into(), slots, ..route("refunds", once, Tally::default()) };
        evidence.routes.push(refunds);
        texts(&evidence)[0].contains("`refunds`")
    };
    assert!(!named(0) && !named(1) && named(2));
}

#[test]
fn an_upstream_that_fails_now_is_worse_than_one_that_is_well_again() {
    let fails = since_twenty_past();
    let mut is_well_again = fails.clone();
    is_well_again.extend([(50, 0); 5]);
    for who in [Who::Ops, Who::Partner(1)] {
        let tone = |minutes: &[(u64, u64)]| verdicts(&Evidence { who, ..of(minutes) }).remove(0).tone;
        assert_eq!((tone(&fails), tone(&is_well_again)), (Tone::Alarm, Tone::Notice), "{who:?}");
    }
}

#[test]
fn what_its_breaker_held_back_is_told_whenever_that_was() {
    let mut evidence = of(&since_twenty_past());
    let until = Some(datetime!(2026-01-01 14:51:00 UTC));
    let mut said = |times| {
        evidence.upstreams[0].outage = Some(Outage { until, times, ..outage(180, 2) });
        texts(&evidence).remove(0)
    };
    assert_eq!(
        said(1),
        "`billing` answered 38 % of what it got with 5xx since 14:20; its breaker was open from 14:02:11 to 14:51:00, and 180 \
         requests of 2 partners were held back."
    );
    assert!(
        said(3).ends_with("; its breaker was open 3 times between 14:02:11 and 14:51:00, and 180 requests of 2 partners were held back.")
    );
}

/// `billing`, and a route to the same upstream that is asked as often and never fails.
fn beside_one_that_is_well(minutes: &[(u64, u64)]) -> Evidence {
    let mut evidence = of(minutes);
    let well: Vec<_> = minutes.iter().map(|(reached, _)| (*reached, 0)).collect();
    evidence.routes.push(RouteEvidence {
        upstream: "billing".into(),
        slots: slots(&well),
        ..route("refunds", served(1_000), Tally::default())
    });
    evidence
}

#[test]
fn a_route_that_fails_beside_others_that_do_not_is_named_with_its_own_share() {
    let evidence = beside_one_that_is_well(&[(50, 50)]);
    assert_eq!(
        texts(&evidence),
        [
            "`billing` answered 100 % of what it got by the route `billing` with 5xx since 14:00; nothing was stopped before it."
        ]
    );
    let href = verdicts(&evidence).remove(0).href;
    assert!(href.ends_with("&answer=5xx&upstream=billing&route=billing"), "{href}");
    let mine = verdicts(&Evidence { who: Who::Partner(1), ..evidence }).remove(0);
    assert_eq!(
        mine.text(),
        "`billing` answered 100 % of what it got from you with 5xx since 14:00; it is not your doing."
    );
    assert!(mine.href.ends_with("&answer=5xx&route=billing"), "{}", mine.href);
}

#[test]
fn a_route_that_always_fails_is_told_however_many_others_do_not() {
    let mut evidence = beside_one_that_is_well(&[(10, 10)]);
    evidence.routes[1].slots = slots(&[(10_000, 0)]);
    assert!(
        texts(&evidence)[0]
            .starts_with("`billing` answered 100 % of what it got by the route `billing` with 5xx")
    );
    evidence.routes[0].slots = slots(&[(10, 9)]);
    assert!(texts(&evidence).is_empty());
}

#[test]
fn routes_that_fail_seldom_each_are_told_together() {
    let mut evidence = beside_one_that_is_well(&[(8, 6)]);
    evidence.routes[1].slots = slots(&[(8, 4)]);
    assert!(
        texts(&evidence)[0].starts_with("`billing` answered 63 % of what it got with 5xx"),
        "{:?}",
        texts(&evidence)
    );
}

#[test]
fn a_route_that_failed_and_is_called_no_more_fails_no_more() {
    let mut evidence = beside_one_that_is_well(&[(50, 50)]);
    // It is 14:50:30.
    evidence.routes[0].tally.now.last_arrived = Some(datetime!(2026-01-01 14:01 UTC));
    evidence.routes[1].tally.now.last_arrived = Some(datetime!(2026-01-01 14:50 UTC));
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(verdict.tone, Tone::Notice);
    assert!(verdict.text().contains(" with 5xx from 14:00 to 14:01;"), "{}", verdict.text());
}

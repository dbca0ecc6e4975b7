use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use super::*;
use crate::domain::verdict::evidence::{RouteEvidence, Slot, Tally, Who};
use crate::domain::verdict::examples::{
    LONG_AGO, minute, outage, route, served, shut, texts, without_calls_since,
};
use crate::domain::verdict::verdicts;

/// As a partner reads it.
fn mine(evidence: Evidence) -> Evidence {
    Evidence { who: Who::Partner(1), ..evidence }
}

#[test]
fn a_partner_learns_of_its_own_requests_only() {
    let evidence = mine(shut(outage(12, 4)));
    assert_eq!(
        texts(&evidence),
        [
            "`billing` has been unavailable since 14:02:11: 12 of your requests were held back to let it recover. It is not your \
         doing."
        ]
    );
}

#[test]
fn a_partner_is_told_of_an_outage_that_is_over_if_ten_of_its_requests_were_held_back() {
    let over = |held| {
        let until = Some(datetime!(2026-01-01 14:03:40 UTC));
        texts(&mine(shut(Outage { until, ..outage(held, 2) })))
    };
    assert!(over(9).is_empty());
    assert_eq!(
        over(10),
        [
            "`billing` was unavailable between 14:02:11 and 14:03:40: 10 of your requests were held back to let it recover. It \
             was not your doing."
        ]
    );
}

#[test]
fn who_is_held_back_by_hand_is_not_told_that_something_recovers() {
    let said = |opened_by| texts(&mine(shut(Outage { opened_by, ..outage(12, 1) })));
    assert!(
        said(OpenedBy::Both { noted_by_hand: false })[0]
            .contains("12 of your requests were held back, by the operator or to let it recover.")
    );
    assert_eq!(
        said(OpenedBy::Hand),
        [
            "`billing` has been unavailable since 14:02:11: 12 of your requests were held back by the operator. It is not your \
             doing."
        ]
    );
}

#[test]
fn a_partner_is_told_how_often_an_upstream_was_unavailable() {
    let until = Some(datetime!(2026-01-01 14:30:00 UTC));
    let said = texts(&mine(shut(Outage { until, times: 2, ..outage(12, 1) })));
    assert!(
        said[0].starts_with("`billing` was unavailable 2 times between 14:02:11 and 14:30:00: 12 of"),
        "{said:?}"
    );
}

#[test]
fn a_partner_that_calls_no_more_reads_that_it_is_still_unavailable() {
    let evidence = without_calls_since(LONG_AGO, LONG_AGO, outage(12, 4));
    let verdict = verdicts(&mine(evidence)).remove(0);
    assert_eq!(
        verdict.text(),
        "`billing` has been unavailable since 14:02:11, and you have not called it since 14:06: 12 of your requests were \
         held back to let it recover. It is not your doing. The next request may find that it is back."
    );
    assert_eq!(verdict.tone, Tone::Notice);
}

#[test]
fn a_breaker_that_is_open_once_more_tells_a_partner_how_often() {
    let flapping = Outage { since: datetime!(2026-01-01 14:30:00 UTC), times: 5, ..outage(516, 2) };
    assert_eq!(
        texts(&mine(shut(flapping))),
        [
            "`billing` has been unavailable 5 times since 14:02:11, now since 14:30:00: 516 of your requests were held back to \
             let it recover. It is not your doing."
        ]
    );
}

/// `billing` failed three of four in a minute, and was asked once more and answered if `is_over`.
fn failed_at(at: OffsetDateTime, is_over: bool) -> Vec<Slot> {
    let mut slots = vec![minute(at, 20, 15)];
    if is_over {
        slots.extend((1..4).map(|n| minute(at + Duration::minutes(n), 20, 0)));
    }
    slots
}

const BEFORE: OffsetDateTime = datetime!(2026-01-01 14:01 UTC);
const AFTER: OffsetDateTime = datetime!(2026-01-01 14:03 UTC);

#[test]
fn a_partner_before_an_open_breaker_reads_what_of_its_own_failed_as_well() {
    let mut evidence = mine(shut(outage(3, 1)));
    let mut failing = |slots| {
        evidence.routes[0].slots = slots;
        texts(&evidence).remove(0)
    };
    assert_eq!(
        failing(failed_at(BEFORE, false)),
        "`billing` answered 75 % of what it got from you with 5xx since 14:01, and has been unavailable since 14:02:11: 3 of \
         your requests were held back to let it recover. It is not your doing."
    );
    assert_eq!(
        failing(failed_at(AFTER, false)),
        "`billing` has been unavailable since 14:02:11: 3 of your requests were held back to let it recover. It answered \
         75 % of what it got from you with 5xx since 14:03. It is not your doing."
    );
    let bad_luck = failing(vec![minute(BEFORE, 20, 9)]);
    assert!(bad_luck.contains("held back to let it recover. It is not your doing."), "{bad_luck}");
}

#[test]
fn of_what_failed_and_was_unavailable_and_is_well_again_both_are_told() {
    let over = |held| {
        let until = Some(datetime!(2026-01-01 14:03:40 UTC));
        let mut evidence = mine(shut(Outage { until, times: 2, ..outage(held, 2) }));
        evidence.routes[0].slots = failed_at(BEFORE, true);
        verdicts(&evidence).remove(0)
    };
    let both = over(1);
    assert_eq!(
        both.text(),
        "`billing` answered 75 % of what it got from you with 5xx from 14:01 to 14:02, and was unavailable 2 times between \
         14:02:11 and 14:03:40: 1 of your requests was held back to let it recover. It was not your doing."
    );
    assert_eq!(both.tone, Tone::Notice);
    let failed = over(0).text();
    assert!(failed.ends_with("from 14:01 to 14:02; it is not your doing."), "{failed}");
}

#[test]
fn what_failed_and_is_called_no_more_is_no_alarm() {
    let mut evidence = mine(without_calls_since(LONG_AGO, LONG_AGO, outage(12, 4)));
    evidence.routes[0].slots = failed_at(BEFORE, false);
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(verdict.tone, Tone::Notice, "{}", verdict.text());
}

#[test]
fn of_what_was_unavailable_and_fails_still_the_failing_is_an_alarm() {
    let until = Some(datetime!(2026-01-01 14:03:40 UTC));
    let mut evidence = mine(shut(Outage { until, ..outage(3, 1) }));
    evidence.routes[0].slots = failed_at(BEFORE, false);
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!((verdict.tone, verdict.rule), (Tone::Alarm, Rule::Quiet));
    assert!(verdict.text().ends_with("It is not your doing."), "{}", verdict.text());
}

#[test]
fn a_route_that_was_held_back_and_did_not_fail_is_not_said_to_have_failed() {
    let mut evidence = mine(shut(outage(24, 1)));
    let held = Tally { held: 12, arrived: 52, ..served(40) };
    for name in ["refunds", "payouts"] {
        let slots = vec![minute(BEFORE, 20, 0)];
        evidence.routes.push(RouteEvidence {
            upstream: "billing".into(),
            slots,
            ..route(name, held, Tally::default())
        });
    }
    let mut said = |at| {
        evidence.routes[0].slots = failed_at(at, false);
        texts(&evidence).remove(0)
    };
    assert_eq!(
        said(BEFORE),
        "`billing` answered 75 % of what it got from you with 5xx since 14:01; `billing`, `refunds` and `payouts` have been \
         unavailable since 14:02:11: 24 of your requests were held back to let it recover. It is not your doing."
    );
    assert_eq!(
        said(AFTER),
        "`billing`, `refunds` and `payouts` have been unavailable since 14:02:11: 24 of your requests were held back to let \
         it recover. `billing` answered 75 % of what it got from you with 5xx since 14:03. It is not your doing."
    );
}

#[test]
fn several_routes_of_a_partner_to_one_upstream_are_told_together() {
    let mut evidence = mine(without_calls_since(LONG_AGO, LONG_AGO, outage(24, 1)));
    let refunds = RouteEvidence { name: "refunds".into(), ..evidence.routes[0].clone() };
    evidence.routes.push(refunds);
    assert_eq!(
        texts(&evidence),
        [
            "`billing` and `refunds` have been unavailable since 14:02:11, and you have not called them since 14:06: 24 of \
             your requests were held back to let it recover. It is not your doing. The next request may find that it is back."
        ]
    );
}

//! Evidence to begin a test from, and every rule at once.

use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use super::evidence::{
    Answers, Compared, Evidence, Habit, OpenedBy, Outage, RouteEvidence, Slot, Suspect, Tally,
    UpstreamEvidence, Who,
};
use super::{Rule, verdicts};
use crate::domain::window::Window;

/// A caller that asks again and again without waiting.
pub const HASTY: Habit = Habit {
    waited_ms: 80,
    asked_ms: 9_000,
    looked_at: 200,
    repeated: 198,
    unbidden: 190,
    callers: 100,
    is_in_turn: true,
    is_steady: true,
    is_crowd: false,
};

/// An hour of which nothing is known.
pub fn hour() -> Evidence {
    let (from, to) = (datetime!(2026-01-01 14:00 UTC), datetime!(2026-01-01 15:00 UTC));
    Evidence::new(Who::Ops, Window { from, to }, datetime!(2026-01-01 14:50:30 UTC))
}

/// What is said about it, in order.
pub fn texts(evidence: &Evidence) -> Vec<String> {
    verdicts(evidence).iter().map(|verdict| verdict.text()).collect()
}

pub fn upstream(name: &str, outage: Option<Outage>) -> UpstreamEvidence {
    UpstreamEvidence { name: name.into(), outage }
}

/// A route to the upstream of the same name.
pub fn route(name: &str, now: Tally, before: Tally) -> RouteEvidence {
    RouteEvidence {
        name: name.into(),
        upstream: name.into(),
        is_open: true,
        tally: Compared { now, before },
        ..RouteEvidence::default()
    }
}

/// A breaker that has been open since eleven seconds past 14:02.
pub fn outage(held: u64, partners: u64) -> Outage {
    let since = datetime!(2026-01-01 14:02:11 UTC);
    Outage {
        since,
        until: None,
        times: 1,
        first: since,
        reason: "5 timeouts in 10 s".into(),
        opened_by: OpenedBy::Failures,
        was_probed: false,
        held,
        partners,
    }
}

/// Nothing but what such an outage of `billing` holds back.
pub fn shut(outage: Outage) -> Evidence {
    let held = Tally { arrived: outage.held, held: outage.held, ..Tally::default() };
    Evidence {
        all: Compared { now: held, ..Compared::default() },
        routes: vec![route("billing", held, Tally::default())],
        upstreams: vec![upstream("billing", Some(outage))],
        ..hour()
    }
}

/// The same, without calls after one time, and without any that came as far as the breaker after another.
pub fn without_calls_since(called: OffsetDateTime, came: OffsetDateTime, outage: Outage) -> Evidence {
    let mut evidence = shut(outage);
    let now = &mut evidence.routes[0].tally.now;
    (now.last_arrived, now.last_at_breaker) = (Some(called), Some(came));
    evidence
}

/// With the breaker open since 14:02:11, and at 14:50:30.
pub const LONG_AGO: OffsetDateTime = datetime!(2026-01-01 14:06 UTC);
pub const JUST_NOW: OffsetDateTime = datetime!(2026-01-01 14:50 UTC);

/// A minute of `billing`: so many requests, of which so many were answered with 5xx.
pub fn minute(at: OffsetDateTime, reached: u64, failed: u64) -> Slot {
    let answers = Answers { reached, failed, ..Answers::default() };
    Slot { at, to: at + Duration::MINUTE, answers }
}

/// So many requests, all of which the upstream answered.
pub fn served(reached: u64) -> Tally {
    Tally { arrived: reached, reached, ..Tally::default() }
}

#[test]
fn what_needs_somebody_comes_first_and_then_what_concerns_most_requests() {
    let hasty = Suspect {
        slug: "hasty".into(),
        early: Compared { now: 900, before: 900 },
        spent: 10,
        habit: Some(HASTY),
        ..Suspect::default()
    };
    let mut orders =
        route("orders", Tally { cached: 900, reached: 100, ..Tally::default() }, Tally::default());
    orders.has_cache = true;
    orders.tally.now.arrived = 1_000;
    let mut evidence = Evidence {
        suspects: vec![hasty],
        upstreams: vec![
            upstream("billing", Some(outage(312, 4))),
            upstream("idle", None),
            upstream("orders", None),
        ],
        routes: vec![orders, route("idle", Tally::default(), Tally::default())],
        ..hour()
    };
    evidence.all.now = Tally { arrived: 2_222, early: 900, spent: 10, held: 312, ..served(1_000) };
    evidence.all.before = Tally { arrived: 2_000, ..Tally::default() };
    let rules: Vec<Rule> = verdicts(&evidence).iter().map(|verdict| verdict.rule).collect();
    assert_eq!(rules, [Rule::Loud, Rule::Quiet, Rule::Cache, Rule::Quiet]);
}

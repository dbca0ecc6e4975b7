//! Evidence to begin a test from, and every rule at once.

use time::macros::datetime;

use super::evidence::{
    Compared, Evidence, Habit, Outage, RouteEvidence, Suspect, Tally, UpstreamEvidence, Who,
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
    UpstreamEvidence { name: name.into(), outage, slots: Vec::new() }
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

/// So many requests, all of which the upstream answered.
pub fn served(reached: u64) -> Tally {
    Tally { arrived: reached, reached, ..Tally::default() }
}

#[test]
fn what_needs_somebody_comes_first_and_then_what_concerns_most_requests() {
    let outage = Outage {
        since: datetime!(2026-01-01 14:41:07 UTC),
        until: None,
        times: 1,
        first: datetime!(2026-01-01 14:41:07 UTC),
        reason: "5 timeouts in 10 s".into(),
        is_by_hand: false,
        was_probed: false,
        held: 312,
        partners: 4,
    };
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
        upstreams: vec![upstream("billing", Some(outage)), upstream("idle", None), upstream("orders", None)],
        routes: vec![orders, route("idle", Tally::default(), Tally::default())],
        ..hour()
    };
    evidence.all.now = Tally { arrived: 2_222, early: 900, spent: 10, held: 312, ..served(1_000) };
    evidence.all.before = Tally { arrived: 2_000, ..Tally::default() };
    let rules: Vec<Rule> = verdicts(&evidence).iter().map(|verdict| verdict.rule).collect();
    assert_eq!(rules, [Rule::Loud, Rule::Quiet, Rule::Cache, Rule::Quiet]);
}

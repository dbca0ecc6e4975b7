//! About: what a partner is told of itself, told to an operator, who asks who must act.

use super::evidence::Evidence;
use super::sentence::Sentence;
use super::{Found, Rule, Tone, Verdict, found};

/// The verdicts of a partner's own evidence, in words for an operator; the first begins with who must act.
pub fn about(evidence: Evidence, slug: &str) -> Vec<Verdict> {
    let mut found = found(&Evidence { about: Some(slug.to_owned()), ..evidence });
    // Good tidings ask nothing of anybody.
    if let Some(Found { verdict, actor, .. }) = found.first_mut().filter(|f| f.verdict.tone != Tone::Good) {
        let actor = actor.unwrap_or_else(|| Actor::usual(verdict));
        let sentence = std::mem::take(&mut verdict.sentence);
        verdict.sentence = actor.must_act(slug).say(": ").then(sentence);
    }
    found.into_iter().map(|found| found.verdict).collect()
}

/// Who must act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Actor {
    Nobody,
    Partner,
    PartnerOrYou,
    You,
    Upstream,
    /// Nobody now.
    UpstreamKnows,
}

impl Actor {
    fn usual(verdict: &Verdict) -> Actor {
        match (verdict.rule, verdict.tone) {
            (Rule::Mine, Tone::Alarm) | (Rule::Keys, _) => Actor::Partner,
            // More than a plan gives: the one asks for less, or the other gives more.
            (Rule::Mine | Rule::Door, _) => Actor::PartnerOrYou,
            // What is over, or hurts nobody now, or is no more than an upstream can take; whom callers did not wait for.
            (Rule::Quiet | Rule::Upstream | Rule::Slow, Tone::Notice) => Actor::UpstreamKnows,
            _ => Actor::Upstream,
        }
    }

    fn must_act(self, slug: &str) -> Sentence {
        let partner = || Sentence::new().name(slug);
        match self {
            Actor::Nobody => Sentence::new().say("Nobody must act"),
            Actor::Partner => partner().say(" must act"),
            Actor::PartnerOrYou => partner().say(" or you can act"),
            Actor::You => Sentence::new().say("You alone can act"),
            Actor::Upstream => Sentence::new().say("Whoever runs the upstream must act"),
            Actor::UpstreamKnows => Sentence::new().say("Whoever runs the upstream should know"),
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::domain::verdict::Who;
    use crate::domain::verdict::evidence::{
        Compared, EndedKey, Ending, OpenedBy, Outage, RouteEvidence, Slot, Tally,
    };
    use crate::domain::verdict::examples::{HASTY, hour, minute, outage, route, shut, upstream};

    fn of(now: Tally) -> Evidence {
        Evidence { who: Who::Partner(1), all: Compared { now, ..Compared::default() }, ..hour() }
    }

    fn told(evidence: Evidence) -> Vec<String> {
        about(evidence, "acme").iter().map(Verdict::text).collect()
    }

    #[test]
    fn who_does_not_wait_must_act() {
        let now = Tally { arrived: 590, early: 412, spent: 118, reached: 60, ..Tally::default() };
        let verdict = about(Evidence { habit: Some(HASTY), ..of(now) }, "acme").remove(0);
        assert_eq!(
            verdict.text(),
            "`acme` must act: 412 of acme’s 530 refusals were retries sent too early: it waited 80 ms, we asked for 9 s."
        );
        assert_eq!(
            verdict.href,
            "/ops/requests?from=2026-01-01T14:00Z&to=2026-01-01T15:00Z&stage=quota&outcome=quota_early_retry&partner=acme"
        );
        assert_eq!(
            told(of(now)),
            [
                "`acme` must act: 412 of acme’s 530 refusals were retries sent too early: it is to wait as long as `Retry-After` says."
            ]
        );
    }

    #[test]
    fn of_what_is_over_or_was_done_by_hand_the_partner_need_not_act() {
        let spent = Tally { arrived: 90, spent: 30, reached: 60, ..Tally::default() };
        let over = Tally { last_refused: Some(datetime!(2026-01-01 14:33 UTC)), ..spent };
        assert!(told(of(over))[0].starts_with("Nobody must act: 30 of acme’s 90 requests"));
        let by_hand = |until| Evidence {
            who: Who::Partner(1),
            ..shut(Outage { until, opened_by: OpenedBy::Hand, ..outage(20, 1) })
        };
        assert!(told(by_hand(None))[0].starts_with("You alone can act: `billing` has been unavailable"));
        let closed = told(by_hand(Some(datetime!(2026-01-01 14:45 UTC))));
        assert!(closed[0].starts_with("Nobody must act: `billing` was unavailable"), "{closed:?}");
    }

    #[test]
    fn what_an_operator_opened_does_not_make_another_upstreams_outage_its_doing() {
        let by_hand = Outage { opened_by: OpenedBy::Hand, ..outage(20, 1) };
        let mut evidence = Evidence { who: Who::Partner(1), ..shut(by_hand) };
        let held = Tally { arrived: 30, held: 30, ..Tally::default() };
        evidence.upstreams.push(upstream("orders", Some(outage(30, 1))));
        evidence.routes.push(route("orders", held, Tally::default()));
        assert!(
            told(evidence)[0]
                .starts_with("Whoever runs the upstream must act: `orders` has been unavailable")
        );
    }

    #[test]
    fn a_plan_that_is_too_small_is_a_matter_of_both() {
        let now = Tally { arrived: 80, spent: 20, reached: 60, ..Tally::default() };
        assert_eq!(
            told(of(now)),
            [
                "`acme` or you can act: 20 of acme’s 80 requests went beyond its quota; none of them was a retry sent too early. It spreads them out, or gets a larger plan from you."
            ]
        );
    }

    fn failing(slots: Vec<Slot>) -> Vec<String> {
        let tally = Tally { arrived: 40, reached: 40, failed: 20, ..Tally::default() };
        told(Evidence {
            upstreams: vec![upstream("billing", None)],
            routes: vec![RouteEvidence { slots, ..route("billing", tally, Tally::default()) }],
            ..of(tally)
        })
    }

    #[test]
    fn an_upstream_that_is_well_again_is_nobodys_to_mend_now() {
        let at = |n: i64| hour().window.from + time::Duration::minutes(n);
        let slots = (0..10).map(|n| minute(at(n), 40, if n < 5 { 20 } else { 0 })).collect();
        assert_eq!(
            failing(slots),
            [
                "Whoever runs the upstream should know: `billing` answered 50 % of what it got from acme with 5xx from 14:00 to 14:05; it is not acme’s doing."
            ]
        );
    }

    #[test]
    fn what_an_upstream_does_is_not_the_partners_to_mend() {
        assert_eq!(
            failing(vec![minute(datetime!(2026-01-01 14:20 UTC), 40, 20)]),
            [
                "Whoever runs the upstream must act: `billing` answered 50 % of what it got from acme with 5xx since 14:20; it is not acme’s doing."
            ]
        );
        let shut = |outage| told(Evidence { who: Who::Partner(1), ..shut(outage) });
        let over = Outage { until: Some(datetime!(2026-01-01 14:45 UTC)), ..outage(12, 1) };
        assert!(
            shut(over)[0].starts_with("Whoever runs the upstream should know: `billing` was unavailable")
        );
        assert_eq!(
            shut(outage(12, 1)),
            [
                "Whoever runs the upstream must act: `billing` has been unavailable since 14:02:11: 12 of acme’s requests were held back to let it recover. It is not acme’s doing."
            ]
        );
    }

    #[test]
    fn of_whom_a_partner_did_not_wait_for_its_own_people_should_know() {
        let tally = Tally { arrived: 40, reached: 40, left: 40, ..Tally::default() };
        let evidence = Evidence {
            upstreams: vec![upstream("billing", None)],
            routes: vec![route("billing", tally, Tally::default())],
            ..of(tally)
        };
        assert_eq!(
            told(evidence),
            [
                "Whoever runs the upstream should know: 40 of acme’s 40 requests that reached `billing` were given up by acme before it had answered."
            ]
        );
    }

    #[test]
    fn keys_that_have_ended_are_the_partners_and_an_open_breaker_is_the_operators() {
        let key = EndedKey {
            id: 7,
            partner: "acme".into(),
            ended: Ending::Revoked,
            ended_at: hour().until - time::Duration::days(3),
            calls: 90,
            by_minute: vec![30, 30, 30],
        };
        let evidence = Evidence { ended_keys: vec![key], ..of(Tally::default()) };
        assert_eq!(
            told(evidence),
            ["`acme` must act: `acme` still calls with a key revoked 3 days ago, 30 times a minute."]
        );
        let suspended =
            Tally { arrived: 80, unidentified: 60, suspended: 60, reached: 20, ..Tally::default() };
        assert_eq!(
            told(of(suspended)),
            ["You alone can act: 60 of acme’s 80 requests were refused because it was suspended."]
        );
        let barred = Tally { suspended: 0, barred: 60, ..suspended };
        assert_eq!(
            told(of(barred)),
            [
                "`acme` or you can act: 60 of acme’s 80 requests went to a route that its plan or its key does not open."
            ]
        );
    }

    #[test]
    fn of_whom_there_is_nothing_to_say_nobody_must_act() {
        assert!(told(of(Tally { arrived: 40, reached: 40, ..Tally::default() })).is_empty());
    }
}

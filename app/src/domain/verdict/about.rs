//! About: what a partner is told of itself, told to an operator, who asks who must act.

use super::evidence::Evidence;
use super::sentence::Sentence;
use super::{Rule, Tone, Verdict, mine, verdicts};

/// The verdicts of a partner's own evidence, in words for an operator; the first begins with who must act. None: nobody.
pub fn about(evidence: Evidence, slug: &str) -> Vec<Verdict> {
    let known = Known {
        is_suspended: evidence.all.now.suspended > evidence.all.now.barred,
        is_over: mine::over_since(&evidence).is_some(),
        is_by_hand: evidence
            .upstreams
            .iter()
            .filter_map(|upstream| upstream.outage.as_ref())
            .any(|outage| outage.is_by_hand && outage.times <= 1),
    };
    let mut found = verdicts(&Evidence { about: Some(slug.to_owned()), ..evidence });
    // Good tidings ask nothing of anybody.
    if let Some(first) = found.first_mut().filter(|first| first.tone != Tone::Good) {
        let sentence = std::mem::take(&mut first.sentence);
        first.sentence = actor(first, slug, known).say(": ").then(sentence);
    }
    found
}

/// What decides beside the rule.
#[derive(Clone, Copy)]
struct Known {
    is_suspended: bool,
    /// No quota has refused anything for a while.
    is_over: bool,
    /// It was an operator who opened a breaker, and nothing else did.
    is_by_hand: bool,
}

fn actor(verdict: &Verdict, slug: &str, known: Known) -> Sentence {
    let partner = || Sentence::new().name(slug);
    match (verdict.rule, verdict.tone) {
        (Rule::Mine, _) if known.is_over => Sentence::new().say("Nobody must act any more"),
        (Rule::Mine, Tone::Alarm) | (Rule::Keys, _) => partner().say(" must act"),
        // More than a plan gives: the one asks for less, or the other gives more.
        (Rule::Mine, _) => partner().say(" or you must act"),
        (Rule::Door, _) if known.is_suspended => Sentence::new().say("You alone can act"),
        (Rule::Door, _) => partner().say(" or you must act"),
        (Rule::Quiet, Tone::Alarm) if known.is_by_hand => Sentence::new().say("You alone can act"),
        (Rule::Quiet, _) if known.is_by_hand => Sentence::new().say("Nobody must act"),
        // What is over, or hurts nobody now, or is no more than an upstream can take.
        (Rule::Quiet | Rule::Upstream, Tone::Notice) => {
            Sentence::new().say("Whoever runs the upstream should know")
        }
        _ => Sentence::new().say("Whoever runs the upstream must act"),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::domain::verdict::Who;
    use crate::domain::verdict::evidence::{
        Answers, Compared, EndedKey, Ending, Outage, Slot, Tally, UpstreamEvidence,
    };
    use crate::domain::verdict::examples::{HASTY, hour, route, upstream};

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
        assert!(told(of(over))[0].starts_with("Nobody must act any more: 30 of acme’s 90 requests"));
        let held = Tally { arrived: 20, held: 20, ..Tally::default() };
        let outage = Outage {
            since: datetime!(2026-01-01 14:41:07 UTC),
            until: None,
            times: 1,
            first: datetime!(2026-01-01 14:41:07 UTC),
            reason: "opened by ada@example.com for 1 hour".into(),
            is_by_hand: true,
            was_probed: false,
            held: 20,
            partners: 1,
        };
        let by_hand = |until| Evidence {
            routes: vec![route("billing", held, Tally::default())],
            upstreams: vec![upstream("billing", Some(Outage { until, ..outage.clone() }))],
            ..of(held)
        };
        assert!(told(by_hand(None))[0].starts_with("You alone can act: `billing` has been unavailable"));
        let closed = told(by_hand(Some(datetime!(2026-01-01 14:45 UTC))));
        assert!(closed[0].starts_with("Nobody must act: `billing` was unavailable"), "{closed:?}");
    }

    #[test]
    fn a_plan_that_is_too_small_is_a_matter_of_both() {
        let now = Tally { arrived: 80, spent: 20, reached: 60, ..Tally::default() };
        assert_eq!(
            told(of(now)),
            [
                "`acme` or you must act: 20 of acme’s 80 requests went beyond its plan’s quota; none of them was a retry sent too early. It spreads them out, or gets a larger plan from you."
            ]
        );
    }

    fn of_billing(billing: UpstreamEvidence, tally: Tally) -> Evidence {
        Evidence {
            upstreams: vec![billing],
            routes: vec![route("billing", tally, Tally::default())],
            ..of(tally)
        }
    }

    #[test]
    fn an_upstream_that_is_well_again_is_nobodys_to_mend_now() {
        let minute = |n: i64, failed| Slot {
            at: hour().window.from + time::Duration::minutes(n),
            to: hour().window.from + time::Duration::minutes(n + 1),
            answers: Answers { reached: 40, failed, ..Answers::default() },
        };
        let mut billing = upstream("billing", None);
        billing.slots = (0..10).map(|n| minute(n, if n < 5 { 20 } else { 0 })).collect();
        let tally = Tally { arrived: 400, reached: 400, failed: 100, ..Tally::default() };
        assert_eq!(
            told(of_billing(billing, tally)),
            [
                "Whoever runs the upstream should know: `billing` answered 50 % of what acme sent with 5xx from 14:00 to 14:05; it is not acme’s doing."
            ]
        );
    }

    #[test]
    fn what_an_upstream_does_is_not_the_partners_to_mend() {
        let tally = Tally { arrived: 40, reached: 40, failed: 20, ..Tally::default() };
        let at = datetime!(2026-01-01 14:20 UTC);
        let mut billing = upstream("billing", None);
        billing.slots = vec![Slot { at, to: at + time::Duration::MINUTE, answers: tally.answers() }];
        assert_eq!(
            told(of_billing(billing, tally)),
            [
                "Whoever runs the upstream must act: `billing` answered 50 % of what acme sent with 5xx since 14:20; it is not acme’s doing."
            ]
        );
        let since = datetime!(2026-01-01 14:41:07 UTC);
        let outage = Outage {
            since,
            until: None,
            times: 1,
            first: since,
            reason: "5 timeouts in 10 s".into(),
            is_by_hand: false,
            was_probed: false,
            held: 12,
            partners: 1,
        };
        let held = Tally { arrived: 12, held: 12, ..Tally::default() };
        let shut = |outage| of_billing(upstream("billing", Some(outage)), held);
        let over = Outage { until: Some(datetime!(2026-01-01 14:45 UTC)), ..outage.clone() };
        assert!(
            told(shut(over))[0]
                .starts_with("Whoever runs the upstream should know: `billing` was unavailable")
        );
        assert_eq!(
            told(shut(outage)),
            [
                "Whoever runs the upstream must act: `billing` has been unavailable since 14:41:07: 12 of acme’s requests were held back to let it recover. It is not acme’s doing."
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
                "`acme` or you must act: 60 of acme’s 80 requests went to a route that its plan or its key does not open."
            ]
        );
    }

    #[test]
    fn of_whom_there_is_nothing_to_say_nobody_must_act() {
        assert!(told(of(Tally { arrived: 40, reached: 40, ..Tally::default() })).is_empty());
    }
}

//! Door: calls that end before anybody knows whose they are, or where the caller may not go. Nobody is named: whoever has no
//! key that was ever made is no partner.

use super::about::Actor;
use super::evidence::{Evidence, Tally, Who};
use super::sentence::Sentence;
use super::words::{count, grouped, share};
use super::{Found, Rule, Tone, link, loud};

/// Fewer are stray calls: robots, a typing error.
const LEAST: u64 = 50;
/// Per cent of arrivals below which they are not worth a word.
const MATTERS: u64 = 10;
/// Fewer calls that a partner may not make are a try.
const LEAST_BARRED: u64 = 10;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    match evidence.who {
        Who::Ops => strangers(evidence),
        Who::Partner(_) => barred(evidence),
    }
}

/// What most of those that ended at the route or key stage lacked, and the filters that show them.
pub(super) fn kind(tally: &Tally) -> (&'static str, &'static [(&'static str, &'static str)]) {
    let kinds = kinds(tally);
    let most = kinds.iter().max_by_key(|(n, ..)| *n);
    match most {
        Some((n, words, filters)) if n * 2 > tally.unidentified => (words, filters),
        _ => ("had no valid key or no route", &[]),
    }
}

pub(super) const ENDED: &str = "had a key that has ended";

type Kind = (u64, &'static str, &'static [(&'static str, &'static str)]);

fn kinds(tally: &Tally) -> [Kind; 5] {
    [
        (tally.no_route, "named no route", &[("stage", "route"), ("outcome", "no_route")]),
        (tally.no_key, "had no valid key", &[("stage", "key")]),
        (tally.ended_key, ENDED, &[("stage", "key")]),
        (
            tally.barred,
            "had a key that is not allowed there",
            &[("stage", "key"), ("outcome", "key_not_allowed")],
        ),
        (
            tally.suspended,
            "came from suspended partners",
            &[("stage", "key"), ("outcome", "partner_suspended")],
        ),
    ]
}

/// Whether nearly all that had no valid key had none that was ever made, and are so many that there is a word on them.
pub(super) fn speaks_of_keys(evidence: &Evidence, tally: &Tally) -> bool {
    let all = evidence.all.now;
    tally.no_key * 10 >= (tally.ended_key + tally.no_key) * 9
        && all.no_key >= LEAST
        && all.no_key * 100 >= all.arrived * MATTERS
}

/// "87 % of arrivals named no route: 400 of 460." Where they make a rise, that says it.
fn strangers(evidence: &Evidence) -> Vec<Found> {
    let (now, rise) = (evidence.all.now, evidence.all.of(|t| t.unidentified).rise());
    if loud::rose(evidence) && rise * 2 >= now.unidentified {
        return Vec::new();
    }
    // Whose key has ended is named by another rule, and who may not go there knows it.
    let strangers = kinds(&now).into_iter().take(2);
    let matters = |(n, ..): &Kind| *n >= LEAST && n * 100 >= now.arrived * MATTERS;
    let found = strangers.filter(matters).map(|(n, words, filters)| {
        let sentence = Sentence::new().number(share(n, now.arrived)).say(format!(
            " of arrivals {words}: {} of {}.",
            grouped(n),
            grouped(now.arrived)
        ));
        let href = link::requests(evidence, filters);
        Found::new(Rule::Door, Tone::Notice, n, sentence, href)
    });
    found.collect()
}

/// "60 of your 80 requests were refused because your account was suspended."
fn barred(evidence: &Evidence) -> Vec<Found> {
    let now = evidence.all.now;
    let (closed, ended) = match evidence.about {
        None => (
            "went to a route that your plan or your key does not open.",
            "were refused because your account was suspended.",
        ),
        Some(_) => (
            "went to a route that its plan or its key does not open.",
            "were refused because it was suspended.",
        ),
    };
    let is_over = now.last_barred.is_some_and(|last| evidence.is_past(last));
    let of_barred = if is_over { Actor::Nobody } else { Actor::PartnerOrYou };
    let kinds = [
        (now.barred, closed, "key_not_allowed", of_barred, now.last_barred.filter(|_| is_over)),
        (now.suspended, ended, "partner_suspended", Actor::You, None),
    ];
    let found = kinds.into_iter().filter(|(n, ..)| *n >= LEAST_BARRED);
    let found = found.map(|(n, words, outcome, actor, until)| {
        let until = until.map(|until| format!(" None since {}.", evidence.minute(until)));
        let sentence = Sentence::new().number(grouped(n)).say(format!(
            " of {} {} {words}{}",
            evidence.your(),
            count(now.arrived, "request"),
            until.unwrap_or_default()
        ));
        let href = link::requests(evidence, &[("stage", "key"), ("outcome", outcome)]);
        Found::new(Rule::Door, Tone::Notice, n, sentence, href).acted_by(Some(actor))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::evidence::Compared;
    use crate::domain::verdict::examples::{hour, served, texts};
    use crate::domain::verdict::verdicts;

    fn of(strangers: Tally, others: u64) -> Evidence {
        let unidentified = strangers.no_route
            + strangers.no_key
            + strangers.ended_key
            + strangers.barred
            + strangers.suspended;
        let now = Tally { arrived: unidentified + others, unidentified, reached: others, ..strangers };
        Evidence { all: Compared { now, before: Tally::default() }, ..hour() }
    }

    #[test]
    fn calls_that_name_no_route_or_have_no_key_are_counted_and_nobody_is_named() {
        let verdict = verdicts(&of(Tally { no_route: 400, ..Tally::default() }, 60)).remove(0);
        assert_eq!(verdict.text(), "87 % of arrivals named no route: 400 of 460.");
        assert!(verdict.href.ends_with("&stage=route&outcome=no_route"), "{}", verdict.href);
        assert_eq!(
            texts(&of(Tally { no_route: 100, no_key: 300, ..Tally::default() }, 60)),
            [
                "65 % of arrivals had no valid key: 300 of 460.",
                "22 % of arrivals named no route: 100 of 460."
            ]
        );
    }

    #[test]
    fn forty_nine_are_stray_calls_and_fifty_are_not() {
        assert!(texts(&of(Tally { no_key: 49, ..Tally::default() }, 0)).is_empty());
        assert_eq!(texts(&of(Tally { no_key: 50, ..Tally::default() }, 0)).len(), 1);
    }

    #[test]
    fn under_a_tenth_of_arrivals_is_not_worth_a_word() {
        assert!(texts(&of(Tally { no_key: 100, ..Tally::default() }, 901)).is_empty());
        assert_eq!(texts(&of(Tally { no_key: 100, ..Tally::default() }, 900)).len(), 1);
    }

    #[test]
    fn where_they_make_a_rise_it_is_said_once() {
        let mut evidence = of(Tally { no_route: 400, ..Tally::default() }, 60);
        evidence.all.before = served(60);
        let verdict = verdicts(&evidence).remove(0);
        assert_eq!(
            verdict.text(),
            "Arrivals are 7.7 times the hour before. 100 % of the rise named no route. Reached the upstream: unchanged."
        );
        assert!(verdict.href.ends_with("&stage=route&outcome=no_route"), "{}", verdict.href);
        assert_eq!(texts(&evidence).len(), 1);
    }

    #[test]
    fn a_partner_learns_from_ten_calls_on_that_it_may_not_go_there() {
        let of = |strangers| {
            texts(&Evidence { who: Who::Partner(1), ..of(Tally { no_route: 500, ..strangers }, 20) })
        };
        let barred = |barred| of(Tally { barred, ..Tally::default() });
        assert!(barred(9).is_empty());
        assert_eq!(
            barred(10),
            ["10 of your 530 requests went to a route that your plan or your key does not open."]
        );
        // It is 14:50:30.
        let last_barred = Some(time::macros::datetime!(2026-01-01 14:33 UTC));
        assert_eq!(
            of(Tally { barred: 10, last_barred, ..Tally::default() }),
            [
                "10 of your 530 requests went to a route that your plan or your key does not open. None since 14:33."
            ]
        );
        let suspended = |suspended| of(Tally { suspended, ..Tally::default() });
        assert!(suspended(9).is_empty());
        assert_eq!(
            suspended(10),
            ["10 of your 530 requests were refused because your account was suspended."]
        );
    }
}

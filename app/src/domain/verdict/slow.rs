//! Slow: an upstream answers, but takes longer than before, or than its callers wait. A partner is told of its own impatience, as it
//! may not know that it was no answer that it missed.

use super::evidence::{Compared, Evidence, RouteEvidence, Tally, UpstreamEvidence, Who};
use super::sentence::Sentence;
use super::words::{before, count, grouped, wait};
use super::{Found, Rule, Tone, link, quiet, upstream};
use crate::domain::histogram::{BOUNDS_MS, Histogram, bucket_of};

/// Of fewer answers the slowest of twenty say nothing.
const LEAST_ANSWERS: u64 = 50;
/// Nobody minds what takes less. Milliseconds.
const NOTICEABLE: u32 = 250;
/// Fewer may have been one caller's impatience.
const LEAST_LEFT: u64 = 20;
/// Per cent of an upstream's calls that may be given up before there is anything to say.
const BEARABLE: u64 = 20;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    // What fails, or is shut off, has more to say than how long it takes.
    let well = |u: &&UpstreamEvidence| !quiet::is_shut(u) && upstream::failing(evidence, u).is_none();
    let well = evidence.upstreams.iter().filter(well);
    match evidence.who {
        Who::Ops => well.filter_map(|upstream| judge_one(evidence, upstream)).collect(),
        // A partner knows routes.
        Who::Partner(_) => {
            let routes = well.flat_map(|upstream| evidence.routes_to(&upstream.name));
            routes.filter_map(|route| own_impatience(evidence, route)).collect()
        }
    }
}

fn judge_one(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let tally = evidence.asked_of(&upstream.name);
    let (weight, sentence) = given_up(tally.now).or_else(|| slower(evidence, tally))?;
    let sentence = Sentence::new().name(&upstream.name).say(" ").then(sentence);
    let href = link::to(evidence, "/ops/latency", &[]);
    Some(Found::new(Rule::Slow, Tone::Notice, weight, sentence, href))
}

/// "has slowed down: 95 % of its answers took up to 1 s, in the hour before up to 10 ms."
fn slower(evidence: &Evidence, tally: Compared<Tally>) -> Option<(u64, Sentence)> {
    let (now, past) = (most(&tally.now.latency)?, most(&tally.before.latency)?);
    if now < past + 2 || BOUNDS_MS.get(now).is_some_and(|bound| *bound < NOTICEABLE) {
        return None;
    }
    // Whoever reads slowly, and what Toll itself takes, is not the upstream's doing.
    let each = tally.of(|t| t.upstream_us.checked_div(t.reached).unwrap_or(0));
    if each.now < each.before * 2 {
        return None;
    }
    let sentence = Sentence::new()
        .say("has slowed down: 95 % of its answers took ")
        .number(up_to(now))
        .say(format!(", in {} {}.", before(evidence.window.length()), up_to(past)));
    // It is about the slowest of twenty.
    Some((tally.now.latency.total() / 20, sentence))
}

/// The bucket within which 95 % are.
fn most(latency: &Histogram) -> Option<usize> {
    let p95 = latency.percentile(0.95).filter(|_| latency.total() >= LEAST_ANSWERS)?;
    Some(p95.high.map_or(BOUNDS_MS.len(), |high| bucket_of(u64::from(high) * 1_000)))
}

fn up_to(bucket: usize) -> String {
    match BOUNDS_MS.get(bucket) {
        Some(bound) => format!("up to {}", wait(u64::from(*bound))),
        None => "over 5 s".into(),
    }
}

/// "was not waited for: of 100 requests that reached it, 20 were given up by their callers before it had answered."
fn given_up(tally: Tally) -> Option<(u64, Sentence)> {
    if !is_left_often(&tally) {
        return None;
    }
    let sentence = Sentence::new()
        .say(format!("was not waited for: of {} that reached it, ", count(tally.reached, "request")))
        .number(grouped(tally.left))
        .say(" were given up by their callers before it had answered.");
    Some((tally.left, sentence))
}

/// "40 of your 60 requests that reached `billing` were given up by you before it had answered."
fn own_impatience(evidence: &Evidence, route: &RouteEvidence) -> Option<Found> {
    let tally = route.tally.now;
    if !is_left_often(&tally) {
        return None;
    }
    let sentence = Sentence::new()
        .number(grouped(tally.left))
        .say(format!(" of {} {} that reached ", evidence.your(), count(tally.reached, "request")))
        .name(&route.name)
        .say(format!(" were given up by {} before it had answered.", evidence.you()));
    let href = link::requests(evidence, &[("outcome", "client_gone"), ("route", route.name.as_str())]);
    Some(Found::new(Rule::Slow, Tone::Notice, tally.left, sentence, href))
}

fn is_left_often(tally: &Tally) -> bool {
    tally.left >= LEAST_LEFT && tally.left * 100 >= tally.reached * BEARABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::examples::{hour, outage, route, texts, upstream};

    /// So many answers of each of two times.
    fn answers(n: u64, ms: u64) -> Tally {
        let mut latency = Histogram::default();
        (0..n).for_each(|_| latency.observe(ms * 1_000));
        Tally { arrived: n, reached: n, upstream_us: n * ms * 1_000, latency, ..Tally::default() }
    }

    fn of(now: Tally, before: Tally) -> Vec<String> {
        let evidence = Evidence {
            all: Compared { now, before },
            routes: vec![route("billing", now, before)],
            upstreams: vec![upstream("billing", None)],
            ..hour()
        };
        texts(&evidence)
    }

    #[test]
    fn an_upstream_that_takes_longer_than_before_is_slow() {
        assert_eq!(
            of(answers(200, 900), answers(200, 4)),
            ["`billing` has slowed down: 95 % of its answers took up to 1 s, in the hour before up to 5 ms."]
        );
        assert_eq!(
            of(answers(200, 4_000), answers(200, 900)).first().map(String::as_str),
            None,
            "the next bucket may be a millisecond away"
        );
        assert!(of(answers(200, 9_000), answers(200, 90))[0].contains("took over 5 s"));
    }

    #[test]
    fn of_forty_nine_answers_nothing_is_said_and_of_fifty_something() {
        assert!(of(answers(49, 900), answers(50, 4)).is_empty());
        assert!(of(answers(50, 900), answers(49, 4)).is_empty());
        assert_eq!(of(answers(50, 900), answers(50, 4)).len(), 1);
    }

    #[test]
    fn what_takes_up_to_a_tenth_of_a_second_is_never_slow() {
        assert!(of(answers(200, 100), answers(200, 4)).is_empty());
        assert_eq!(of(answers(200, 101), answers(200, 4)).len(), 1);
    }

    #[test]
    fn a_twentieth_of_slow_answers_does_not_make_it_slow() {
        let mut mixed = answers(950, 4);
        mixed.merge(&answers(50, 900));
        assert!(of(mixed, answers(1_000, 4)).is_empty());
        mixed.merge(&answers(10, 900));
        assert_eq!(of(mixed, answers(1_000, 4)).len(), 1);
    }

    #[test]
    fn what_takes_long_elsewhere_is_not_the_upstreams_doing() {
        let of = |us: u64| of(Tally { upstream_us: 200 * us, ..answers(200, 900) }, answers(200, 4));
        assert!(of(7_999).is_empty());
        assert_eq!(of(8_000).len(), 1);
    }

    #[test]
    fn callers_that_leave_before_the_answer_are_counted_from_twenty_and_a_fifth_on() {
        let left = |left, reached| of(Tally { left, ..answers(reached, 4) }, answers(reached, 4));
        assert!(left(19, 19).is_empty());
        assert_eq!(
            left(20, 100),
            [
                "`billing` was not waited for: of 100 requests that reached it, 20 were given up by their callers before it had answered."
            ]
        );
        assert!(left(20, 101).is_empty());
    }

    #[test]
    fn a_partner_is_told_that_it_did_not_wait_itself() {
        let mine = |left, outage| {
            let now = Tally { left, ..answers(60, 4) };
            texts(&Evidence {
                who: Who::Partner(1),
                routes: vec![route("refunds", answers(60, 4), Tally::default()), route("billing", now, now)],
                upstreams: vec![upstream("refunds", None), upstream("billing", outage)],
                ..hour()
            })
        };
        assert_eq!(
            mine(40, None),
            ["40 of your 60 requests that reached `billing` were given up by you before it had answered."]
        );
        assert!(mine(19, None).is_empty());
        assert_eq!(mine(40, Some(outage(12, 1))).len(), 1, "the open breaker says why");
    }
}

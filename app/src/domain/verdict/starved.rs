//! Starved: an upstream is called, but nothing, or not all of it, passes the stages before. What another rule explains by name
//! is not said a second time.

use std::cmp::Reverse;

use super::evidence::{Evidence, Tally, UpstreamEvidence, Who};
use super::quiet::{LEAST_ARRIVED, LEAST_HELD};
use super::sentence::Sentence;
use super::words::{count, grouped, were};
use super::{Found, Rule, Tone, cache, door, keys, link, loud};

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    let upstreams = evidence.upstreams.iter();
    let crowded = upstreams.clone().filter_map(|upstream| crowded(evidence, upstream));
    match evidence.who {
        Who::Ops => {
            crowded.chain(upstreams.filter_map(|upstream| nothing_passes(evidence, upstream))).collect()
        }
        Who::Partner(_) => crowded.collect(),
    }
}

/// "`billing` had as many requests at once as it may have: 190 of 200 for it were held back."
fn crowded(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let now = evidence.asked_of(&upstream.name).now;
    let held = now.saturated;
    if held < LEAST_HELD {
        return None;
    }
    // A partner knows routes.
    let crowded = || evidence.routes_to(&upstream.name).filter(|route| route.tally.now.saturated > 0);
    let (names, arrived, your) = match evidence.who {
        Who::Ops => (vec![upstream.name.as_str()], now.arrived, String::new()),
        Who::Partner(_) => {
            let arrived = crowded().map(|route| route.tally.now.arrived).sum();
            (crowded().map(|route| route.name.as_str()).collect(), arrived, format!(" {}", evidence.your()))
        }
    };
    let (they, them) = if names.len() > 1 { ("they", "them") } else { ("it", "it") };
    let sentence = Sentence::new()
        .names(&names, 3)
        .say(format!(" had as many requests at once as {they} may have: "))
        .number(grouped(held))
        .say(format!(" of{your} {} for {them} {} held back.", grouped(arrived), were(held)));
    let filters = [("stage", "breaker"), ("outcome", "breaker_saturated")]
        .into_iter()
        .chain(link::only_route(evidence, upstream));
    let href = link::requests(evidence, &filters.collect::<Vec<_>>());
    Some(found(Tone::Notice, held, sentence, href))
}

/// Callers there were, but all were answered or refused before the upstream.
fn nothing_passes(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let now = evidence.asked_of(&upstream.name).now;
    if now.arrived < LEAST_ARRIVED || now.reached + now.held + now.unsent > 0 {
        return None;
    }
    let mut reasons = reasons(evidence, upstream, &now);
    reasons.sort_by_key(|(n, ..)| Reverse(*n));
    let sentence = Sentence::new().name(&upstream.name).say(" got nothing because ");
    let sentence = match &reasons[..] {
        [(.., true)] => return None,
        [(n, why, _)] => sentence.say("all ").number(count(*n, "request")).say(format!(" for it {why}.")),
        _ => {
            let reasons: Vec<String> =
                reasons.iter().map(|(n, why, _)| format!("{} {why}", grouped(*n))).collect();
            sentence
                .say("nothing came through to it: of ")
                .number(count(now.arrived, "request"))
                .say(format!(" {}.", reasons.join(", ")))
        }
    };
    // What a cache is for is nothing to mend.
    let tone = if now.cached * 2 > now.arrived { Tone::Good } else { Tone::Notice };
    let href = match link::only_route(evidence, upstream) {
        Some(route) => link::requests(evidence, &[route]),
        None => link::to(evidence, "/ops/upstreams", &[("upstream", &upstream.name)]),
    };
    Some(found(tone, now.arrived, sentence, href))
}

/// How many, why, and whether another rule says so.
fn reasons(evidence: &Evidence, upstream: &UpstreamEvidence, now: &Tally) -> Vec<(u64, &'static str, bool)> {
    let strangers = now.no_key + now.ended_key;
    let others = now.unidentified.saturating_sub(strangers + now.barred + now.suspended);
    let is_off = !evidence.routes.iter().any(|route| route.upstream == upstream.name && route.is_open);
    let (off, unacceptable) = if is_off { (others, 0) } else { (0, others) };
    let mut reasons = vec![
        (now.cached, "were served from cache", cache::speaks_of(evidence, &upstream.name)),
        (now.spent + now.early, "went beyond a quota", loud::names_most(evidence)),
        (
            strangers,
            "had no valid key",
            keys::names_most(evidence, now) || door::speaks_of_keys(evidence, now),
        ),
        (now.barred, "had a key that may not go there", false),
        (now.suspended, "came from suspended partners", false),
        (off, "met a route that is switched off", false),
        (unacceptable, "were not acceptable", false),
        (now.unmetered + now.uncached, "ended before for other reasons", false),
    ];
    reasons.retain(|(n, ..)| *n > 0);
    reasons
}

fn found(tone: Tone, weight: u64, sentence: Sentence, href: String) -> Found {
    Found::new(Rule::Quiet, tone, weight, sentence, href)
}

#[cfg(test)]
mod tests;

//! Unavailable: an open breaker as a partner may know it, by its own requests that were held back and the routes that it calls;
//! beside it, what of its requests failed.

use super::about::Actor;
use super::evidence::{Evidence, OpenedBy, Outage, UpstreamEvidence};
use super::quiet::{LEAST_HELD, long_ago};
use super::sentence::Sentence;
use super::upstream::{self, Failing};
use super::words::{count, grouped, were};
use super::{Found, Rule, Tone, link};

const NAMES: usize = 3;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    evidence.upstreams.iter().filter_map(|upstream| judge_one(evidence, upstream)).collect()
}

/// Whether there is more to say than that it failed.
pub(super) fn speaks_of(evidence: &Evidence, upstream: &UpstreamEvidence) -> bool {
    upstream.outage.as_ref().is_some_and(|outage| {
        let is_felt = outage.until.is_none() || upstream::failing(evidence, upstream).is_some();
        outage.held >= if is_felt { 1 } else { LEAST_HELD }
    })
}

/// "`billing` has been unavailable since 14:02:11: 12 of your requests were held back to let it recover. It is not your doing."
fn judge_one(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let outage = upstream.outage.as_ref().filter(|_| speaks_of(evidence, upstream))?;
    let held = evidence.routes_to(&upstream.name).filter(|route| route.tally.now.held > 0);
    let held: Vec<&str> = held.map(|route| route.name.as_str()).collect();
    let failing = upstream::failing(evidence, upstream);
    let silent = long_ago(evidence, evidence.asked_of(&upstream.name).now.last_arrived);
    let goes_on = failing.as_ref().is_some_and(|failing| !failing.is_over) && silent.is_none();
    let unavailable = Sentence::new().say(format!("{}: ", when(evidence, upstream, outage, held.len() > 1)));
    let unavailable = unavailable.then(held_back(evidence, outage));
    let names = Sentence::new().names(&held, NAMES).say(" ");
    let sentence = match &failing {
        None => names.then(unavailable),
        // What began first comes first.
        Some(failing) if failing.from < outage.first && outage.opened_by != OpenedBy::Hand => {
            let begun = Sentence::new()
                .names(&failing.routes, NAMES)
                .say(" ")
                .then(failing.told_to_partner(evidence));
            match failing.routes == held {
                true => begun.say(", and ").then(unavailable),
                false => begun.say("; ").then(names).then(unavailable),
            }
        }
        Some(failing) => {
            let they = they(failing, &held).say(" ").then(failing.told_to_partner(evidence));
            names.then(unavailable).say(". ").then(they)
        }
    };
    let is = if outage.until.is_none() || goes_on { "is" } else { "was" };
    let sentence = sentence.say(format!(". It {is} not {} doing.", evidence.your()));
    // Nobody has found out since.
    let sentence = match (outage.until, &silent) {
        (None, Some(_)) => sentence.say(" The next request may find that it is back."),
        _ => sentence,
    };
    let filters = [("stage", "breaker")].into_iter().chain(link::only_route(evidence, upstream));
    let href = link::requests(evidence, &filters.collect::<Vec<_>>());
    let tone = if is_felt(evidence, upstream, outage) || goes_on { Tone::Alarm } else { Tone::Notice };
    let weight = outage.held + failing.map_or(0, |failing| failing.answers.faults());
    Some(Found::new(Rule::Quiet, tone, weight, sentence, href).acted_by(actor(outage)))
}

/// Whether it holds requests of this partner back now.
fn is_felt(evidence: &Evidence, upstream: &UpstreamEvidence, outage: &Outage) -> bool {
    let last = evidence.asked_of(&upstream.name).now.last_at_breaker;
    outage.until.is_none() && long_ago(evidence, last).is_none()
}

/// An operator's doing, if nothing else opened it.
fn actor(outage: &Outage) -> Option<Actor> {
    match (outage.opened_by, outage.until) {
        (OpenedBy::Failures | OpenedBy::Both { .. }, _) => None,
        (OpenedBy::Hand, None) => Some(Actor::You),
        (OpenedBy::Hand, Some(_)) => Some(Actor::Nobody),
    }
}

/// "has been unavailable since 14:02:11", how often, and whether it is called still, if that is worth a word.
fn when(evidence: &Evidence, upstream: &UpstreamEvidence, outage: &Outage, are_several: bool) -> String {
    let first = evidence.second(outage.first);
    let (has, was, it) = if are_several { ("have", "were", "them") } else { ("has", "was", "it") };
    let times = if outage.times > 1 { format!(" {}", count(outage.times, "time")) } else { String::new() };
    if let Some(until) = outage.until {
        return format!("{was} unavailable{times} between {first} and {}", evidence.second(until));
    }
    let since = evidence.second(outage.since);
    let since = match outage.times {
        0 | 1 => format!("{has} been unavailable since {since}"),
        _ => format!("{has} been unavailable{times} since {first}, now since {since}"),
    };
    match long_ago(evidence, evidence.asked_of(&upstream.name).now.last_arrived) {
        Some(called) => format!("{since}, and {} not called {it} since {called}", evidence.you_have()),
        None => since,
    }
}

/// "12 of your requests were held back to let it recover"
fn held_back(evidence: &Evidence, outage: &Outage) -> Sentence {
    let why = match outage.opened_by {
        OpenedBy::Failures => " to let it recover",
        OpenedBy::Hand => " by the operator",
        OpenedBy::Both { .. } => ", by the operator or to let it recover",
    };
    let held_back = format!(" of {} requests {} held back{why}", evidence.your(), were(outage.held));
    Sentence::new().number(grouped(outage.held)).say(held_back)
}

/// Who failed, once those that were unavailable are named.
fn they(failing: &Failing, held: &[&str]) -> Sentence {
    match (failing.routes == held, held) {
        (true, [_]) => Sentence::new().say("It"),
        (true, _) => Sentence::new().say("They"),
        (false, _) => Sentence::new().names(&failing.routes, NAMES),
    }
}

#[cfg(test)]
mod tests;

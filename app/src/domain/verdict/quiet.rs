//! Quiet: an upstream gets nothing, because its breaker is open, or because nobody calls. It can stay open
//! for want of a caller: then both are said. Retries of refused callers never make an upstream quiet, and are never blamed for it.

use time::OffsetDateTime;

use super::evidence::{Evidence, Outage, Tally, UpstreamEvidence, Who};
use super::sentence::Sentence;
use super::words::{count, grouped, were};
use super::{Found, Rule, Tone, Verdict, link, upstream};

/// An outage that is over and held back fewer is not worth a word.
pub(super) const LEAST_HELD: u64 = 10;
/// Where less arrives altogether, that nothing goes to one upstream says nothing.
pub(super) const LEAST_ARRIVED: u64 = 20;
const NAMES: usize = 3;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    let mut found: Vec<Found> = match evidence.who {
        Who::Ops => evidence.upstreams.iter().filter_map(|upstream| opened(evidence, upstream)).collect(),
        Who::Partner(_) => return evidence.upstreams.iter().filter_map(|u| shut_for(evidence, u)).collect(),
    };
    found.extend(uncalled(evidence));
    found
}

/// Whether the breaker is open and somebody felt it.
pub fn is_shut(upstream: &UpstreamEvidence) -> bool {
    upstream.outage.as_ref().is_some_and(|outage| outage.until.is_none() && outage.held > 0)
}

fn opened(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let outage = upstream.outage.as_ref()?;
    let sentence = Sentence::new().name(&upstream.name);
    let (tone, sentence) = match outage.until {
        None => {
            let (tone, rest) = shut_now(evidence, upstream, outage)?;
            (tone, sentence.then(rest))
        }
        // Was its breaker open, or did it fail? Where there is more to say about the latter, that says it.
        Some(until) if outage.held >= LEAST_HELD && upstream::judge_one(evidence, upstream).is_none() => {
            let (since, until) = (evidence.second(outage.first), evidence.second(until));
            let sentence = match outage.times {
                0 | 1 => {
                    sentence.say(format!(" got nothing from {since} to {until} because its breaker was open"))
                }
                times => sentence
                    .say(" was shut off ")
                    .number(count(times, "time"))
                    .say(format!(" between {since} and {until} by its breaker")),
            };
            let sentence = sentence.say(format!(" ({}); ", outage.reason));
            (Tone::Notice, sentence.then(held(evidence, outage)).say("."))
        }
        _ => return None,
    };
    Some(about(evidence, upstream, tone, outage.held, sentence))
}

/// While it lasts: does the breaker keep callers away, or are there none?
fn shut_now(evidence: &Evidence, upstream: &UpstreamEvidence, outage: &Outage) -> Option<(Tone, Sentence)> {
    let now = evidence.asked_of(&upstream.name).now;
    if outage.held == 0 && now.arrived == 0 {
        return None;
    }
    let (since, reason) = (evidence.second(outage.since), &outage.reason);
    let shut_off = Sentence::new().say(format!(" has been shut off since {since} by its breaker ({reason})"));
    let held = how_often(evidence, outage).then(held(evidence, outage));
    Some(match (long_ago(evidence, now.last_arrived), long_ago(evidence, now.last_at_breaker)) {
        (Some(called), _) => {
            let uncalled = shut_off.say(format!(", and nobody has called it since {called}"));
            let rest = match outage.held {
                0 => uncalled,
                _ => uncalled.say("; ").then(held).say(" until then"),
            };
            (Tone::Notice, rest.say("."))
        }
        (None, _) if outage.held == 0 => (Tone::Notice, shut_off.say("; nobody was held back yet.")),
        (None, Some(came)) => {
            (Tone::Notice, shut_off.say("; ").then(held).say(format!(", none since {came}.")))
        }
        (None, None) => {
            let nothing = if outage.was_probed { "nothing but probes" } else { "nothing" };
            let got = format!(" got {nothing} since {since} because its breaker is open ({reason}); ");
            (Tone::Alarm, Sentence::new().say(got).then(held).say("."))
        }
    })
}

/// When something was last seen, if that is a while ago.
pub(super) fn long_ago(evidence: &Evidence, last: Option<OffsetDateTime>) -> Option<String> {
    last.filter(|last| evidence.is_past(*last)).map(|last| evidence.minute(last))
}

/// "since 14:02:11 it opened 5 times, and ", if it did more than once.
fn how_often(evidence: &Evidence, outage: &Outage) -> Sentence {
    match outage.times {
        0 | 1 => Sentence::new(),
        times => Sentence::new()
            .say(format!("since {} it opened ", evidence.second(outage.first)))
            .number(count(times, "time"))
            .say(", and "),
    }
}

/// "312 requests of 4 partners were held back"
fn held(evidence: &Evidence, outage: &Outage) -> Sentence {
    let whose = match outage.partners {
        0 => String::new(),
        partners => format!(" of {}", count(partners, "partner")),
    };
    // Those of earlier windows are not counted here.
    let here = if outage.first < evidence.window.from { " in this window" } else { "" };
    let held = count(outage.held, "request");
    Sentence::new().number(held).say(format!("{whose} {} held back{here}", were(outage.held)))
}

/// As a partner may know it: its own requests, by the routes that it calls.
fn shut_for(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let outage = upstream.outage.as_ref()?;
    let routes = evidence.routes.iter().filter(|route| route.upstream == upstream.name);
    let held: Vec<&str> = routes.filter(|r| r.tally.now.held > 0).map(|r| r.name.as_str()).collect();
    let are_several = held.len() > 1;
    let (tone, when) = unavailable(evidence, upstream, outage, are_several)?;
    let (they, is) =
        (if are_several { "They" } else { "It" }, if outage.until.is_some() { "was" } else { "is" });
    let your = evidence.your();
    let why = match (outage.is_by_hand, outage.times) {
        (false, _) => " to let it recover",
        (true, 0 | 1) => " by the operator",
        (true, _) => ", by the operator or to let it recover",
    };
    let held_back = Sentence::new()
        .number(grouped(outage.held))
        .say(format!(" of {your} requests {} held back{why}", were(outage.held)));
    let sentence = Sentence::new().names(&held, NAMES).say(" ");
    let sentence = match upstream::failing(evidence, upstream) {
        // What began first comes first.
        Some((from, failing)) if from < outage.first && !outage.is_by_hand => {
            let since = format!("; since {} ", evidence.second(outage.first));
            sentence.then(failing).say(since).then(held_back)
        }
        Some((_, failing)) => {
            sentence.say(format!("{when}: ")).then(held_back).say(format!(". {they} ")).then(failing)
        }
        None => sentence.say(format!("{when}: ")).then(held_back),
    };
    let sentence = sentence.say(format!(". It {is} not {your} doing."));
    Some(about(evidence, upstream, tone, outage.held, sentence))
}

/// "has been unavailable since 14:02:11", how often, and whether it is called still, if that is worth a word.
fn unavailable(
    evidence: &Evidence,
    upstream: &UpstreamEvidence,
    outage: &Outage,
    are_several: bool,
) -> Option<(Tone, String)> {
    let first = evidence.second(outage.first);
    let (has, was, it) = if are_several { ("have", "were", "them") } else { ("has", "was", "it") };
    match outage.until {
        None if outage.held > 0 => {
            let now = evidence.asked_of(&upstream.name).now;
            let since = evidence.second(outage.since);
            let since = match outage.times {
                0 | 1 => format!("{has} been unavailable since {since}"),
                times => {
                    let times = count(times, "time");
                    format!("{has} been unavailable {times} since {first}, now since {since}")
                }
            };
            let when = match long_ago(evidence, now.last_arrived) {
                Some(called) => {
                    format!("{since}, and {} not called {it} since {called}", evidence.you_have())
                }
                None => since,
            };
            let is_felt = long_ago(evidence, now.last_at_breaker).is_none();
            Some((if is_felt { Tone::Alarm } else { Tone::Notice }, when))
        }
        Some(until) if outage.held >= LEAST_HELD && upstream::judge_one(evidence, upstream).is_none() => {
            let until = evidence.second(until);
            let times = match outage.times {
                0 | 1 => String::new(),
                times => format!("{} ", count(times, "time")),
            };
            Some((Tone::Notice, format!("{was} unavailable {times}between {first} and {until}")))
        }
        _ => None,
    }
}

/// "`billing` is quiet because nobody calls it."
fn uncalled(evidence: &Evidence) -> Option<Found> {
    if evidence.all.now.arrived < LEAST_ARRIVED {
        return None;
    }
    let is_uncalled = |upstream: &&UpstreamEvidence| {
        let mut routes = evidence.routes.iter().filter(|route| route.upstream == upstream.name).peekable();
        let tally: Tally = evidence.asked_of(&upstream.name).now;
        routes.peek().is_some() && routes.any(|route| route.is_open) && tally.arrived == 0
    };
    let names: Vec<&str> =
        evidence.upstreams.iter().filter(is_uncalled).map(|upstream| upstream.name.as_str()).collect();
    let (are, them) = match names.len() {
        0 => return None,
        1 => (" is quiet because nobody calls ", "it."),
        _ => (" are quiet because nobody calls ", "them."),
    };
    let sentence = Sentence::new().names(&names, NAMES).say(are).say(them);
    let href = link::to(evidence, "/ops/upstreams", &[]);
    Some(Found { weight: 0, verdict: Verdict { rule: Rule::Quiet, tone: Tone::Good, sentence, href } })
}

fn about(
    evidence: &Evidence,
    upstream: &UpstreamEvidence,
    tone: Tone,
    weight: u64,
    sentence: Sentence,
) -> Found {
    let href = match evidence.who {
        Who::Ops => link::to(evidence, "/ops/upstreams", &[("upstream", &upstream.name)]),
        Who::Partner(_) => {
            let filters = [("stage", "breaker")].into_iter().chain(link::only_route(evidence, upstream));
            link::requests(evidence, &filters.collect::<Vec<_>>())
        }
    };
    Found { weight, verdict: Verdict { rule: Rule::Quiet, tone, sentence, href } }
}

#[cfg(test)]
mod tests;

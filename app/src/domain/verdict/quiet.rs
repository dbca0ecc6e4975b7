//! Quiet: an upstream gets nothing, because its breaker is open, or because nobody calls. It can stay open
//! for want of a caller: then both are said. Retries of refused callers never make an upstream quiet, and are never blamed for it.

use time::OffsetDateTime;

use super::evidence::{Evidence, OpenedBy, Outage, Tally, UpstreamEvidence};
use super::sentence::Sentence;
use super::words::{count, were};
use super::{Found, Rule, Tone, link, upstream};

/// An outage that is over and held back fewer is not worth a word.
pub(super) const LEAST_HELD: u64 = 10;
/// Where less arrives altogether, that nothing goes to one upstream says nothing.
pub(super) const LEAST_ARRIVED: u64 = 20;
const NAMES: usize = 3;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    let opened = evidence.upstreams.iter().filter_map(|upstream| opened(evidence, upstream));
    opened.chain(uncalled(evidence)).collect()
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
        // Was its breaker open, or did it fail? Where there is more to say about the latter, that says both.
        Some(until) if outage.held >= LEAST_HELD && upstream::failing(evidence, upstream).is_none() => {
            // Not "got nothing": probes came through, the last of which ended it.
            let sentence = sentence.say(" was shut off ");
            let sentence = match outage.times {
                0 | 1 => sentence,
                times => sentence.number(count(times, "time")).say(" "),
            };
            let when = when(evidence, outage, until);
            let sentence = sentence.say(format!("{when} by its breaker ({}); ", reason(outage)));
            (Tone::Notice, sentence.then(held(evidence, outage)).say("."))
        }
        _ => return None,
    };
    // Others are held back on its account.
    let sentence = match upstream::failing(evidence, upstream).filter(|failing| failing.has_others) {
        Some(failing) => sentence.say(" What failed came by ").names(&failing.routes, NAMES).say("."),
        None => sentence,
    };
    let href = link::to(evidence, "/ops/upstreams", &[("upstream", &upstream.name)]);
    Some(Found::new(Rule::Quiet, tone, outage.held, sentence, href))
}

/// "its breaker was open 3 times between 14:02:11 and 14:09:00, and 312 requests of 4 partners were held back", once it is over.
pub(super) fn was_open(evidence: &Evidence, outage: &Outage) -> Sentence {
    let until = outage.until.unwrap_or(evidence.until);
    let often = if outage.times > 1 { format!("{} ", count(outage.times, "time")) } else { String::new() };
    let was_open = format!("its breaker was open {often}{}, and ", when(evidence, outage, until));
    Sentence::new().say(was_open).then(held(evidence, outage))
}

/// As the breaker noted it, and that another time it was otherwise.
fn reason(outage: &Outage) -> String {
    let another = match outage.opened_by {
        OpenedBy::Failures | OpenedBy::Hand => "",
        OpenedBy::Both { noted_by_hand: true } => "; another time by failures",
        OpenedBy::Both { noted_by_hand: false } => "; another time by hand",
    };
    format!("{}{another}", outage.reason)
}

/// "from 14:02:11 to 14:03:40"; of several times "between" these.
fn when(evidence: &Evidence, outage: &Outage, until: OffsetDateTime) -> String {
    let (first, until) = (evidence.second(outage.first), evidence.second(until));
    match outage.times {
        0 | 1 => format!("from {first} to {until}"),
        _ => format!("between {first} and {until}"),
    }
}

/// While it lasts: does the breaker keep callers away, or are there none?
fn shut_now(evidence: &Evidence, upstream: &UpstreamEvidence, outage: &Outage) -> Option<(Tone, Sentence)> {
    let now = evidence.asked_of(&upstream.name).now;
    if outage.held == 0 && now.arrived == 0 {
        return None;
    }
    let (since, reason) = (evidence.second(outage.since), reason(outage));
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

/// "`billing` is quiet because nobody calls it."
fn uncalled(evidence: &Evidence) -> Option<Found> {
    if evidence.all.now.arrived < LEAST_ARRIVED {
        return None;
    }
    let is_uncalled = |upstream: &&UpstreamEvidence| {
        let mut routes = evidence.routes_to(&upstream.name).peekable();
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
    Some(Found::new(Rule::Quiet, Tone::Good, 0, sentence, href))
}

#[cfg(test)]
mod tests;

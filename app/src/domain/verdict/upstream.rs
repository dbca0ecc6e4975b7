//! The upstream at fault: it was asked, and answered with 5xx or not at all. From when to when is where the failures lie
//! densest: the stretch in which they exceed what is bearable by most.

use std::collections::BTreeMap;

use time::{Duration, OffsetDateTime};

use super::evidence::{Answers, Evidence, Outage, RouteEvidence, Slot, UpstreamEvidence, Who};
use super::sentence::Sentence;
use super::words::{count, grouped, share, were};
use super::{Found, Rule, Tone, link, quiet, unavailable};

/// Per cent of requests that may fail before there is anything to say.
const BEARABLE: u64 = 10;
/// Fewer failures are bad luck.
pub const LEAST_FAILED: u64 = 10;
const NAMES: usize = 3;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    // What an open breaker has to say says it all.
    let is_told = |upstream: &UpstreamEvidence| match evidence.who {
        Who::Ops => quiet::is_shut(upstream),
        Who::Partner(_) => unavailable::speaks_of(evidence, upstream),
    };
    let asked = evidence.upstreams.iter().filter(|upstream| !is_told(upstream));
    asked.filter_map(|upstream| judge_one(evidence, upstream)).collect()
}

fn judge_one(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let failing = failing(evidence, upstream)?;
    let silent = quiet::long_ago(evidence, evidence.asked_of(&upstream.name).now.last_arrived);
    let silent = silent.filter(|_| !failing.is_over);
    let tone = if failing.is_over || silent.is_some() { Tone::Notice } else { Tone::Alarm };
    let (sentence, href) = match evidence.who {
        Who::Ops => {
            let sentence =
                Sentence::new().name(&upstream.name).say(" ").then(failing.told_to_operators(evidence));
            let sentence =
                sentence.say("; ").then(stopped(evidence, &failing.answers, upstream.outage.as_ref()));
            let sentence = match silent {
                Some(called) => sentence.say(format!(", and nobody has called it since {called}.")),
                None => sentence.say("."),
            };
            (sentence, failing.requests(evidence, Some(("upstream", upstream.name.as_str()))))
        }
        Who::Partner(_) => {
            let it = if failing.routes.len() > 1 { "them" } else { "it" };
            let sentence = Sentence::new().names(&failing.routes, NAMES).say(" ");
            let sentence = sentence.then(failing.told_to_partner(evidence));
            let sentence = match silent {
                Some(called) => {
                    sentence.say(format!(", and {} not called {it} since {called}", evidence.you_have()))
                }
                None => sentence,
            };
            (
                sentence.say(format!("; it is not {} doing.", evidence.your())),
                failing.requests(evidence, None),
            )
        }
    };
    Some(Found::new(Rule::Upstream, tone, failing.answers.faults(), sentence, href))
}

/// How an upstream failed: by which routes, from when to when, and what it made of their requests meanwhile.
pub(super) struct Failing<'a> {
    pub routes: Vec<&'a str>,
    /// Whether it was asked by other routes too, and did not fail them.
    pub has_others: bool,
    pub from: OffsetDateTime,
    to: OffsetDateTime,
    pub is_over: bool,
    by_day: bool,
    pub answers: Answers,
}

/// Where failures are enough to speak of.
pub(super) fn failing<'a>(evidence: &'a Evidence, upstream: &UpstreamEvidence) -> Option<Failing<'a>> {
    let asked = evidence.routes_to(&upstream.name).filter(|route| !route.slots.is_empty());
    // Routes that failed by themselves; where none did often enough, all together.
    let mut at_fault: Vec<&RouteEvidence> =
        asked.clone().filter(|route| worst(&route.slots).is_some()).collect();
    if at_fault.is_empty() {
        at_fault = asked.clone().collect();
    }
    let stretch = worst(&merged(&at_fault))?;
    let within = asked.map(|route| (route.name.as_str(), stretch.answers_of(route)));
    let within: Vec<_> = within.filter(|(_, answers)| answers.tried() > 0).collect();
    // Others failed along with them. What had one failure in a hundred of another has bad luck.
    let is_unbearable = |answers: &Answers| answers.faults() * 100 >= answers.tried() * BEARABLE;
    let failed: Vec<_> = within.iter().filter(|(_, answers)| is_unbearable(answers)).collect();
    let most = failed.iter().map(|(_, answers)| answers.faults()).max()?;
    let failed = failed.iter().filter(|(_, answers)| answers.faults() * 100 > most);
    let routes: Vec<&str> = failed.clone().map(|(name, _)| *name).collect();
    let mut answers = Answers::default();
    failed.for_each(|(_, of_route)| answers.merge(of_route));
    let has_others = routes.len() < within.len();
    let last = evidence.routes.iter().filter(|route| routes.contains(&route.name.as_str()));
    let last = last.filter_map(|route| route.tally.now.last_arrived).max();
    let is_over = stretch.is_over || has_others && last.is_some_and(|last| evidence.is_past(last));
    Some(Failing {
        routes,
        has_others,
        from: stretch.from,
        to: stretch.to,
        is_over,
        by_day: stretch.by_day,
        answers,
    })
}

impl Failing<'_> {
    /// "answered 38 % of what it got with 5xx since 14:20"; of some routes only, "of what it got by the route `refunds`".
    fn told_to_operators(&self, evidence: &Evidence) -> Sentence {
        let by = match self.has_others {
            true if self.routes.len() > 1 => {
                Sentence::new().say(" by the routes ").names(&self.routes, NAMES)
            }
            true => Sentence::new().say(" by the route ").names(&self.routes, NAMES),
            false => Sentence::new(),
        };
        self.told("it", by, &evidence.stretch(self.from, self.ended(), self.by_day))
    }

    /// "answered 38 % of what it got from you with 5xx since 14:20", of the routes.
    pub fn told_to_partner(&self, evidence: &Evidence) -> Sentence {
        let it = if self.routes.len() > 1 { "they" } else { "it" };
        let from = Sentence::new().say(format!(" from {}", evidence.you()));
        self.told(it, from, &evidence.stretch(self.from, self.ended(), self.by_day))
    }

    fn ended(&self) -> Option<OffsetDateTime> {
        self.is_over.then_some(self.to)
    }

    fn told(&self, it: &str, whose: Sentence, when: &str) -> Sentence {
        let answers = &self.answers;
        let (faults, tried) = (answers.faults(), answers.tried());
        if answers.failed == faults {
            return Sentence::new()
                .say("answered ")
                .number(share(faults, tried))
                .say(format!(" of what {it} got"))
                .then(whose)
                .say(format!(" with 5xx {when}"));
        }
        let them = if it == "they" { "them" } else { it };
        let sent = Sentence::new().say(format!(" of what was sent to {them}")).then(whose);
        if answers.unreachable == faults {
            let sentence = Sentence::new().say("could not be reached for ").number(share(faults, tried));
            return sentence.then(sent).say(format!(" {when}"));
        }
        let kinds = [
            (answers.failed, "5xx"),
            (answers.unanswered, "without an answer"),
            (answers.unreachable, "without a connection"),
        ];
        let kinds = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{} {kind}", grouped(*n)));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        Sentence::new()
            .say("failed ")
            .number(share(faults, tried))
            .then(sent)
            .say(format!(" {when}: {kinds}"))
    }

    /// The requests that failed.
    fn requests(&self, evidence: &Evidence, of: Option<(&str, &str)>) -> String {
        let kind: &[_] = match self.answers.failed == self.answers.faults() {
            true => &[("answer", "5xx")],
            false => &[("stage", "proxy"), ("status", "5xx")],
        };
        let only = match &self.routes[..] {
            [route] => Some(("route", *route)),
            _ => None,
        };
        link::requests(evidence, &kind.iter().copied().chain(of).chain(only).collect::<Vec<_>>())
    }
}

/// "nothing was stopped before it", or how much was.
fn stopped(evidence: &Evidence, answers: &Answers, outage: Option<&Outage>) -> Sentence {
    match (outage, answers.stopped) {
        (Some(outage), _) if outage.held > 0 => quiet::was_open(evidence, outage),
        (_, 0) => Sentence::new().say("nothing was stopped before it"),
        (_, n) => Sentence::new().number(count(n, "request")).say(format!(" {} stopped before it", were(n))),
    }
}

/// Of several routes, time by time.
fn merged(routes: &[&RouteEvidence]) -> Vec<Slot> {
    let mut sum: BTreeMap<OffsetDateTime, Slot> = BTreeMap::new();
    for slot in routes.iter().flat_map(|route| &route.slots) {
        let empty = Slot { answers: Answers::default(), ..*slot };
        sum.entry(slot.at).or_insert(empty).answers.merge(&slot.answers);
    }
    sum.into_values().collect()
}

struct Stretch {
    from: OffsetDateTime,
    /// Where the failures end; while they go on, what comes after belongs to them.
    to: OffsetDateTime,
    is_over: bool,
    by_day: bool,
}

impl Stretch {
    fn answers_of(&self, route: &RouteEvidence) -> Answers {
        let mut sum = Answers::default();
        let is_within = |slot: &&Slot| slot.at >= self.from && (!self.is_over || slot.at < self.to);
        route.slots.iter().filter(is_within).for_each(|slot| sum.merge(&slot.answers));
        sum
    }
}

/// The stretch of slots that has most failures above what is bearable. None if nowhere are enough to speak of.
fn worst(slots: &[Slot]) -> Option<Stretch> {
    let excess = |slot: &Slot| slot.answers.faults() as i64 * 100 - (slot.answers.tried() * BEARABLE) as i64;
    let (mut best, mut sum, mut start) = (None, 0, 0);
    for (end, slot) in slots.iter().enumerate() {
        if sum <= 0 {
            (sum, start) = (0, end);
        }
        sum += excess(slot);
        if sum > best.map_or(0, |(sum, _, _)| sum) {
            best = Some((sum, start, end));
        }
    }
    let (_, start, end) = best?;
    let mut answers = Answers::default();
    slots[start..=end].iter().for_each(|slot| answers.merge(&slot.answers));
    // What has been asked of it since then is little as yet.
    let after: u64 = slots[end + 1..].iter().map(|slot| slot.answers.tried()).sum();
    let is_over = after >= LEAST_FAILED && slots.len() - end > 2;
    if !is_over {
        slots[end + 1..].iter().for_each(|slot| answers.merge(&slot.answers));
    }
    let faults = answers.faults();
    if faults < LEAST_FAILED || faults * 100 < answers.tried() * BEARABLE {
        return None;
    }
    let (first, to) = (&slots[start], slots[end].to);
    let by_day = first.to - first.at >= Duration::DAY;
    Some(Stretch { from: first.at, to, is_over, by_day })
}

#[cfg(test)]
mod tests;

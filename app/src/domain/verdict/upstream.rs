//! The upstream at fault: it was asked, and answered with 5xx or not at all. From when to when is where the failures lie
//! densest: the stretch in which they exceed what is bearable by most.

use time::{Duration, OffsetDateTime};

use super::evidence::{Answers, Evidence, RouteEvidence, Slot, UpstreamEvidence, Who};
use super::sentence::Sentence;
use super::words::{count, grouped, share, were};
use super::{Found, Rule, Tone, Verdict, link, quiet};

/// Per cent of requests that may fail before there is anything to say.
const BEARABLE: u64 = 10;
/// Fewer failures are bad luck.
pub const LEAST_FAILED: u64 = 10;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    // While the breaker is open, that says it all.
    let asked = evidence.upstreams.iter().filter(|upstream| !quiet::is_shut(upstream));
    asked.filter_map(|upstream| judge_one(evidence, upstream)).collect()
}

/// A stretch of failures.
struct Stretch {
    from: OffsetDateTime,
    to: OffsetDateTime,
    is_over: bool,
    by_day: bool,
    answers: Answers,
}

impl Stretch {
    /// "since 14:20", "from 14:20 to 14:35"
    fn when(&self, evidence: &Evidence) -> String {
        evidence.stretch(self.from, self.is_over.then_some(self.to), self.by_day)
    }
}

/// Since when a partner's requests fail, and "answered 38 % of what you sent with 5xx since 14:20", if that goes on.
pub(super) fn failing(
    evidence: &Evidence,
    upstream: &UpstreamEvidence,
) -> Option<(OffsetDateTime, Sentence)> {
    let stretch = worst(&upstream.slots).filter(|stretch| !stretch.is_over)?;
    Some((stretch.from, failed(&stretch.answers, Some(evidence.you()), &stretch.when(evidence))))
}

pub(super) fn judge_one(evidence: &Evidence, upstream: &UpstreamEvidence) -> Option<Found> {
    let stretch = worst(&upstream.slots)?;
    let (answers, when) = (stretch.answers, stretch.when(evidence));
    let faults = answers.faults();
    let silent = quiet::long_ago(evidence, evidence.asked_of(&upstream.name).now.last_arrived);
    let silent = silent.filter(|_| !stretch.is_over);
    let tone = if stretch.is_over || silent.is_some() { Tone::Notice } else { Tone::Alarm };
    let sentence = match evidence.who {
        Who::Ops => {
            let sentence = Sentence::new().name(&upstream.name).say(" ").then(failed(&answers, None, &when));
            let sentence = sentence.say("; ").then(stopped(&answers));
            match silent {
                Some(called) => sentence.say(format!(", and nobody has called it since {called}")),
                None => sentence,
            }
        }
        Who::Partner(_) => {
            let routes = routes_at_fault(evidence, upstream);
            let it = if routes.len() > 1 { "them" } else { "it" };
            let sentence = Sentence::new().names(&routes, 3).say(" ").then(failed(
                &answers,
                Some(evidence.you()),
                &when,
            ));
            let sentence = match silent {
                Some(called) => {
                    sentence.say(format!(", and {} not called {it} since {called}", evidence.you_have()))
                }
                None => sentence,
            };
            sentence.say(format!("; it is not {} doing", evidence.your()))
        }
    };
    let href = match evidence.who {
        Who::Ops => link::to(evidence, "/ops/upstreams", &[("upstream", &upstream.name)]),
        Who::Partner(_) if answers.failed == faults => link::requests(evidence, &[("answer", "5xx")]),
        Who::Partner(_) => link::requests(evidence, &[("stage", "proxy"), ("status", "5xx")]),
    };
    let verdict = Verdict { rule: Rule::Upstream, tone, sentence: sentence.say("."), href };
    Some(Found { weight: faults, verdict })
}

/// Routes to the upstream that failed, without those of which one in a hundred of all failures is.
fn routes_at_fault<'a>(evidence: &'a Evidence, upstream: &UpstreamEvidence) -> Vec<&'a str> {
    let faults = |route: &RouteEvidence| route.tally.now.faults();
    let of_it = || evidence.routes.iter().filter(|route| route.upstream == upstream.name);
    let all: u64 = of_it().map(faults).sum();
    of_it().filter(|route| faults(route) * 100 > all).map(|route| route.name.as_str()).collect()
}

/// "answered 38 % of what it got with 5xx since 14:20". Of one caller's requests, if it is named.
fn failed(answers: &Answers, caller: Option<&str>, when: &str) -> Sentence {
    let (faults, tried) = (answers.faults(), answers.tried());
    let sent = caller.map(|caller| format!("of what {caller} sent"));
    let of = sent.as_deref().unwrap_or("of what it got");
    if answers.failed == faults {
        return Sentence::new()
            .say("answered ")
            .number(share(faults, tried))
            .say(format!(" {of} with 5xx {when}"));
    }
    if answers.unreachable == faults {
        let sentence = Sentence::new().say("could not be reached for ").number(share(faults, tried));
        return sentence.say(format!(" {} {when}", sent.as_deref().unwrap_or("of what was for it")));
    }
    let kinds = [
        (answers.failed, "5xx"),
        (answers.unanswered, "without an answer"),
        (answers.unreachable, "without a connection"),
    ];
    let kinds = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{} {kind}", grouped(*n)));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    Sentence::new().say("failed ").number(share(faults, tried)).say(format!(" {of} {when}: {kinds}"))
}

/// "nothing was stopped before it", or how much was.
fn stopped(answers: &Answers) -> Sentence {
    match (answers.stopped, answers.held) {
        (0, _) => Sentence::new().say("nothing was stopped before it"),
        (all, 0) => {
            Sentence::new().number(count(all, "request")).say(format!(" {} stopped before it", were(all)))
        }
        (_, held) => Sentence::new()
            .number(count(held, "request"))
            .say(format!(" {} held back by its breaker", were(held))),
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
    Some(Stretch { from: first.at, to, is_over, by_day, answers })
}

#[cfg(test)]
mod tests;

//! Loud: arrivals rose, or somebody keeps knocking. A retry loop is named with the partner that runs it; everything else
//! that makes a rise, bursts of first attempts too, accuses nobody.

use std::cmp::Reverse;

use time::Duration;

use super::door::ENDED;
use super::evidence::{Compared, Evidence, Suspect, Tally};
use super::sentence::Sentence;
use super::words::{before, count, grouped, share, times};
use super::{Found, Rule, Tone, door, keys, link};

/// Fewer early retries accuse nobody.
pub const LEAST_EARLY: u64 = 20;
/// A window before with fewer arrivals compares to nothing.
const LEAST_BEFORE: u64 = 30;
/// A smaller rise is noise, however many times it is what was before.
const LEAST_RISE: u64 = 50;
/// A window before with fewer arrivals cannot fall by enough to speak of.
const LEAST_TO_FALL: u64 = 200;
/// Per cent of a rise below which a cause goes unnamed.
const NAMED: u64 = 10;
/// Loops that are named; more are counted.
const LOOPS: usize = 3;
/// Fewer requests beyond a quota, and per cent of arrivals below which they are not worth a word of their own.
const LEAST_BEYOND: u64 = 50;
const MUCH: u64 = 20;

/// One reason for a rise.
enum Cause<'a> {
    Loop(&'a Suspect),
    Passed,
    Held,
    Spent,
    Unidentified,
}

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    let loops = loops(evidence);
    if rose(evidence) {
        return rise(evidence, &loops);
    }
    let standing = loops.iter().take(LOOPS).filter_map(|partner| standing(evidence, partner));
    standing.chain(fall(evidence)).chain(beyond(evidence, &loops)).collect()
}

fn loops(evidence: &Evidence) -> Vec<&Suspect> {
    let mut loops: Vec<&Suspect> = evidence.suspects.iter().filter(|partner| is_loop(partner)).collect();
    loops.sort_by_key(|partner| (Reverse(partner.early.now), &partner.slug));
    loops
}

/// Whether nearly all that quotas refused is told of partners by name.
pub(super) fn names_most(evidence: &Evidence) -> bool {
    let all = evidence.all.now;
    let named: u64 = loops(evidence).iter().map(|partner| partner.early.now + partner.spent).sum();
    named * 10 >= (all.early + all.spent) * 9
}

/// Whether arrivals rose, also if the books begin in the midst of the window before and there had been as many until then.
pub fn rose(evidence: &Evidence) -> bool {
    let (arrived, length) = (evidence.all.of(|t| t.arrived), evidence.window.length());
    let known = evidence.begun.map_or(length, |begun| (evidence.window.from - begun).min(length));
    if known <= Duration::ZERO || !is_rise(arrived) {
        return false;
    }
    let as_many_all_along = arrived.before as f64 * (length / known);
    is_rise(Compared { before: as_many_all_along as u64, ..arrived })
}

/// By half, and by enough to speak of.
fn is_rise(arrived: Compared<u64>) -> bool {
    arrived.before >= LEAST_BEFORE
        && arrived.rise() >= LEAST_RISE
        && arrived.now.saturating_mul(2) >= arrived.before.saturating_mul(3)
}

/// Whether most of a partner's refusals are its own doing: the same requests again, without waiting. Not who was let
/// through only to be failed by an upstream: such a caller retries for a reason. What the log does not show is not held
/// against anybody.
fn is_loop(partner: &Suspect) -> bool {
    let (early, refusals) = (partner.early.now, partner.early.now + partner.spent);
    let was_failed = partner.faults > 0 && partner.faults * 2 >= partner.passed;
    let is_hasty = partner.habit.is_some_and(|habit| habit.is_hasty());
    early >= LEAST_EARLY && early * 2 >= refusals && !was_failed && is_hasty
}

/// Whether a loop has not been heard of for a while.
fn is_over(evidence: &Evidence, partner: &Suspect) -> bool {
    partner.until.is_some_and(|until| evidence.is_past(until))
}

fn tone_of(evidence: &Evidence, partner: &Suspect) -> Tone {
    if is_over(evidence, partner) { Tone::Notice } else { Tone::Alarm }
}

/// "Arrivals fell from 600 in the 15 minutes before to 3."
fn fall(evidence: &Evidence) -> Option<Found> {
    let arrived = evidence.all.of(|t| t.arrived);
    // A window that has minutes to come is not compared with a whole one.
    let is_whole = evidence.until + Duration::MINUTE >= evidence.window.to;
    if !is_whole || arrived.before < LEAST_TO_FALL || arrived.now * 10 > arrived.before {
        return None;
    }
    let sentence = Sentence::new()
        .say(format!(
            "Arrivals fell from {} in {} to ",
            grouped(arrived.before),
            before(evidence.window.length())
        ))
        .number(grouped(arrived.now))
        .say(".");
    let href = link::to(evidence, "/ops/routes", &[]);
    Some(Found::new(Rule::Loud, Tone::Notice, arrived.before - arrived.now, sentence, href))
}

fn rise(evidence: &Evidence, loops: &[&Suspect]) -> Vec<Found> {
    let all = evidence.all;
    let looping = |part: fn(&Suspect) -> u64| loops.iter().map(|partner| part(partner)).sum::<u64>();
    // What quotas refused, without the retries that are accounted for by name.
    let spent = Compared {
        now: all.now.spent + all.now.early - looping(|p| p.early.now).min(all.now.early),
        before: all.before.spent + all.before.early - looping(|p| p.early.before).min(all.before.early),
    };
    let mut causes: Vec<(u64, Cause)> = vec![
        (all.of(Tally::went_on).rise(), Cause::Passed),
        (all.of(|t| t.held).rise(), Cause::Held),
        (spent.rise(), Cause::Spent),
        (all.of(|t| t.unidentified).rise(), Cause::Unidentified),
    ];
    causes.extend(loops.iter().map(|partner| (partner.early.rise(), Cause::Loop(partner))));
    // Where one thing fell while others rose, shares are of what rose: they never exceed the whole.
    let whole = causes.iter().map(|(amount, _)| amount).sum::<u64>().max(all.of(|t| t.arrived).rise());
    causes.retain(|(amount, _)| amount * 100 >= whole * NAMED);
    causes.sort_by_key(|(amount, _)| Reverse(*amount));
    let Some((most, leading)) = causes.first() else { return Vec::new() };

    let arrived = all.of(|t| t.arrived);
    let is_growth = causes.len() == 1 && matches!(leading, Cause::Passed) && most * 100 >= whole * 80;
    let sentence =
        if is_growth { growth(evidence, arrived) } else { because(evidence, arrived, &causes, whole) };
    let tone_of = |cause: &Cause| match cause {
        Cause::Loop(partner) => tone_of(evidence, partner),
        _ => Tone::Notice,
    };
    let tone = causes.iter().map(|(_, cause)| tone_of(cause)).min().unwrap_or(Tone::Notice);
    let href = evidence_of(evidence, leading);
    let mut found = vec![Found::new(Rule::Loud, tone, *most, sentence, href)];
    // A loop that was as loud before explains no rise, but goes on.
    let named = |slug: &str| causes.iter().any(|(_, c)| matches!(c, Cause::Loop(p) if p.slug == slug));
    let others = loops.iter().filter(|partner| !named(&partner.slug)).take(LOOPS);
    found.extend(others.filter_map(|partner| standing(evidence, partner)));
    if !causes.iter().any(|(_, cause)| matches!(cause, Cause::Spent)) {
        found.extend(beyond(evidence, loops));
    }
    found
}

/// "Arrivals doubled across 34 partners; 96 % passed quota; `orders` carries it."
fn growth(evidence: &Evidence, arrived: Compared<u64>) -> Sentence {
    let mut sentence = opening(arrived, evidence);
    match across(evidence) {
        Some(Across::One(slug)) => sentence = sentence.say(", most of the rise from ").name(slug),
        Some(Across::Many(partners)) => {
            let comma = if is_word(arrived).is_some() { " " } else { ", " };
            sentence = sentence.say(format!("{comma}across ")).number(count(partners, "partner"));
        }
        None => {}
    }
    let passed = evidence.all.now.passed_quota();
    sentence = sentence.say("; ").number(share(passed, arrived.now)).say(" passed quota");
    if let Some(route) = carrier(evidence) {
        sentence = sentence.say("; ").name(route).say(" carries it");
    }
    sentence.say(".")
}

/// "Arrivals are 6.2 times the hour before. 91 % of the rise is …"
fn because(evidence: &Evidence, arrived: Compared<u64>, causes: &[(u64, Cause)], whole: u64) -> Sentence {
    let mut sentence = opening(arrived, evidence).say(". ");
    let mut loops = 0;
    for (index, (amount, cause)) in causes.iter().enumerate() {
        if matches!(cause, Cause::Loop(_)) {
            loops += 1;
            if loops > LOOPS {
                continue;
            }
        }
        sentence = if index == 0 {
            sentence.number(share(*amount, whole)).say(" of the rise ")
        } else {
            sentence.say("; ").number(share(*amount, whole)).say(" ")
        };
        sentence = sentence.then(words(evidence, cause));
    }
    if loops > LOOPS {
        let more = (loops - LOOPS) as u64;
        let does = if more == 1 { "does" } else { "do" };
        sentence = sentence.say(format!("; {} more {does} the same", count(more, "partner")));
    }
    sentence.say(". Reached the upstream: ").say(reached(evidence.all.of(|t| t.reached))).say(".")
}

fn opening(arrived: Compared<u64>, evidence: &Evidence) -> Sentence {
    match is_word(arrived) {
        Some(word) => Sentence::new().say("Arrivals ").number(word),
        None => Sentence::new()
            .say("Arrivals are ")
            .number(times(arrived))
            .say(format!(" {}", before(evidence.window.length()))),
    }
}

fn is_word(arrived: Compared<u64>) -> Option<&'static str> {
    match arrived.now as f64 / arrived.before.max(1) as f64 {
        1.95..2.05 => Some("doubled"),
        2.95..3.05 => Some("tripled"),
        _ => None,
    }
}

fn words(evidence: &Evidence, cause: &Cause) -> Sentence {
    match cause {
        Cause::Loop(partner) => Sentence::new()
            .say("is ")
            .name(&partner.slug)
            .say(format!(" retrying its own 429{}: ", until(evidence, partner)))
            .then(early_of_refusals(partner)),
        Cause::Passed => {
            let across = match across(evidence) {
                Some(Across::One(_)) => " by one partner".to_owned(),
                Some(Across::Many(partners)) => format!(", across {}", count(partners, "partner")),
                None => String::new(),
            };
            let sentence = Sentence::new().say(format!("is traffic that passed quota{across}"));
            match carrier(evidence) {
                Some(route) => sentence.say(", most of it to ").name(route),
                None => sentence,
            }
        }
        Cause::Spent => {
            let kind = if is_first_attempts(evidence) { ": first attempts, not retries" } else { "" };
            Sentence::new().say(format!("went beyond a quota{kind}"))
        }
        Cause::Held => match holder(evidence) {
            Some(upstream) => Sentence::new().say("was held back by the breaker of ").name(upstream),
            None => Sentence::new().say("was held back by breakers"),
        },
        Cause::Unidentified => match (door::kind(&evidence.all.now), keys::whose(evidence)) {
            ((ENDED, _), Some(partner)) => {
                Sentence::new().say("is ").name(partner).say(" calling with a key that has ended")
            }
            ((words, _), _) => Sentence::new().say(words),
        },
    }
}

/// The upstream whose breaker held nearly all of it back.
fn holder(evidence: &Evidence) -> Option<&str> {
    let all = evidence.all.now.held;
    let mut names = evidence.upstreams.iter().map(|upstream| upstream.name.as_str());
    names.find(|name| evidence.asked_of(name).now.held * 10 >= all * 9)
}

/// Early retries that accuse nobody are no first attempts either.
fn is_first_attempts(evidence: &Evidence) -> bool {
    evidence.all.now.early * 10 <= evidence.all.now.spent
}

/// " until 14:35", if it is over.
fn until(evidence: &Evidence, partner: &Suspect) -> String {
    let over = partner.until.filter(|_| is_over(evidence, partner));
    over.map_or(String::new(), |until| format!(" until {}", evidence.minute(until)))
}

/// "4,120 of its 4,400 refusals came before the `Retry-After` it was given"
fn early_of_refusals(partner: &Suspect) -> Sentence {
    Sentence::new()
        .number(grouped(partner.early.now))
        .say(format!(" of its {} refusals came before the ", grouped(partner.early.now + partner.spent)))
        .name("Retry-After")
        .say(" it was given")
}

fn reached(reached: Compared<u64>) -> String {
    let difference = reached.now.abs_diff(reached.before);
    if difference * 10 <= reached.before {
        "unchanged".into()
    } else {
        format!("{}, before {}", grouped(reached.now), grouped(reached.before))
    }
}

/// A loop that was there before as well, or that nothing before compares to.
fn standing(evidence: &Evidence, partner: &Suspect) -> Option<Found> {
    // One in a hundred requests is not loud.
    let arrived = evidence.all.now.arrived;
    if partner.early.now * 100 < arrived {
        return None;
    }
    let is = if is_over(evidence, partner) { "was" } else { "is" };
    let sentence = Sentence::new()
        .name(&partner.slug)
        .say(format!(" {is} retrying its own 429{}: ", until(evidence, partner)))
        .then(early_of_refusals(partner))
        .say(", ")
        .number(share(partner.early.now, arrived))
        .say(" of all arrivals.");
    let href = evidence_of(evidence, &Cause::Loop(partner));
    Some(Found::new(Rule::Loud, tone_of(evidence, partner), partner.early.now, sentence, href))
}

/// "74 % of arrivals went beyond a quota: 4,178 of 5,659.", those of loops not counted. Nobody is named: to ask for more than a
/// plan gives is no fault.
fn beyond(evidence: &Evidence, loops: &[&Suspect]) -> Option<Found> {
    let now = evidence.all.now;
    let of_loops: u64 = loops.iter().map(|partner| partner.early.now + partner.spent).sum();
    let others = (now.early + now.spent).saturating_sub(of_loops);
    if others < LEAST_BEYOND || others * 100 < now.arrived * MUCH {
        return None;
    }
    let whose = if of_loops > 0 { "the quotas of others" } else { "a quota" };
    let sentence = Sentence::new().number(share(others, now.arrived)).say(format!(
        " of arrivals went beyond {whose}: {} of {}.",
        grouped(others),
        grouped(now.arrived)
    ));
    let href = link::requests(evidence, &[("stage", "quota")]);
    Some(Found::new(Rule::Loud, Tone::Notice, others, sentence, href))
}

/// Whose growth it is.
enum Across<'a> {
    One(&'a str),
    Many(u64),
}

/// Those that have grown, or the one that has made most of the growth.
fn across(evidence: &Evidence) -> Option<Across<'_>> {
    let rise: u64 = evidence.grown.iter().map(|partner| partner.passed.rise()).sum();
    let most = evidence.grown.iter().max_by_key(|partner| partner.passed.rise())?;
    if rise == 0 {
        return None;
    }
    if most.passed.rise() * 100 >= rise * 80 {
        return Some(Across::One(&most.slug));
    }
    // By a fifth, and by five requests: chance makes half of them a little larger.
    let grew = |passed: Compared<u64>| passed.rise() >= 5 && passed.now * 5 >= passed.before * 6;
    let partners = evidence.grown.iter().filter(|partner| grew(partner.passed)).count() as u64;
    (partners > 1).then_some(Across::Many(partners))
}

/// The route that most of the rise went to.
fn carrier(evidence: &Evidence) -> Option<&str> {
    let rise = |tally: Compared<Tally>| tally.of(Tally::went_on).rise();
    let whole: u64 = evidence.routes.iter().map(|route| rise(route.tally)).sum();
    let most = evidence.routes.iter().max_by_key(|route| rise(route.tally))?;
    (whole > 0 && rise(most.tally) * 2 > whole).then_some(most.name.as_str())
}

fn evidence_of(evidence: &Evidence, cause: &Cause) -> String {
    match cause {
        Cause::Loop(partner) => link::requests(
            evidence,
            &[("stage", "quota"), ("outcome", "quota_early_retry"), ("partner", &partner.slug)],
        ),
        Cause::Passed => link::to(evidence, "/ops/routes", &[]),
        Cause::Held => link::requests(evidence, &[("stage", "breaker")]),
        Cause::Spent if is_first_attempts(evidence) => {
            link::requests(evidence, &[("stage", "quota"), ("outcome", "quota_spent")])
        }
        Cause::Spent => link::requests(evidence, &[("stage", "quota")]),
        Cause::Unidentified => match (door::kind(&evidence.all.now), keys::whose(evidence)) {
            ((ENDED, filters), Some(partner)) => {
                link::requests(evidence, &[filters, &[("partner", partner)]].concat())
            }
            ((_, filters), _) => link::requests(evidence, filters),
        },
    }
}

#[cfg(test)]
mod tests;

//! Verdicts: what the numbers of a window mean, in plain sentences, each with a link to its evidence.
//!
//! Pure functions of `Evidence`. A false accusation is worse than silence: every rule names the least that it speaks for.

mod about;
mod cache;
mod door;
pub mod evidence;
pub mod habit;
mod keys;
mod link;
mod loud;
mod mine;
mod quiet;
pub mod sentence;
mod slow;
mod starved;
mod tally;
mod unavailable;
mod upstream;
mod words;

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use about::Actor;
pub use about::about;
pub use evidence::{Evidence, Who};
pub use keys::LEAST_CALLS;
pub use loud::{LEAST_EARLY, rose};
pub use sentence::{Part, Sentence};
pub use upstream::LEAST_FAILED;

/// What somebody should know about a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub rule: Rule,
    pub tone: Tone,
    pub sentence: Sentence,
    /// Path and query of the screen that shows the evidence, in the same window.
    pub href: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// More arrivals than before, or somebody who keeps knocking: why?
    Loud,
    /// An upstream gets nothing: why?
    Quiet,
    /// An upstream answers, but badly.
    Upstream,
    /// An upstream takes longer than before, or than its callers wait.
    Slow,
    /// Calls that name no route, or have no key.
    Door,
    /// Calls with keys that have ended.
    Keys,
    /// What a route's cache is good for.
    Cache,
    /// A partner's own refusals.
    Mine,
}

/// Who must act: somebody now, somebody some time, nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Alarm,
    Notice,
    Good,
}

/// A verdict, how many requests it is about, and who must act on it, where its rule and its tone do not tell.
pub(crate) struct Found {
    weight: u64,
    verdict: Verdict,
    actor: Option<Actor>,
}

impl Found {
    fn new(rule: Rule, tone: Tone, weight: u64, sentence: Sentence, href: String) -> Found {
        Found { weight, verdict: Verdict { rule, tone, sentence, href }, actor: None }
    }

    fn acted_by(self, actor: Option<Actor>) -> Found {
        Found { actor, ..self }
    }
}

/// Everything that the evidence bears, most important first: by tone, then by the requests concerned.
pub fn verdicts(evidence: &Evidence) -> Vec<Verdict> {
    found(evidence).into_iter().map(|found| found.verdict).collect()
}

fn found(evidence: &Evidence) -> Vec<Found> {
    let rules = match evidence.who {
        Who::Ops => vec![
            loud::judge(evidence),
            quiet::judge(evidence),
            starved::judge(evidence),
            upstream::judge(evidence),
            slow::judge(evidence),
            keys::judge(evidence),
            door::judge(evidence),
            cache::judge(evidence),
        ],
        Who::Partner(_) => vec![
            mine::judge(evidence),
            unavailable::judge(evidence),
            starved::judge(evidence),
            upstream::judge(evidence),
            slow::judge(evidence),
            keys::judge(evidence),
            door::judge(evidence),
        ],
    };
    let mut found: Vec<Found> = rules.into_iter().flatten().collect();
    // Stable: among equals the order of the rules decides.
    found.sort_by_key(|found| (found.verdict.tone, Reverse(found.weight)));
    found
}

impl Verdict {
    /// Plain text, names between backticks: "`billing` is quiet because nobody calls it."
    pub fn text(&self) -> String {
        self.sentence.text()
    }
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Rule::Loud => "loud",
            Rule::Quiet => "quiet",
            Rule::Upstream => "upstream",
            Rule::Slow => "slow",
            Rule::Door => "door",
            Rule::Keys => "keys",
            Rule::Cache => "cache",
            Rule::Mine => "mine",
        }
    }
}

impl Tone {
    pub fn name(self) -> &'static str {
        match self {
            Tone::Alarm => "alarm",
            Tone::Notice => "notice",
            Tone::Good => "good",
        }
    }
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod silence;

//! Keys: somebody still calls with a key that has ended.

use super::about::Actor;
use super::evidence::{EndedKey, Ending, Evidence, Tally, Who};
use super::sentence::Sentence;
use super::words::{ago, count};
use super::{Found, Rule, Tone, link};

/// Fewer calls may be somebody who tries whether the key is really dead.
pub const LEAST_CALLS: u64 = 10;
/// Keys that are named.
const KEYS: usize = 3;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    let mut keys: Vec<&EndedKey> = evidence.ended_keys.iter().filter(|k| k.calls >= LEAST_CALLS).collect();
    keys.sort_by_key(|key| (std::cmp::Reverse(key.calls), key.id));
    keys.into_iter().take(KEYS).map(|key| used(evidence, key)).collect()
}

/// The partner whose keys made nearly all of the calls with keys that have ended.
pub(super) fn whose(evidence: &Evidence) -> Option<&str> {
    let all = evidence.all.now.ended_key;
    let calls = |partner: &str| -> u64 {
        evidence.ended_keys.iter().filter(|key| key.partner == partner).map(|key| key.calls).sum()
    };
    let mut partners = evidence.ended_keys.iter().map(|key| key.partner.as_str());
    partners.find(|partner| all > 0 && calls(partner) * 10 >= all * 9)
}

/// Whether nearly all that had no valid key had one that is named.
pub(super) fn names_most(evidence: &Evidence, tally: &Tally) -> bool {
    let named = evidence.ended_keys.iter().filter(|key| key.calls >= LEAST_CALLS).map(|key| key.calls);
    tally.ended_key * 10 >= (tally.ended_key + tally.no_key) * 9
        && named.sum::<u64>() * 10 >= evidence.all.now.ended_key * 9
}

fn used(evidence: &Evidence, key: &EndedKey) -> Found {
    let (ended, outcome) = match key.ended {
        Ending::Revoked => ("revoked", "key_revoked"),
        Ending::Expired => ("that expired", "key_expired"),
    };
    let key_words = format!("with a key {ended} {}", ago(evidence.until - key.ended_at));
    let (who, call) = match (evidence.who, &evidence.about) {
        (Who::Partner(_), None) => (Sentence::new().say("You"), "call"),
        _ => (Sentence::new().name(&key.partner), "calls"),
    };
    let sentence = match rate(&key.by_minute) {
        Some(rate) => {
            let often = if rate == 1 { "once".to_owned() } else { count(rate, "time") };
            who.say(format!(" still {call} {key_words}, ")).number(often).say(" a minute.")
        }
        // Less than once a minute.
        None if !key.by_minute.is_empty() => who
            .say(format!(" still {call} {key_words}, "))
            .number(count(key.calls, "time"))
            .say(" in this window."),
        // Not of late.
        None => who.say(" called ").number(count(key.calls, "time")).say(format!(" {key_words}.")),
    };
    let href =
        link::requests(evidence, &[("stage", "key"), ("outcome", outcome), ("key", &key.id.to_string())]);
    let is_over = key.by_minute.is_empty();
    Found::new(Rule::Keys, Tone::Notice, key.calls, sentence, href).acted_by(is_over.then_some(Actor::Nobody))
}

/// Calls in a typical minute: the middle one of those that are whole, since neither the first nor the last is.
fn rate(by_minute: &[u64]) -> Option<u64> {
    let whole = if by_minute.len() >= 3 { &by_minute[1..by_minute.len() - 1] } else { by_minute };
    let mut sorted = whole.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().filter(|rate| *rate > 0)
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::domain::verdict::examples::{hour, texts};
    use crate::domain::verdict::verdicts;

    fn key(calls: u64, by_minute: &[u64]) -> EndedKey {
        EndedKey {
            id: 7,
            partner: "acme".into(),
            ended: Ending::Revoked,
            ended_at: hour().until - Duration::hours(76),
            calls,
            by_minute: by_minute.to_vec(),
        }
    }

    fn of(key: EndedKey) -> Vec<String> {
        texts(&Evidence { ended_keys: vec![key], ..hour() })
    }

    #[test]
    fn a_revoked_key_is_still_used_so_many_times_a_minute() {
        let said = of(key(2_400, &[12, 40, 41, 40, 39, 3]));
        assert_eq!(said, ["`acme` still calls with a key revoked 3 days ago, 40 times a minute."]);
    }

    #[test]
    fn nine_calls_are_not_worth_a_word_and_ten_are() {
        assert!(of(key(9, &[9])).is_empty());
        assert_eq!(
            of(key(10, &[10])),
            ["`acme` still calls with a key revoked 3 days ago, 10 times a minute."]
        );
    }

    #[test]
    fn who_calls_now_and_then_has_no_rate_and_who_stopped_does_so_no_more() {
        let said = of(key(14, &[1, 0, 0, 0, 1]));
        assert_eq!(said, ["`acme` still calls with a key revoked 3 days ago, 14 times in this window."]);
        assert_eq!(of(key(14, &[])), ["`acme` called 14 times with a key revoked 3 days ago."]);
    }

    #[test]
    fn a_partner_reads_it_as_its_own() {
        let expired = EndedKey { ended: Ending::Expired, ..key(90, &[30, 30, 30]) };
        let evidence = Evidence { who: Who::Partner(1), ended_keys: vec![expired], ..hour() };
        let verdict = verdicts(&evidence).remove(0);
        assert_eq!(verdict.text(), "You still call with a key that expired 3 days ago, 30 times a minute.");
        assert!(verdict.href.starts_with("/portal/requests?"), "{}", verdict.href);
        assert!(verdict.href.ends_with("&outcome=key_expired&key=7"), "{}", verdict.href);
    }
}

//! Cache: whether a route's earns its keep, and if it does not, why.

use super::evidence::{Evidence, RouteEvidence};
use super::sentence::Sentence;
use super::words::{count, grouped, lasting, share};
use super::{Found, Rule, Tone, link};
use crate::domain::cache_miss::CacheMiss;

/// Of fewer requests there is nothing to say for or against a cache.
pub const LEAST_ASKED: u64 = 100;
/// Per cent served from cache from which on it earns its keep.
const EARNS: u64 = 20;
/// Per cent below which it earns nothing.
const NOTHING: u64 = 1;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    evidence.routes.iter().filter_map(|route| earnings(evidence, route)).collect()
}

/// Whether there is a word on a cache in front of this upstream.
pub(super) fn speaks_of(evidence: &Evidence, upstream: &str) -> bool {
    let mut routes = evidence.routes.iter().filter(|route| route.upstream == upstream);
    routes.any(|route| earnings(evidence, route).is_some())
}

/// Asked often, served hardly ever.
fn is_useless(route: &RouteEvidence) -> bool {
    let (asked, served) = (asked(route), route.tally.now.cached);
    route.has_cache && asked >= LEAST_ASKED && served * 100 < asked * NOTHING
}

/// Requests that came as far as the cache.
fn asked(route: &RouteEvidence) -> u64 {
    route.tally.now.passed_quota()
}

fn earnings(evidence: &Evidence, route: &RouteEvidence) -> Option<Found> {
    let (asked, served) = (asked(route), route.tally.now.cached);
    if !route.has_cache || asked < LEAST_ASKED {
        return None;
    }
    // Switched off, it is asked no more.
    let (tone, sentence) = if is_useless(route) && route.is_open {
        (Tone::Notice, nothing(route, asked, served))
    } else if served * 100 >= asked * EARNS {
        (Tone::Good, saved(route, asked, served))
    } else {
        return None;
    };
    let href = link::to(evidence, "/ops/cache", &[("route", &route.name)]);
    Some(Found::new(Rule::Cache, tone, asked, sentence, href))
}

/// "`orders` was served from cache 83 % of the time: 10,240 upstream calls and 41 minutes of upstream time saved."
fn saved(route: &RouteEvidence, asked: u64, served: u64) -> Sentence {
    let now = route.tally.now;
    // What was refreshed in the background was not saved.
    let calls = served.saturating_sub(now.refreshed);
    let sentence = Sentence::new()
        .name(&route.name)
        .say(" was served from cache ")
        .number(share(served, asked))
        .say(" of the time: ")
        .number(count(calls, "upstream call"));
    // A call that was saved would have taken as long as those that were made.
    let time = now.upstream_us.checked_div(now.reached).map_or(0, |each| each * calls);
    if time >= 1_000_000 {
        sentence.say(" and ").number(lasting(time)).say(" of upstream time saved.")
    } else {
        sentence.say(" saved.")
    }
}

/// "The cache on `search` earns nothing: 2 hits in 9,000; 8,990 were asked for the first time."
fn nothing(route: &RouteEvidence, asked: u64, served: u64) -> Sentence {
    // Asked again and unchanged: bodies are saved, if not calls.
    let is_confirmed = route.tally.now.revalidated * 2 > asked;
    let sentence = Sentence::new()
        .say("The cache on ")
        .name(&route.name)
        .say(if is_confirmed { " saves no calls: " } else { " earns nothing: " })
        .number(count(served, "hit"))
        .say(format!(" in {}", grouped(asked)));
    if is_confirmed {
        let unchanged = grouped(route.tally.now.revalidated);
        return sentence
            .say("; ")
            .number(unchanged)
            .say(" had gone stale, and were unchanged when asked for again.");
    }
    // Why, if most have one reason.
    let most = route.misses.iter().max_by_key(|(_, n)| *n).filter(|(_, n)| n * 2 > asked);
    match most {
        Some((CacheMiss::First, n)) if route.purges > 0 => {
            let purges = count(route.purges, "purge");
            let after = if route.purges == 1 { "a purge".into() } else { format!("one of {purges}") };
            let why = reason(CacheMiss::First);
            sentence
                .say("; ")
                .number(grouped(*n))
                .say(format!(" {why}, or for the first time after {after}."))
        }
        Some((why, n)) => sentence.say("; ").number(grouped(*n)).say(format!(" {}.", reason(*why))),
        None => sentence.say("."),
    }
}

fn reason(why: CacheMiss) -> &'static str {
    match why {
        CacheMiss::First => "were asked for the first time",
        CacheMiss::Vary => "differed in a header that the answers vary by",
        CacheMiss::Stale => "came when what was stored had gone stale",
        CacheMiss::Bypass => "went past the cache, by method or by what they asked for",
        CacheMiss::Unstorable => "were answered with what may not be stored, or has no lifetime",
        CacheMiss::Off => "were asked while it was switched off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::evidence::{Compared, Tally};
    use crate::domain::verdict::examples::{hour, texts};

    fn of(name: &str, cached: u64, reached: u64, misses: &[(CacheMiss, u64)]) -> Vec<String> {
        texts(&evidence(name, cached, reached, misses))
    }

    fn evidence(name: &str, cached: u64, reached: u64, misses: &[(CacheMiss, u64)]) -> Evidence {
        let now = Tally {
            arrived: cached + reached,
            cached,
            reached,
            upstream_us: reached * 240_000,
            ..Tally::default()
        };
        let route = RouteEvidence {
            name: name.into(),
            has_cache: true,
            is_open: true,
            tally: Compared { now, ..Compared::default() },
            misses: misses.to_vec(),
            ..RouteEvidence::default()
        };
        Evidence { routes: vec![route], ..hour() }
    }

    #[test]
    fn a_cache_that_serves_says_what_it_saved() {
        assert_eq!(
            of("orders", 10_240, 2_097, &[]),
            [
                "`orders` was served from cache 83 % of the time: 10,240 upstream calls and 41 minutes of upstream time saved."
            ]
        );
    }

    #[test]
    fn a_route_that_is_switched_off_is_not_blamed_for_its_cache() {
        let mut evidence = evidence("search", 0, 2_000, &[]);
        assert_eq!(texts(&evidence).len(), 1);
        evidence.routes[0].is_open = false;
        assert!(texts(&evidence).is_empty());
    }

    #[test]
    fn a_cache_without_hits_says_why() {
        assert_eq!(
            of("search", 2, 8_998, &[(CacheMiss::First, 8_990), (CacheMiss::Bypass, 8)]),
            ["The cache on `search` earns nothing: 2 hits in 9,000; 8,990 were asked for the first time."]
        );
        assert_eq!(
            of("search", 0, 200, &[(CacheMiss::Vary, 199), (CacheMiss::First, 1)]),
            [
                "The cache on `search` earns nothing: 0 hits in 200; 199 differed in a header that the answers vary by."
            ]
        );
    }

    #[test]
    fn answers_that_may_not_be_stored_are_not_called_new() {
        assert_eq!(
            of("search", 0, 200, &[(CacheMiss::Unstorable, 190), (CacheMiss::First, 10)]),
            [
                "The cache on `search` earns nothing: 0 hits in 200; 190 were answered with what may not be stored, or has no lifetime."
            ]
        );
    }

    #[test]
    fn a_cache_that_is_purged_again_and_again_says_so() {
        let said = |purges| {
            let mut evidence = evidence("orders", 0, 144, &[(CacheMiss::First, 144)]);
            evidence.routes[0].purges = purges;
            texts(&evidence).remove(0)
        };
        let nothing = "The cache on `orders` earns nothing: 0 hits in 144; 144 were asked for the first time";
        assert_eq!(said(0), format!("{nothing}."));
        assert_eq!(said(1), format!("{nothing}, or for the first time after a purge."));
        assert_eq!(said(12), format!("{nothing}, or for the first time after one of 12 purges."));
    }

    #[test]
    fn a_cache_whose_answers_are_confirmed_saves_no_calls_but_something() {
        let mut evidence = evidence("orders", 0, 150, &[(CacheMiss::Stale, 149), (CacheMiss::First, 1)]);
        evidence.routes[0].tally.now.revalidated = 149;
        assert_eq!(
            texts(&evidence),
            [
                "The cache on `orders` saves no calls: 0 hits in 150; 149 had gone stale, and were unchanged when asked for again."
            ]
        );
        evidence.routes[0].tally.now.revalidated = 75;
        assert!(texts(&evidence)[0].ends_with("149 came when what was stored had gone stale."));
    }

    #[test]
    fn where_no_reason_has_the_majority_none_is_named() {
        assert_eq!(
            of("search", 0, 200, &[(CacheMiss::Vary, 100), (CacheMiss::First, 100)]),
            ["The cache on `search` earns nothing: 0 hits in 200."]
        );
    }

    #[test]
    fn of_ninety_nine_requests_nothing_is_said_and_of_a_hundred_something() {
        assert!(of("orders", 99, 0, &[]).is_empty() && of("search", 0, 99, &[]).is_empty());
        assert_eq!(
            of("orders", 100, 0, &[]),
            ["`orders` was served from cache 100 % of the time: 100 upstream calls saved."]
        );
        assert_eq!(of("search", 0, 100, &[]), ["The cache on `search` earns nothing: 0 hits in 100."]);
    }

    #[test]
    fn between_one_and_twenty_per_cent_a_cache_neither_earns_nor_wastes() {
        assert!(of("orders", 19, 81, &[]).is_empty());
        assert_eq!(of("orders", 20, 80, &[]).len(), 1);
        assert!(of("orders", 10, 990, &[]).is_empty());
        assert_eq!(of("orders", 9, 991, &[]).len(), 1);
    }

    #[test]
    fn a_route_without_cache_is_not_blamed_for_it() {
        let now = Tally { arrived: 500, reached: 500, ..Tally::default() };
        let tally = Compared { now, ..Compared::default() };
        let route = RouteEvidence { name: "pay".into(), tally, ..RouteEvidence::default() };
        assert!(texts(&Evidence { routes: vec![route], ..hour() }).is_empty());
    }
}

//! A screen's first line: what is said, and the funnel in one sentence.

use leptos::prelude::*;

use super::books::reasons;
use crate::domain::funnel::Funnel;
use crate::domain::numbers::{count, grouped, lower_first, percent, unbroken};
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;

/// The first line, and a link to what bears it.
#[component]
pub fn Said(#[prop(into)] text: String, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    view! { <p class="verdict">{unbroken(&text)}{children.map(|children| children())}</p> }
}

/// States only what the numbers say: how many got through, and where most of the others stopped.
pub fn headline(funnel: &Funnel) -> String {
    if funnel.arrived == 0 {
        return "Nothing arrived in this window.".into();
    }
    let cached = funnel.stage(Stage::Cache).stopped;
    if cached == funnel.arrived {
        return match cached {
            1 => "The one request came from the cache.".into(),
            all => format!("All {} came from the cache.", count(all, "request")),
        };
    }
    let reached = match funnel.reached_upstream {
        0 if funnel.arrived == 1 => "The one request did not reach the upstream".into(),
        0 => format!("None of {} reached the upstream", count(funnel.arrived, "request")),
        all if all == funnel.arrived && all == 1 => "The one request reached the upstream".into(),
        all if all == funnel.arrived => format!("All {} reached the upstream", count(all, "request")),
        some => format!(
            "{} of {} reached the upstream ({})",
            grouped(some),
            count(funnel.arrived, "request"),
            percent(some, funnel.arrived)
        ),
    };
    // The cache serves; the other stages turn away.
    let refusing = Stage::ALL.into_iter().filter(|stage| *stage != Stage::Cache);
    let most = refusing.max_by_key(|stage| (funnel.stage(*stage).stopped, std::cmp::Reverse(*stage)));
    let mut sentence = reached + &but_not_well(funnel);
    if cached > 0 {
        sentence += &format!("; {} came from the cache", grouped(cached));
    }
    match most.map(|stage| (stage, funnel.stage(stage).stopped)) {
        Some((stage, stopped)) if stopped > 0 => {
            format!(
                "{sentence}. Most that went no further ended at the {} stage{}.",
                stage.name(),
                why(funnel, stage).unwrap_or_default()
            )
        }
        _ => sentence + ".",
    }
}

/// ", which answered 12 with 5xx and did not answer 4 in time"; nothing if all is well.
fn but_not_well(funnel: &Funnel) -> String {
    let statuses = &funnel.statuses;
    // A few that were asked for in vain are everyday business.
    let refused = Some(statuses.client_error).filter(|n| n * 10 >= funnel.reached_upstream).unwrap_or(0);
    let late = funnel.reached_outcomes.get(Outcome::UpstreamTimeout.name()).copied().unwrap_or(0);
    let answered = [(refused, "4xx"), (statuses.server_error, "5xx")].into_iter().filter(|(n, _)| *n > 0);
    let answered: Vec<String> = answered.map(|(n, class)| format!("{} with {class}", grouped(n))).collect();
    let mut did = Vec::new();
    if !answered.is_empty() {
        did.push(format!("answered {}", answered.join(" and ")));
    }
    if late > 0 {
        did.push(format!("did not answer {} in time", grouped(late)));
    }
    if did.is_empty() { String::new() } else { format!(", which {}", did.join(" and ")) }
}

/// What most of them had. Who came back too early is not said here: the label alone cannot tell, verdicts do.
fn why(funnel: &Funnel, stage: Stage) -> Option<String> {
    let of = |outcome: Outcome| funnel.stage(stage).outcomes.get(outcome.name()).copied().unwrap_or_default();
    let spent = of(Outcome::QuotaSpent) + of(Outcome::QuotaEarlyRetry);
    if spent > 0 {
        return Some(format!(": {} beyond a quota", grouped(spent)));
    }
    reasons(funnel, stage)
        .first()
        .map(|(count, title)| format!(": {} {}", grouped(*count), lower_first(title)))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::domain::funnel::{Counts, Line};
    use crate::domain::window::Window;

    fn line(&(stage, outcome, reached, requests): &(Stage, Outcome, bool, u64)) -> Line {
        let upstream_class = if outcome == Outcome::Forwarded { 2 } else { 0 };
        Line { stage, outcome, reached, upstream_class, requests }
    }

    fn of(lines: &[(Stage, Outcome, bool, u64)]) -> String {
        told(lines.iter().map(line).collect())
    }

    fn told(lines: Vec<Line>) -> String {
        let window =
            Window::new(datetime!(2026-01-01 10:00 UTC), datetime!(2026-01-01 11:00 UTC)).expect("forward");
        headline(&Funnel::new(window, &Counts { lines, ..Counts::default() }))
    }

    const SERVED: (Stage, Outcome, bool, u64) = (Stage::Proxy, Outcome::Forwarded, true, 3_392);

    #[test]
    fn what_was_served_and_what_was_turned_away_are_kept_apart() {
        assert_eq!(of(&[]), "Nothing arrived in this window.");
        assert_eq!(of(&[SERVED]), "All 3,392 requests reached the upstream.");
        assert_eq!(
            of(&[SERVED, (Stage::Cache, Outcome::CacheHit, false, 3_392)]),
            "3,392 of 6,784 requests reached the upstream (50.0 %); 3,392 came from the cache."
        );
        assert_eq!(
            of(&[(Stage::Key, Outcome::KeyMissing, false, 1)]),
            "The one request did not reach the upstream. Most that went no further ended at the key stage: 1 key missing."
        );
    }

    #[test]
    fn what_the_upstream_failed_is_not_told_as_if_it_were_well() {
        let unanswered = |requests| (Stage::Proxy, Outcome::UpstreamTimeout, true, requests);
        assert_eq!(
            of(&[SERVED, unanswered(4)]),
            "All 3,396 requests reached the upstream, which did not answer 4 in time."
        );
        let left = (Stage::Proxy, Outcome::ClientGone, true, 4);
        assert_eq!(
            of(&[SERVED, left]),
            "All 3,396 requests reached the upstream.",
            "that is the client’s doing"
        );
    }

    #[test]
    fn answers_that_help_nobody_are_told_where_they_are_a_tenth() {
        let answered = |good, refused, failed| {
            let line = |upstream_class, requests| Line {
                upstream_class,
                ..line(&(Stage::Proxy, Outcome::Forwarded, true, requests))
            };
            told(vec![line(2, good), line(4, refused), line(5, failed)])
        };
        assert_eq!(
            answered(0, 247, 0),
            "All 247 requests reached the upstream, which answered 247 with 4xx."
        );
        assert_eq!(
            answered(180, 20, 0),
            "All 200 requests reached the upstream, which answered 20 with 4xx."
        );
        assert_eq!(answered(181, 19, 0), "All 200 requests reached the upstream.");
        assert_eq!(
            answered(80, 15, 5),
            "All 100 requests reached the upstream, which answered 15 with 4xx and 5 with 5xx."
        );
    }

    #[test]
    fn what_the_cache_served_alone_is_a_success() {
        let cached = |requests| of(&[(Stage::Cache, Outcome::CacheHit, false, requests)]);
        assert_eq!(cached(1), "The one request came from the cache.");
        assert_eq!(cached(12), "All 12 requests came from the cache.");
    }

    #[test]
    fn what_went_beyond_a_quota_is_not_told_apart() {
        let early = (Stage::Quota, Outcome::QuotaEarlyRetry, false, 1_200);
        assert_eq!(
            of(&[SERVED, early, (Stage::Quota, Outcome::QuotaSpent, false, 34)]),
            "3,392 of 4,626 requests reached the upstream (73.3 %). Most that went no further ended at the quota stage: \
             1,234 beyond a quota."
        );
    }
}

//! The first line: which breakers are open and since when, or whether any was.

use std::collections::BTreeSet;

use time::OffsetDateTime;

use super::api::Charted;
use crate::breakers::Held;
use crate::domain::moment::{Dated, is_past};
use crate::domain::numbers::{count, list, were};
use crate::domain::window::Window;

/// `dated` is how much of a date the page tells at least.
pub fn headline(
    upstreams: &[Charted],
    held: &[Held],
    window: Window,
    dated: Dated,
    now: OffsetDateTime,
) -> String {
    if upstreams.is_empty() {
        return "There is no upstream yet.".into();
    }
    let lasting: Vec<&Held> = held.iter().filter(|held| held.newest().to.is_none()).collect();
    match lasting.as_slice() {
        [] => {
            let alone = if let [one] = upstreams { Some(one.upstream.name.as_str()) } else { None };
            before(alone, held, window)
        }
        [one] => {
            let outage = one.newest();
            let at = |at: OffsetDateTime| dated.enough(at, now).second(at);
            // Whom each of several held back is not known.
            let all = match one.outages.len() {
                1 => String::new(),
                times => format!("Open {} since {}: ", count(times as u64, "time"), at(one.oldest().from)),
            };
            let charted = upstreams.iter().find(|charted| charted.upstream.name == outage.upstream);
            format!(
                "{}’s breaker has been open since {}: {}. {all}{}{}",
                outage.upstream,
                at(outage.from),
                outage.reason,
                held_back(&[one], window),
                charted.and_then(|charted| uncalled(charted, window, dated, now)).unwrap_or_default()
            )
        }
        several => {
            let names: Vec<&str> = several.iter().map(|held| held.newest().upstream.as_str()).collect();
            format!("The breakers of {} are open. {}", list(&names), held_back(several, window))
        }
    }
}

/// " Nobody has called it since 14:06.", if the window goes on.
fn uncalled(charted: &Charted, window: Window, dated: Dated, now: OffsetDateTime) -> Option<String> {
    let words = match charted.traffic.last_arrival() {
        None => "in this window".to_owned(),
        Some(last) if is_past(last, now) => format!("since {}", dated.enough(last, now).minute(last)),
        Some(_) => return None,
    };
    (window.to >= now).then(|| format!(" Nobody has called it {words}."))
}

/// Nothing is open now. `alone` is who is there alone.
fn before(alone: Option<&str>, held: &[Held], window: Window) -> String {
    let now = alone.map_or("All breakers are closed".into(), |name| format!("{name}’s breaker is closed"));
    let times: u64 = held.iter().map(|held| held.outages.len() as u64).sum();
    let names: BTreeSet<&str> = held.iter().map(|held| held.newest().upstream.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let all: Vec<&Held> = held.iter().collect();
    let often = if times == 1 { "once".to_owned() } else { count(times, "time") };
    let were_open = match (names.as_slice(), alone) {
        ([], Some(_)) => return format!("{now}, and was not open in this window."),
        ([], None) => return format!("{now}, and none was open in this window."),
        (_, Some(_)) => "it was open".to_owned(),
        ([one], None) => format!("{one}’s was open"),
        (names, None) => format!("those of {} were open", list(names)),
    };
    format!("{now}; {were_open} {often} in this window. {}", held_back(&all, window))
}

/// "312 requests of 4 partners were held back." An outage is told as a whole, and what of it the window does not show counts.
fn held_back(held: &[&Held], window: Window) -> String {
    let requests: u64 = held.iter().map(|held| held.requests).sum();
    let partners: BTreeSet<&str> =
        held.iter().flat_map(|held| &held.partners).map(|(slug, _)| slug.as_str()).collect();
    let whose = match partners.iter().filter(|slug| !slug.is_empty()).count() {
        0 => String::new(),
        named => format!(" of {}", count(named as u64, "partner")),
    };
    let is_within = |held: &&Held| held.counted.from >= window.from && held.counted.to <= window.to;
    let beyond = if held.iter().all(is_within) { "" } else { ", those outside this window included" };
    match requests {
        0 => "Nobody was held back.".into(),
        n => format!("{}{whose} {} held back{beyond}.", count(n, "request"), were(n)),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::breakers::{Outage, Upstream};
    use crate::domain::over_time::OverTime;
    use crate::domain::stage::Stage;

    const NOW: OffsetDateTime = datetime!(2026-11-29 15:00 UTC);
    const HOUR: Window = Window { from: datetime!(2026-11-29 14:00 UTC), to: NOW };

    /// Called in the last minute.
    fn called() -> Charted {
        called_at(datetime!(2026-11-29 14:59 UTC))
    }

    fn called_at(at: OffsetDateTime) -> Charted {
        let mut traffic = OverTime::new(HOUR, 60);
        traffic.add(at, Stage::Breaker, 312);
        let upstream = Upstream {
            id: 1,
            name: "billing".into(),
            routes: Vec::new(),
            state: "closed".into(),
            generation: 1,
            failures: 0,
            due_at: None,
            breaker_failures: 5,
            breaker_window_ms: 10_000,
            breaker_open_ms: 5_000,
            max_in_flight: 10,
            health: None,
            urls: Vec::new(),
            targets: Vec::new(),
        };
        Charted { upstream, traffic, bands: Vec::new() }
    }

    fn outage(from: OffsetDateTime, to: Option<OffsetDateTime>) -> Outage {
        let reason = "5 failures in 10 s, the last: timeout".into();
        Outage { upstream_id: 1, upstream: "billing".into(), from, to, reason }
    }

    fn held(to: Option<OffsetDateTime>, partners: &[(&str, u64)]) -> Held {
        let from = datetime!(2026-11-29 14:41:07 UTC);
        let partners: Vec<_> = partners.iter().map(|(slug, n)| ((*slug).to_owned(), *n)).collect();
        Held {
            outages: vec![outage(from, to)],
            counted: Window { from, to: NOW },
            requests: partners.iter().map(|(_, n)| n).sum(),
            partners,
        }
    }

    #[test]
    fn an_open_breaker_says_since_when_and_why_and_whom_it_holds_back() {
        assert_eq!(
            headline(&[called()], &[held(None, &[("acme", 310), ("globex", 2)])], HOUR, Dated::Not, NOW),
            "billing’s breaker has been open since 14:41:07: 5 failures in 10 s, the last: timeout. \
             312 requests of 2 partners were held back."
        );
    }

    #[test]
    fn an_open_breaker_that_was_open_in_the_same_minute_before_is_told_by_itself() {
        let mut held = held(None, &[("acme", 312)]);
        held.outages
            .push(outage(datetime!(2026-11-29 14:40:12 UTC), Some(datetime!(2026-11-29 14:40:58 UTC))));
        assert_eq!(
            headline(&[called()], &[held], HOUR, Dated::Not, NOW),
            "billing’s breaker has been open since 14:41:07: 5 failures in 10 s, the last: timeout. \
             Open 2 times since 14:40:12: 312 requests of 1 partner were held back."
        );
    }

    #[test]
    fn closed_breakers_say_whether_any_was_open() {
        assert_eq!(headline(&[], &[], HOUR, Dated::Not, NOW), "There is no upstream yet.");
        assert_eq!(
            headline(&[called()], &[], HOUR, Dated::Not, NOW),
            "billing’s breaker is closed, and was not open in this window."
        );
        assert_eq!(
            headline(&[called()], &[held(Some(NOW), &[("", 3)])], HOUR, Dated::Not, NOW),
            "billing’s breaker is closed; it was open once in this window. 3 requests were held back."
        );
        assert_eq!(
            headline(&[called(), called()], &[held(Some(NOW), &[("", 3)])], HOUR, Dated::Not, NOW),
            "All breakers are closed; billing’s was open once in this window. 3 requests were held back."
        );
    }

    #[test]
    fn what_an_outage_held_back_outside_the_window_is_said_to_count() {
        let quarter = Window { from: datetime!(2026-11-29 14:45 UTC), to: NOW };
        assert_eq!(
            headline(&[called()], &[held(None, &[("acme", 312)])], quarter, Dated::Not, NOW),
            "billing’s breaker has been open since 14:41:07: 5 failures in 10 s, the last: timeout. \
             312 requests of 1 partner were held back, those outside this window included."
        );
    }

    #[test]
    fn an_open_breaker_of_what_nobody_calls_any_more_says_since_when() {
        let said =
            |at, window| headline(&[called_at(at)], &[held(None, &[("acme", 312)])], window, Dated::Not, NOW);
        let held_back = "312 requests of 1 partner were held back.";
        let at = datetime!(2026-11-29 14:45 UTC);
        let silent = said(at, HOUR);
        assert!(silent.ends_with(&format!("{held_back} Nobody has called it since 14:46.")), "{silent}");
        assert!(said(datetime!(2026-11-29 14:55 UTC), HOUR).ends_with(held_back));
        let never = said(datetime!(2026-11-29 13:00 UTC), HOUR);
        assert!(never.ends_with(&format!("{held_back} Nobody has called it in this window.")), "{never}");
        let past = Window { to: datetime!(2026-11-29 14:50 UTC), ..HOUR };
        assert!(!said(at, past).contains("Nobody"), "of what came after it nothing is known");
    }
}

//! The first line: which doors are shut and since when, or whether any was.

use std::collections::BTreeSet;

use time::OffsetDateTime;

use super::api::Door;
use crate::breakers::Held;
use crate::domain::moment::{Dated, is_past};
use crate::domain::numbers::{count, list, were};
use crate::domain::window::Window;

/// `dated` is how much of a date the page tells at least.
pub fn headline(doors: &[Door], held: &[Held], window: Window, dated: Dated, now: OffsetDateTime) -> String {
    if doors.is_empty() {
        return "There is no upstream yet.".into();
    }
    let lasting: Vec<&Held> = held.iter().filter(|held| held.outage.to.is_none()).collect();
    match lasting.as_slice() {
        [] => {
            let now = if doors.len() == 1 { "The door is open" } else { "All doors are open" };
            before(now, held, window)
        }
        [one] => {
            let outage = &one.outage;
            let since = dated.enough(outage.from, now).second(outage.from);
            let door = doors.iter().find(|door| door.upstream.name == outage.upstream);
            format!(
                "{}’s door has been shut since {since}: {}. {}{}",
                outage.upstream,
                outage.reason,
                held_back(&[one], window),
                door.and_then(|door| uncalled(door, window, dated, now)).unwrap_or_default()
            )
        }
        several => {
            let names: Vec<&str> = several.iter().map(|held| held.outage.upstream.as_str()).collect();
            format!("The doors of {} are shut. {}", list(&names), held_back(several, window))
        }
    }
}

/// " Nobody has called it since 14:06.", if the window goes on.
fn uncalled(door: &Door, window: Window, dated: Dated, now: OffsetDateTime) -> Option<String> {
    let words = match door.traffic.last_arrival() {
        None => "in this window".to_owned(),
        Some(last) if is_past(last, now) => format!("since {}", dated.enough(last, now).minute(last)),
        Some(_) => return None,
    };
    (window.to >= now).then(|| format!(" Nobody has called it {words}."))
}

/// Nothing is shut now.
fn before(now: &str, held: &[Held], window: Window) -> String {
    let times: u64 = held.iter().map(|held| held.times).sum();
    let names: BTreeSet<&str> = held.iter().map(|held| held.outage.upstream.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let all: Vec<&Held> = held.iter().collect();
    match (names.as_slice(), times) {
        ([], _) => format!("{now}, and none was shut in this window."),
        ([one], 1) => format!("{now}; {one}’s was shut once in this window. {}", held_back(&all, window)),
        ([one], times) => {
            let times = count(times, "time");
            format!("{now}; {one}’s was shut {times} in this window. {}", held_back(&all, window))
        }
        (names, times) => {
            let (names, times) = (list(names), count(times, "time"));
            format!("{now}; those of {names} were shut {times} in this window. {}", held_back(&all, window))
        }
    }
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
    fn door() -> Door {
        door_called_at(datetime!(2026-11-29 14:59 UTC))
    }

    fn door_called_at(at: OffsetDateTime) -> Door {
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
        Door { upstream, traffic, bands: Vec::new() }
    }

    fn held(to: Option<OffsetDateTime>, partners: &[(&str, u64)]) -> Held {
        let from = datetime!(2026-11-29 14:41:07 UTC);
        let partners: Vec<_> = partners.iter().map(|(slug, n)| ((*slug).to_owned(), *n)).collect();
        Held {
            outage: Outage {
                upstream_id: 1,
                upstream: "billing".into(),
                from,
                to,
                reason: "5 failures in 10 s, the last: timeout".into(),
            },
            times: 1,
            counted: Window { from, to: NOW },
            requests: partners.iter().map(|(_, n)| n).sum(),
            partners,
        }
    }

    #[test]
    fn a_shut_door_says_since_when_and_why_and_who_stands_before_it() {
        assert_eq!(
            headline(&[door()], &[held(None, &[("acme", 310), ("globex", 2)])], HOUR, Dated::Not, NOW),
            "billing’s door has been shut since 14:41:07: 5 failures in 10 s, the last: timeout. \
             312 requests of 2 partners were held back."
        );
    }

    #[test]
    fn open_doors_say_whether_any_was_shut() {
        assert_eq!(headline(&[], &[], HOUR, Dated::Not, NOW), "There is no upstream yet.");
        assert_eq!(
            headline(&[door()], &[], HOUR, Dated::Not, NOW),
            "The door is open, and none was shut in this window."
        );
        assert_eq!(
            headline(&[door(), door()], &[held(Some(NOW), &[("", 3)])], HOUR, Dated::Not, NOW),
            "All doors are open; billing’s was shut once in this window. 3 requests were held back."
        );
    }

    #[test]
    fn what_an_outage_held_back_outside_the_window_is_said_to_count() {
        let quarter = Window { from: datetime!(2026-11-29 14:45 UTC), to: NOW };
        assert_eq!(
            headline(&[door()], &[held(None, &[("acme", 312)])], quarter, Dated::Not, NOW),
            "billing’s door has been shut since 14:41:07: 5 failures in 10 s, the last: timeout. \
             312 requests of 1 partner were held back, those outside this window included."
        );
    }

    #[test]
    fn a_shut_door_that_nobody_calls_at_any_more_says_since_when() {
        let said = |called_at, window| {
            headline(&[door_called_at(called_at)], &[held(None, &[("acme", 312)])], window, Dated::Not, NOW)
        };
        let held_back = "312 requests of 1 partner were held back.";
        let called_at = datetime!(2026-11-29 14:45 UTC);
        let silent = said(called_at, HOUR);
        assert!(silent.ends_with(&format!("{held_back} Nobody has called it since 14:46.")), "{silent}");
        assert!(said(datetime!(2026-11-29 14:55 UTC), HOUR).ends_with(held_back));
        let never = said(datetime!(2026-11-29 13:00 UTC), HOUR);
        assert!(never.ends_with(&format!("{held_back} Nobody has called it in this window.")), "{never}");
        let past = Window { to: datetime!(2026-11-29 14:50 UTC), ..HOUR };
        assert!(!said(called_at, past).contains("Nobody"), "of what came after it nothing is known");
    }
}

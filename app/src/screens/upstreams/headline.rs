//! The first line: which breakers are open and since when, or whether any was.

use time::OffsetDateTime;

use super::api::Charted;
use crate::breakers::{HeldBack, Opened};
use crate::domain::moment::{Dated, is_past};
use crate::domain::numbers::{count, list, were};
use crate::domain::window::Window;

/// Of which window it tells, with how much of a date at least, and when.
pub struct Telling {
    pub window: Window,
    pub dated: Dated,
    pub now: OffsetDateTime,
}

impl Telling {
    fn second(&self, at: OffsetDateTime) -> String {
        self.dated.enough(at, self.now).second(at)
    }

    /// Of a window that is over nothing is said about the present.
    fn is_over(&self) -> bool {
        self.window.to < self.now
    }
}

/// `opened` are those of `upstreams` whose breakers were open, and `held_back` is what all of them held back.
pub fn headline(upstreams: &[Charted], opened: &[Opened], held_back: HeldBack, telling: &Telling) -> String {
    if upstreams.is_empty() {
        return "There is no upstream yet.".into();
    }
    let lasting: Vec<&Opened> = opened.iter().filter(|opened| opened.newest.to.is_none()).collect();
    match lasting.as_slice() {
        [] => {
            let alone = if let [one] = upstreams { Some(one.upstream.name.as_str()) } else { None };
            past(alone, opened, held_back, telling)
        }
        [one] => {
            let name = &one.newest.upstream;
            let often = match one.times {
                1 => String::new(),
                times => format!("Open {} since {}: ", count(times, "time"), telling.second(one.first)),
            };
            let charted = upstreams.iter().find(|charted| charted.upstream.name == *name);
            format!(
                "{name}’s breaker has been open since {}: {}. {often}{}{}",
                telling.second(one.newest.from),
                one.newest.reason,
                held(one.held, one.first < telling.window.from),
                charted.and_then(|charted| waiting(charted, telling)).unwrap_or_default()
            )
        }
        several => {
            let names: Vec<&str> = several.iter().map(|opened| opened.newest.upstream.as_str()).collect();
            let all = if opened.len() > several.len() { "All breakers together: " } else { "" };
            format!("The breakers of {} are open. {all}{}", list(&names), held(held_back, true))
        }
    }
}

/// What an open breaker waits for, if the window goes on: " Nobody has called it since 14:06. The next request finds out whether
/// it is back."
fn waiting(charted: &Charted, telling: &Telling) -> Option<String> {
    if telling.is_over() {
        return None;
    }
    let called = match charted.traffic.last_arrival() {
        None => Some("in this window".to_owned()),
        Some(last) if is_past(last, telling.now) => {
            Some(format!("since {}", telling.dated.enough(last, telling.now).minute(last)))
        }
        Some(_) => None,
    };
    let uncalled = called.map(|called| format!(" Nobody has called it {called}.")).unwrap_or_default();
    let is_due = charted.upstream.due_at.is_some_and(|due| due <= telling.now);
    let due = if is_due { " The next request finds out whether it is back." } else { "" };
    Some(uncalled + due)
}

/// Nothing is open now. `alone` is who is there alone.
fn past(alone: Option<&str>, opened: &[Opened], held_back: HeldBack, telling: &Telling) -> String {
    let closed = match (alone, telling.is_over()) {
        (_, true) => None,
        (Some(name), false) => Some(format!("{name}’s breaker is closed")),
        (None, false) => Some("All breakers are closed".to_owned()),
    };
    let names: Vec<&str> = opened.iter().map(|opened| opened.newest.upstream.as_str()).collect();
    let was_open = match (names.as_slice(), alone, &closed) {
        ([], Some(_), Some(closed)) => return format!("{closed}, and was not open in this window."),
        ([], None, Some(closed)) => return format!("{closed}, and none was open in this window."),
        ([], Some(name), None) => return format!("{name}’s breaker was not open in this window."),
        ([], None, None) => return "No breaker was open in this window.".into(),
        ([name], None, Some(_)) => format!("{name}’s was open"),
        ([_], Some(_), Some(_)) => "it was open".to_owned(),
        ([name], _, None) => format!("{name}’s breaker was open"),
        (names, _, Some(_)) => format!("those of {} were open", list(names)),
        (names, _, None) => format!("The breakers of {} were open", list(names)),
    };
    let times: u64 = opened.iter().map(|opened| opened.times).sum();
    let often = match (names.len() as u64, times) {
        (1, 1) => "once".to_owned(),
        (1, times) => count(times, "time"),
        (n, times) if n == times => "once each".to_owned(),
        (_, times) => format!("{} in all", count(times, "time")),
    };
    let begun = closed.map(|closed| format!("{closed}; ")).unwrap_or_default();
    format!("{begun}{was_open} {often} in this window. {}", held(held_back, false))
}

/// "312 requests of 4 partners were held back."
fn held(HeldBack { requests, partners }: HeldBack, in_this_window: bool) -> String {
    let whose = match partners {
        0 => String::new(),
        named => format!(" of {}", count(named, "partner")),
    };
    let here = if in_this_window { " in this window" } else { "" };
    match requests {
        0 => format!("Nobody was held back{here}."),
        n => format!("{}{whose} {} held back{here}.", count(n, "request"), were(n)),
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

    fn opened(to: Option<OffsetDateTime>, requests: u64, partners: u64) -> Opened {
        let from = datetime!(2026-11-29 14:41:07 UTC);
        Opened { newest: outage(from, to), times: 1, first: from, held: HeldBack { requests, partners } }
    }

    fn said(charted: &[Charted], opened: &[Opened], window: Window) -> String {
        let held_back = HeldBack {
            requests: opened.iter().map(|opened| opened.held.requests).sum(),
            partners: opened.iter().map(|opened| opened.held.partners).max().unwrap_or(0),
        };
        headline(charted, opened, held_back, &Telling { window, dated: Dated::Not, now: NOW })
    }

    #[test]
    fn an_open_breaker_says_since_when_and_why_and_whom_it_holds_back() {
        assert_eq!(
            said(&[called()], &[opened(None, 312, 2)], HOUR),
            "billing’s breaker has been open since 14:41:07: 5 failures in 10 s, the last: timeout. \
             312 requests of 2 partners were held back."
        );
    }

    #[test]
    fn an_open_breaker_that_was_open_before_tells_what_all_its_times_held_back() {
        let first = datetime!(2026-11-29 14:12:12 UTC);
        assert_eq!(
            said(&[called()], &[Opened { times: 3, first, ..opened(None, 312, 1) }], HOUR),
            "billing’s breaker has been open since 14:41:07: 5 failures in 10 s, the last: timeout. \
             Open 3 times since 14:12:12: 312 requests of 1 partner were held back."
        );
    }

    #[test]
    fn several_open_breakers_tell_what_all_held_back() {
        let orders = Opened {
            newest: Outage { upstream: "orders".into(), ..opened(None, 0, 0).newest },
            ..opened(None, 8, 1)
        };
        assert_eq!(
            said(&[called(), called()], &[opened(None, 312, 2), orders.clone()], HOUR),
            "The breakers of billing and orders are open. 320 requests of 2 partners were held back in this window."
        );
        assert_eq!(
            said(&[called(), called()], &[opened(None, 312, 2), orders, opened(Some(NOW), 80, 1)], HOUR),
            "The breakers of billing and orders are open. All breakers together: 400 requests of 2 partners were held back in this window."
        );
    }

    #[test]
    fn closed_breakers_say_whether_any_was_open() {
        assert_eq!(said(&[], &[], HOUR), "There is no upstream yet.");
        assert_eq!(
            said(&[called()], &[], HOUR),
            "billing’s breaker is closed, and was not open in this window."
        );
        assert_eq!(
            said(&[called()], &[opened(Some(NOW), 3, 0)], HOUR),
            "billing’s breaker is closed; it was open once in this window. 3 requests were held back."
        );
        let both = [called(), called()];
        assert_eq!(
            said(&both, &[opened(Some(NOW), 3, 0)], HOUR),
            "All breakers are closed; billing’s was open once in this window. 3 requests were held back."
        );
        let twice = [opened(Some(NOW), 3, 0), opened(Some(NOW), 0, 0)];
        assert_eq!(
            said(&both, &twice, HOUR),
            "All breakers are closed; those of billing and billing were open once each in this window. 3 requests were held back."
        );
    }

    #[test]
    fn of_a_window_that_is_over_nothing_is_said_about_the_present() {
        let past = Window { to: datetime!(2026-11-29 14:50 UTC), ..HOUR };
        let both = [called(), called()];
        assert_eq!(said(&both, &[], past), "No breaker was open in this window.");
        assert_eq!(said(&[called()], &[], past), "billing’s breaker was not open in this window.");
        assert_eq!(
            said(&both, &[opened(Some(NOW), 3, 0)], past),
            "billing’s breaker was open once in this window. 3 requests were held back."
        );
        let twice = [Opened { times: 2, ..opened(Some(NOW), 3, 0) }, opened(Some(NOW), 0, 0)];
        assert_eq!(
            said(&both, &twice, past),
            "The breakers of billing and billing were open 3 times in all in this window. 3 requests were held back."
        );
    }

    #[test]
    fn what_an_outage_held_back_before_the_window_does_not_count() {
        let quarter = Window { from: datetime!(2026-11-29 14:45 UTC), to: NOW };
        assert_eq!(
            said(&[called()], &[opened(None, 312, 1)], quarter),
            "billing’s breaker has been open since 14:41:07: 5 failures in 10 s, the last: timeout. \
             312 requests of 1 partner were held back in this window."
        );
    }

    #[test]
    fn an_open_breaker_of_what_nobody_calls_any_more_says_since_when() {
        let said_at = |at, window| said(&[called_at(at)], &[opened(None, 312, 1)], window);
        let held_back = "312 requests of 1 partner were held back.";
        let at = datetime!(2026-11-29 14:45 UTC);
        let silent = said_at(at, HOUR);
        assert!(silent.ends_with(&format!("{held_back} Nobody has called it since 14:46.")), "{silent}");
        let mut due = called_at(at);
        due.upstream.due_at = Some(datetime!(2026-11-29 14:47 UTC));
        let due = said(&[due], &[opened(None, 312, 1)], HOUR);
        assert!(due.ends_with("since 14:46. The next request finds out whether it is back."), "{due}");
        assert!(said_at(datetime!(2026-11-29 14:55 UTC), HOUR).ends_with(held_back));
        let never = said_at(datetime!(2026-11-29 13:00 UTC), HOUR);
        assert!(never.ends_with(&format!("{held_back} Nobody has called it in this window.")), "{never}");
        let past = Window { to: datetime!(2026-11-29 14:50 UTC), ..HOUR };
        assert!(!said_at(at, past).contains("Nobody"), "of what came after it nothing is known");
    }
}

//! Times and spans as people read them; all UTC, as the screens say. Every moment on a screen is worded here.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::numbers::{count, grouped};
use super::window::Window;

/// From when on an end is told as "in 3 days" rather than by its date.
const SOON: Duration = Duration::days(7);

/// For how long after it was last seen something goes on.
const STILL: Duration = Duration::minutes(5);

/// How much of its date a moment is told with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dated {
    /// "14:02:11"
    #[default]
    Not,
    /// "29 November, 14:02:11"
    Day,
    /// "29 November 2026, 14:02:11"
    Year,
}

impl Dated {
    /// As much as whoever reads at `now` lacks: of today nothing, and of this year not the year.
    pub fn of(at: OffsetDateTime, now: OffsetDateTime) -> Dated {
        match (at.date() == now.date(), at.year() == now.year()) {
            (true, _) => Dated::Not,
            (_, true) => Dated::Day,
            _ => Dated::Year,
        }
    }

    /// Every moment of a window alike, so that they can be compared. What stands still is read on any day.
    pub fn of_window(window: Window, is_still: bool) -> Dated {
        if is_still { Dated::Year } else { Dated::of(window.from, window.to - Duration::SECOND) }
    }

    /// This much, and no less than `at` needs.
    pub fn enough(self, at: OffsetDateTime, now: OffsetDateTime) -> Dated {
        self.max(Dated::of(at, now))
    }

    /// "29 November", or "29 November 2026".
    pub fn day(self, at: OffsetDateTime) -> String {
        if self == Dated::Year { date(at) } else { format!("{} {}", at.day(), at.month()) }
    }

    /// "14:02"
    pub fn minute(self, at: OffsetDateTime) -> String {
        self.with_day(at, format!("{:02}:{:02}", at.hour(), at.minute()))
    }

    /// "14:02:11"
    pub fn second(self, at: OffsetDateTime) -> String {
        self.with_day(at, clock(at))
    }

    fn with_day(self, at: OffsetDateTime, clock: String) -> String {
        if self == Dated::Not { clock } else { format!("{}, {clock}", self.day(at)) }
    }

    /// "14:00 to 15:00, 29 November", or with both days where they differ. The year is told once if it is the same.
    pub fn window(self, window: Window) -> String {
        let (from, to) = (window.from, window.to);
        if from.date() == to.date() {
            return format!("{} to {}, {}", Dated::Not.minute(from), Dated::Not.minute(to), self.day(from));
        }
        let first = if from.year() == to.year() { Dated::Day } else { Dated::Year };
        format!("{} to {}", first.minute(from), self.max(first).minute(to))
    }

    /// "since 14:20", "from 14:20 to 14:35"; nothing but days for what is known by day.
    pub fn stretch(self, from: OffsetDateTime, to: Option<OffsetDateTime>, by_day: bool) -> String {
        let words = |at| if by_day { self.day(at) } else { self.minute(at) };
        match to {
            None => format!("since {}", words(from)),
            // The end of a day is named by that day.
            Some(to) if by_day => format!("from {} to {}", words(from), words(to - Duration::SECOND)),
            Some(to) => format!("from {} to {}", words(from), words(to)),
        }
    }
}

/// Whether what was last seen by then has not been seen for a while.
pub fn is_past(last: OffsetDateTime, now: OffsetDateTime) -> bool {
    last + STILL <= now
}

/// "12 March 2027".
pub fn date(at: OffsetDateTime) -> String {
    format!("{} {} {}", at.day(), at.month(), at.year())
}

/// "14:03:22".
fn clock(at: OffsetDateTime) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// "14:03:22.180", where the day is told beside it.
pub fn clock_to_the_millisecond(at: OffsetDateTime) -> String {
    format!("{}.{:03}", clock(at), at.millisecond())
}

/// "14:03:22.180, 29 November 2026".
pub fn instant(at: OffsetDateTime) -> String {
    format!("{}, {}", clock_to_the_millisecond(at), date(at))
}

/// "just now", "5 minutes ago", "2 days ago"; the date once that is more than 30 days.
pub fn ago(at: OffsetDateTime, now: OffsetDateTime) -> String {
    let past = now - at;
    if past < Duration::MINUTE {
        "just now".into()
    } else if past > Duration::days(30) {
        date(at)
    } else {
        format!("{} ago", largest_unit(past, whole))
    }
}

/// "in 3 days", "in 40 seconds"; for what is over "now".
pub fn until(at: OffsetDateTime, now: OffsetDateTime) -> String {
    match at - now {
        rest if rest <= Duration::ZERO => "now".into(),
        rest => format!("in {}", largest_unit(rest, nearest)),
    }
}

/// When something ends: "never", from seven days on "in 3 days", before that the date.
pub fn expiry(at: Option<OffsetDateTime>, now: OffsetDateTime) -> String {
    match at {
        None => "never".into(),
        Some(at) if at <= now => ago(at, now),
        Some(at) if at - now <= SOON => until(at, now),
        Some(at) => date(at),
    }
}

/// In the unit of which there are some, but not so many that the next one counts: "3 days", "1 hour", "40 seconds". `times`
/// says how often a unit goes into the span, both in milliseconds.
fn largest_unit(span: Duration, times: fn(i128, i128) -> i128) -> String {
    let units = [("second", 1, 60), ("minute", 60, 60), ("hour", 3_600, 24), ("day", 86_400, i128::MAX)];
    let milliseconds = span.whole_milliseconds().max(1_000);
    let counts = units.map(|(name, size, next)| (name, times(milliseconds, size * 1_000), next));
    let told = counts.into_iter().find(|(_, times, next)| times < next);
    told.map(|(name, times, _)| count(times as u64, name)).unwrap_or_default()
}

/// What is over, is over whole.
fn whole(span: i128, unit: i128) -> i128 {
    span / unit
}

/// What was to last 72 hours a second ago lasts 3 days; half-way it is the lower number.
fn nearest(span: i128, unit: i128) -> i128 {
    (span + unit / 2 - 1) / unit
}

/// A wait as a header's reader says it: "80 ms", "9 s", "2 min 5 s", "1 h 30 min".
pub fn wait(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    let with = |n: i64, unit: &str, rest: i64, smaller: &str| match rest {
        0 => format!("{n} {unit}"),
        rest => format!("{n} {unit} {rest} {smaller}"),
    };
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..120 => format!("{seconds} s"),
        120..7_200 => with(seconds / 60, "min", seconds % 60, "s"),
        7_200..172_800 => with(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => count((seconds / 86_400) as u64, "day"),
    }
}

/// Microseconds as milliseconds: "0.61 ms", "8.4 ms", "1,240 ms".
pub fn milliseconds(micros: i64) -> String {
    match micros {
        ..10_000 => format!("{:.2} ms", micros as f64 / 1000.0),
        10_000..100_000 => format!("{:.1} ms", micros as f64 / 1000.0),
        _ => format!("{} ms", grouped((micros / 1000) as u64)),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-29 12:00 UTC);

    #[test]
    fn an_end_is_told_in_days_once_it_is_seven_days_away() {
        let told = |at| expiry(Some(at), NOW);
        assert_eq!(expiry(None, NOW), "never");
        assert_eq!(told(datetime!(2026-12-06 12:00:01 UTC)), "6 December 2026");
        assert_eq!(told(datetime!(2026-12-06 12:00 UTC)), "in 7 days");
        assert_eq!(told(datetime!(2026-12-02 13:00 UTC)), "in 3 days");
        assert_eq!(told(datetime!(2026-11-29 13:30 UTC)), "in 1 hour");
        assert_eq!(told(datetime!(2026-11-27 12:00 UTC)), "2 days ago");
    }

    #[test]
    fn a_moment_has_as_much_of_a_date_as_its_reader_lacks() {
        let told = |at| Dated::of(at, NOW).second(at);
        assert_eq!(told(datetime!(2026-11-29 09:02:11 UTC)), "09:02:11");
        assert_eq!(told(datetime!(2026-11-28 14:02:11 UTC)), "28 November, 14:02:11");
        assert_eq!(told(datetime!(2025-11-29 14:02:11 UTC)), "29 November 2025, 14:02:11");
        let today = datetime!(2026-11-29 09:02:11 UTC);
        assert_eq!(Dated::Day.enough(today, NOW).second(today), "29 November, 09:02:11");
        assert_eq!(Dated::Not.minute(today), "09:02");
    }

    #[test]
    fn the_moments_of_a_window_are_told_alike_and_those_of_a_still_with_the_year() {
        let last = |span| Dated::of_window(Window::last(span, NOW), false);
        assert_eq!(last(Duration::HOUR), Dated::Not);
        assert_eq!(last(Duration::hours(24)), Dated::Day);
        assert_eq!(last(Duration::days(365)), Dated::Year);
        assert_eq!(Dated::of_window(Window::last(Duration::HOUR, NOW), true), Dated::Year);
        // The end of a day belongs to it.
        let midnight = datetime!(2026-11-30 00:00 UTC);
        let window = Window { from: midnight - Duration::HOUR, to: midnight };
        assert_eq!(Dated::of_window(window, false), Dated::Not);
    }

    #[test]
    fn a_window_names_its_days_and_its_year_once_if_it_has_one() {
        let hour = Window { from: datetime!(2026-11-29 14:00 UTC), to: datetime!(2026-11-29 15:00 UTC) };
        assert_eq!(Dated::Not.window(hour), "14:00 to 15:00, 29 November");
        assert_eq!(Dated::Year.window(hour), "14:00 to 15:00, 29 November 2026");
        let day = Window { from: datetime!(2026-11-28 15:00 UTC), ..hour };
        assert_eq!(Dated::Day.window(day), "28 November, 15:00 to 29 November, 15:00");
        assert_eq!(Dated::Year.window(day), "28 November, 15:00 to 29 November 2026, 15:00");
        let year = Window { from: datetime!(2025-11-29 15:00 UTC), ..hour };
        assert_eq!(Dated::Year.window(year), "29 November 2025, 15:00 to 29 November 2026, 15:00");
    }

    #[test]
    fn a_stretch_names_its_days_where_they_are_not_today() {
        let (from, to) = (datetime!(2026-11-29 14:20 UTC), datetime!(2026-11-29 14:35 UTC));
        assert_eq!(Dated::Not.stretch(from, None, false), "since 14:20");
        assert_eq!(Dated::Not.stretch(from, Some(to), false), "from 14:20 to 14:35");
        let tomorrow = datetime!(2026-11-30 00:00 UTC);
        assert_eq!(Dated::Day.stretch(from, None, false), "since 29 November, 14:20");
        let both = "from 29 November, 14:20 to 30 November, 00:00";
        assert_eq!(Dated::Day.stretch(from, Some(tomorrow), false), both);
        let day = datetime!(2026-11-28 00:00 UTC);
        assert_eq!(Dated::Day.stretch(day, None, true), "since 28 November");
        let days = "from 28 November 2026 to 29 November 2026";
        assert_eq!(Dated::Year.stretch(day, Some(tomorrow), true), days);
    }

    #[test]
    fn an_end_that_has_just_been_set_is_told_as_it_was_asked_for() {
        let told = |at| until(at, NOW);
        assert_eq!(told(datetime!(2026-12-02 11:59:58.5 UTC)), "in 3 days");
        assert_eq!(told(datetime!(2026-11-30 11:59:59 UTC)), "in 1 day");
        assert_eq!(told(datetime!(2026-11-29 12:59:40 UTC)), "in 1 hour");
        assert_eq!(told(datetime!(2026-11-29 12:44 UTC)), "in 44 minutes");
        assert_eq!(told(datetime!(2026-11-29 12:00:59.9 UTC)), "in 1 minute");
        assert_eq!(told(datetime!(2026-11-29 12:00:00.1 UTC)), "in 1 second");
        assert_eq!(told(datetime!(2026-12-01 23:00 UTC)), "in 2 days");
        assert_eq!(told(NOW), "now");
    }

    #[test]
    fn the_past_is_told_in_its_largest_unit() {
        let told = |at| ago(at, NOW);
        assert_eq!(told(datetime!(2026-11-29 11:59:30 UTC)), "just now");
        assert_eq!(told(datetime!(2026-11-29 11:58:30 UTC)), "1 minute ago");
        assert_eq!(told(datetime!(2026-11-27 11:00 UTC)), "2 days ago");
        assert_eq!(told(datetime!(2026-11-27 00:00 UTC)), "2 days ago");
        assert_eq!(told(datetime!(2026-11-29 11:00:01 UTC)), "59 minutes ago");
        assert_eq!(told(datetime!(2026-10-01 11:00 UTC)), "1 October 2026");
    }

    #[test]
    fn waits_and_milliseconds_keep_what_matters() {
        let waits: Vec<_> = [80, 9_000, 125_000, 120_000, 5_400_000, 7_200_000, 86_400_000].map(wait).into();
        assert_eq!(waits, ["80 ms", "9 s", "2 min 5 s", "2 min", "90 min", "2 h", "24 h"]);
        let told: Vec<_> = [610, 12_340, 1_240_000].map(milliseconds).into();
        assert_eq!(told, ["0.61 ms", "12.3 ms", "1,240 ms"]);
    }
}

//! Times and spans as people read them; all UTC, as the screens say.

use time::{Duration, OffsetDateTime};

use super::numbers::{count, grouped};

/// From when on an end is told as "in 3 days" rather than by its date.
const SOON: Duration = Duration::days(7);

/// "12 March 2027".
pub fn date(at: OffsetDateTime) -> String {
    format!("{} {} {}", at.day(), at.month(), at.year())
}

/// "14:03:22".
pub fn clock(at: OffsetDateTime) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// "14:03:22.180, 29 November 2026".
pub fn instant(at: OffsetDateTime) -> String {
    format!("{}.{:03}, {}", clock(at), at.millisecond(), date(at))
}

/// "just now", "5 minutes ago", "2 days ago"; the date once that is more than 30 days.
pub fn ago(at: OffsetDateTime, now: OffsetDateTime) -> String {
    let past = now - at;
    if past < Duration::MINUTE {
        "just now".into()
    } else if past > Duration::days(30) {
        date(at)
    } else {
        format!("{} ago", whole(past))
    }
}

/// "in 3 days", "in 40 seconds"; for what is over "now".
pub fn until(at: OffsetDateTime, now: OffsetDateTime) -> String {
    match at - now {
        rest if rest <= Duration::ZERO => "now".into(),
        rest => format!("in {}", whole(rest)),
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

/// The largest whole unit: "3 days", "1 hour", "40 seconds".
fn whole(span: Duration) -> String {
    let seconds = span.whole_seconds().max(1);
    let units = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)];
    let (name, size) = units.into_iter().find(|(_, size)| seconds >= *size).unwrap_or(("second", 1));
    count((seconds / size) as u64, name)
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
    fn the_past_is_told_in_its_largest_unit() {
        let told = |at| ago(at, NOW);
        assert_eq!(told(datetime!(2026-11-29 11:59:30 UTC)), "just now");
        assert_eq!(told(datetime!(2026-11-29 11:58:30 UTC)), "1 minute ago");
        assert_eq!(told(datetime!(2026-11-27 11:00 UTC)), "2 days ago");
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

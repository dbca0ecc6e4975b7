//! Numbers and times in the middle of a sentence.

use time::Duration;

use super::evidence::Compared;
pub use crate::domain::numbers::{count, grouped, were};

/// "91 %": whole, but never nothing of what is there, and never everything of what is not.
pub fn share(n: u64, of: u64) -> String {
    if n >= of {
        return if of == 0 { "0 %".into() } else { "100 %".into() };
    }
    match (n as f64 / of as f64 * 100.0).round() as u64 {
        0 if n == 0 => "0 %".into(),
        0 => "under 1 %".into(),
        whole => format!("{} %", whole.min(99)),
    }
}

/// "6.2 times"; whole from ten on.
pub fn times(change: Compared<u64>) -> String {
    let ratio = change.now as f64 / change.before.max(1) as f64;
    if ratio >= 9.95 {
        return format!("{} times", grouped(ratio.round() as u64));
    }
    format!("{} times", format!("{ratio:.1}").trim_end_matches(".0"))
}

/// What a window is compared with: "the hour before".
pub fn before(length: Duration) -> String {
    let minutes = length.whole_minutes();
    match minutes {
        1 => "the minute before".into(),
        60 => "the hour before".into(),
        1_440 => "the day before".into(),
        10_080 => "the week before".into(),
        _ if minutes % 1_440 == 0 => format!("the {} days before", minutes / 1_440),
        _ if minutes % 60 == 0 => format!("the {} hours before", minutes / 60),
        _ => format!("the {minutes} minutes before"),
    }
}

/// "3 days ago": of the largest unit of which there are at least two, rounded down.
pub fn ago(age: Duration) -> String {
    let seconds = age.whole_seconds().max(0);
    for (unit, size) in [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)] {
        if seconds >= 2 * size {
            return format!("{} ago", count((seconds / size) as u64, unit));
        }
    }
    "just now".into()
}

/// A wait as a caller thinks of it: "80 ms", "1.5 s", "9 s", "2 minutes", "a day".
pub fn wait(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", format!("{:.1}", ms as f64 / 1e3).trim_end_matches(".0")),
        86_400_000 => "a day".into(),
        _ => lasting(ms * 1_000),
    }
}

/// How long something took in sum: "41 minutes".
pub fn lasting(us: u64) -> String {
    let seconds = us / 1_000_000;
    for (unit, size) in [("day", 86_400), ("hour", 3_600), ("minute", 60)] {
        if seconds >= 2 * size {
            return count((seconds + size / 2) / size, unit);
        }
    }
    match seconds {
        0 => format!("{} ms", us / 1_000),
        _ => count(seconds, "second"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_but_never_rounded_to_nothing_or_all() {
        let shares = [(0, 9), (1, 900), (9, 10), (4_120, 4_524), (999, 1_000), (7, 7), (0, 0)];
        assert_eq!(
            shares.map(|(n, of)| share(n, of)),
            ["0 %", "under 1 %", "90 %", "91 %", "99 %", "100 %", "0 %"]
        );
    }

    #[test]
    fn ratios_have_one_decimal_until_ten() {
        let of = |now, before| times(Compared { now, before });
        assert_eq!(
            [of(5_394, 870), of(300, 100), of(996, 100), of(120_000, 100)],
            ["6.2 times", "3 times", "10 times", "1,200 times"]
        );
    }

    #[test]
    fn what_was_before_has_the_length_of_the_window() {
        let of = |minutes| before(Duration::minutes(minutes));
        assert_eq!(
            [of(15), of(60), of(360), of(1_440), of(10_080), of(43_200), of(61)],
            [
                "the 15 minutes before",
                "the hour before",
                "the 6 hours before",
                "the day before",
                "the week before",
                "the 30 days before",
                "the 61 minutes before"
            ]
        );
    }

    #[test]
    fn spans_are_named_in_the_unit_that_fits() {
        let ages = [Duration::days(3), Duration::hours(47), Duration::minutes(119), Duration::seconds(1)];
        assert_eq!(ages.map(ago), ["3 days ago", "47 hours ago", "119 minutes ago", "just now"]);
        assert_eq!(
            [80, 1_500, 9_000, 300_000, 86_400_000].map(wait),
            ["80 ms", "1.5 s", "9 s", "5 minutes", "a day"]
        );
        assert_eq!(
            [2_457_600_000, 90_000_000, 1_000_000, 400_000].map(lasting),
            ["41 minutes", "90 seconds", "1 second", "400 ms"]
        );
    }
}

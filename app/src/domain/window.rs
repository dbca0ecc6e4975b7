//! A span of whole UTC minutes, and how the rollups of minute, hour and day tile it.

use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Duration, OffsetDateTime, PrimitiveDateTime};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// From inclusive, to exclusive; both on a whole minute, `from < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    #[serde(with = "time::serde::rfc3339")]
    pub from: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub to: OffsetDateTime,
}

/// The width of a rollup row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grain {
    Minute,
    Hour,
    Day,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    #[error("{0:?} is no span of time: write 15m, 1h, 24h or 7d")]
    NotASpan(String),
    #[error("{0:?} is no time: write 2026-01-31T14:00:00Z")]
    NotATime(String),
    #[error("{0:?} is out of reach: write a time from 1970 to 2199")]
    OutOfReach(String),
    #[error("from is not before to: give the earlier time to from")]
    Backwards,
    #[error("a window has both from and to, and {0} is missing")]
    HalfOpen(&'static str),
}

impl Grain {
    pub const ALL: [Grain; 3] = [Grain::Minute, Grain::Hour, Grain::Day];

    pub fn seconds(self) -> i64 {
        match self {
            Grain::Minute => MINUTE,
            Grain::Hour => HOUR,
            Grain::Day => DAY,
        }
    }

    /// The coarsest whose rows fit into steps of so many seconds.
    pub fn within(step: i64) -> Grain {
        let fits = |grain: &Grain| step % grain.seconds() == 0;
        Grain::ALL.into_iter().rev().find(fits).unwrap_or(Grain::Minute)
    }

    /// As in the names of tables and as `date_trunc` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Grain::Minute => "minute",
            Grain::Hour => "hour",
            Grain::Day => "day",
        }
    }
}

impl Window {
    /// Widens both ends to whole minutes.
    pub fn new(from: OffsetDateTime, to: OffsetDateTime) -> Result<Window, WindowError> {
        if from >= to {
            return Err(WindowError::Backwards);
        }
        Ok(Window { from: floor(from, MINUTE), to: ceil(to, MINUTE) })
    }

    /// The last `span` up to and including the minute of `now`.
    pub fn last(span: Duration, now: OffsetDateTime) -> Window {
        let to = floor(now, MINUTE) + Duration::MINUTE;
        Window { from: floor(to - span, MINUTE), to }
    }

    /// The one of the same length before.
    pub fn before(&self) -> Window {
        Window { from: self.from - self.length(), to: self.from }
    }

    pub fn length(&self) -> Duration {
        self.to - self.from
    }

    /// Rollup pieces that tile the window without gap or overlap: minutes to the first whole hour, hours to the first
    /// whole day, days, and back down. At most five.
    pub fn pieces(&self) -> Vec<(Grain, Window)> {
        self.pieces_up_to(Grain::Day)
    }

    /// The same of no coarser grain than `coarsest`.
    pub fn pieces_up_to(&self, coarsest: Grain) -> Vec<(Grain, Window)> {
        let hours = (ceil(self.from, HOUR), floor(self.to, HOUR));
        if coarsest == Grain::Minute || hours.0 >= hours.1 {
            return vec![(Grain::Minute, *self)];
        }
        let days = (ceil(hours.0, DAY), floor(hours.1, DAY));
        let mut cuts = vec![(Grain::Minute, self.from, hours.0)];
        if coarsest == Grain::Hour || days.0 >= days.1 {
            cuts.push((Grain::Hour, hours.0, hours.1));
        } else {
            cuts.push((Grain::Hour, hours.0, days.0));
            cuts.push((Grain::Day, days.0, days.1));
            cuts.push((Grain::Hour, days.1, hours.1));
        }
        cuts.push((Grain::Minute, hours.1, self.to));
        cuts.into_iter()
            .filter(|(_, from, to)| from < to)
            .map(|(grain, from, to)| (grain, Window { from, to }))
            .collect()
    }
}

/// Reads `15m`, `1h`, `24h`, `7d`, `90s`: a whole number above zero and one unit.
pub fn parse_span(text: &str) -> Result<Duration, WindowError> {
    let bad = || WindowError::NotASpan(text.to_owned());
    let unit = text.chars().last().ok_or_else(bad)?;
    let seconds = match unit {
        's' => 1,
        'm' => MINUTE,
        'h' => HOUR,
        'd' => DAY,
        _ => return Err(bad()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| bad())?;
    if number == 0 || text.starts_with('+') || i64::from(number) * seconds > 3660 * DAY {
        return Err(bad());
    }
    Ok(Duration::seconds(i64::from(number) * seconds))
}

/// Reads an RFC 3339 time, also without seconds, or what a `datetime-local` field sends, which is taken as UTC.
pub fn parse_time(text: &str) -> Result<OffsetDateTime, WindowError> {
    let to_the_minute = format_description!("[year]-[month]-[day]T[hour]:[minute]");
    let time = PrimitiveDateTime::parse(text.strip_suffix('Z').unwrap_or(text), to_the_minute)
        .map(PrimitiveDateTime::assume_utc)
        .or_else(|_| OffsetDateTime::parse(text, &Rfc3339))
        .map_err(|_| WindowError::NotATime(text.to_owned()))?;
    // The last of these years has room after it, and the first before it, for all that is reckoned with windows.
    let time =
        time.checked_to_offset(time::UtcOffset::UTC).filter(|time| (1970..2200).contains(&time.year()));
    time.ok_or_else(|| WindowError::OutOfReach(text.to_owned()))
}

fn floor(at: OffsetDateTime, seconds: i64) -> OffsetDateTime {
    let whole = at.unix_timestamp().div_euclid(seconds) * seconds;
    OffsetDateTime::from_unix_timestamp(whole).unwrap_or(at)
}

fn ceil(at: OffsetDateTime, seconds: i64) -> OffsetDateTime {
    let low = floor(at, seconds);
    if low == at { low } else { low + Duration::seconds(seconds) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn the_last_hour_includes_the_minute_that_is_running() {
        let window = Window::last(Duration::HOUR, datetime!(2026-01-01 10:59:30 UTC));
        assert_eq!(window.to, datetime!(2026-01-01 11:00 UTC));
        assert_eq!(window.from, datetime!(2026-01-01 10:00 UTC));
    }

    #[test]
    fn a_month_is_read_from_days_with_hours_and_minutes_at_its_ends() {
        let window =
            Window::new(datetime!(2026-01-01 22:30 UTC), datetime!(2026-01-31 01:15 UTC)).expect("forward");
        let grains: Vec<_> = window.pieces().into_iter().map(|(grain, _)| grain).collect();
        assert_eq!(grains, [Grain::Minute, Grain::Hour, Grain::Day, Grain::Hour, Grain::Minute]);
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for bad in ["", "h", "0m", "-1h", "+1h", "1.5h", "1w", "99999999d", "1 h", "é"] {
            assert!(parse_span(bad).is_err(), "{bad:?}");
        }
        assert_eq!(parse_span("90s"), Ok(Duration::seconds(90)));
        assert_eq!(parse_span("7d"), Ok(Duration::days(7)));
    }

    #[test]
    fn a_time_is_as_addresses_of_pages_have_it_or_with_seconds() {
        let at = datetime!(2026-12-01 00:26 UTC);
        for good in
            ["2026-12-01T00:26Z", "2026-12-01T00:26", "2026-12-01T00:26:00Z", "2026-12-01T01:26:00+01:00"]
        {
            assert_eq!(parse_time(good), Ok(at), "{good}");
        }
        for bad in ["", "yesterday", "2026-12-01", "2026-12-01 00:26", "2026-12-01T24:26Z"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
        for far in
            ["0000-01-01T00:00Z", "1969-12-31T23:59Z", "2200-01-01T00:00Z", "9999-12-31T23:59:59-23:59"]
        {
            assert_eq!(parse_time(far), Err(WindowError::OutOfReach(far.into())));
        }
    }

    proptest! {
        #[test]
        fn pieces_tile_the_window_and_lie_on_their_grain(
            from in 0i64..4_000_000_000,
            length in 1i64..40_000_000,
            coarsest in proptest::sample::select(Grain::ALL.to_vec()),
        ) {
            let at = |s| OffsetDateTime::from_unix_timestamp(s).expect("in range");
            let window = Window::new(at(from), at(from + length)).expect("forward");
            let pieces = window.pieces_up_to(coarsest);
            prop_assert!(pieces.len() <= 5);
            prop_assert!(pieces.iter().all(|(grain, _)| grain.seconds() <= coarsest.seconds()));
            let mut next = window.from;
            for (grain, piece) in pieces {
                prop_assert_eq!(piece.from, next);
                prop_assert!(piece.from < piece.to);
                prop_assert_eq!(piece.from.unix_timestamp() % grain.seconds(), 0);
                prop_assert_eq!(piece.to.unix_timestamp() % grain.seconds(), 0);
                next = piece.to;
            }
            prop_assert_eq!(next, window.to);
        }

        #[test]
        fn any_text_is_a_span_or_an_error(text in ".{0,12}") {
            let _ = parse_span(&text);
            let _ = parse_time(&text);
        }
    }
}

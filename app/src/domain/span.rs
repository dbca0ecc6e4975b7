//! The time window of a screen, as its URL says it: `last=6h`, or `from=…&to=…`.

use std::fmt;
use std::str::FromStr;

use time::{Duration, OffsetDateTime};

use super::moment::Dated;
use super::window::{Window, WindowError, parse_span, parse_time};

/// What the window picker offers: value in the URL, name on the screen.
pub const OFFERED: [(&str, &str); 6] =
    [("15m", "15 m"), ("1h", "1 h"), ("6h", "6 h"), ("24h", "24 h"), ("7d", "7 d"), ("30d", "30 d")];

/// A window that moves with the clock, or one that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Last(Duration),
    Between(Window),
}

impl Span {
    /// Reads the parameters of a URL: the last hour, if it has none.
    pub fn from_url(last: Option<&str>, from: Option<&str>, to: Option<&str>) -> Result<Span, WindowError> {
        match (last, from, to) {
            (None, None, None) => Ok(Span::default()),
            (Some(last), None, None) => Ok(Span::Last(parse_span(last)?)),
            (_, Some(from), Some(to)) => Ok(Span::Between(between(from, to)?)),
            (_, None, _) => Err(WindowError::HalfOpen("from")),
            (_, _, None) => Err(WindowError::HalfOpen("to")),
        }
    }

    /// The parameters that `from_url` reads.
    pub fn to_url(self) -> String {
        match self {
            Span::Last(span) => format!("last={}", short(span)),
            // Neither digits nor these signs need an escape in a query.
            Span::Between(window) => format!("from={}&to={}", minute(window.from), minute(window.to)),
        }
    }

    pub fn window(self, now: OffsetDateTime) -> Window {
        match self {
            Span::Last(span) => Window::last(span, now),
            Span::Between(window) => window,
        }
    }

    /// With how much of a date its moments are told. `window` is what it was at the time of reading.
    pub fn dated(self, window: Window) -> Dated {
        Dated::of_window(window, !self.is_live())
    }

    /// Whether it moves, so that looking again is worth it.
    pub fn is_live(self) -> bool {
        matches!(self, Span::Last(_))
    }
}

impl Default for Span {
    fn default() -> Span {
        Span::Last(Duration::HOUR)
    }
}

/// As a server function takes it.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Last(span) => write!(f, "{}", short(*span)),
            Span::Between(window) => write!(f, "{}/{}", minute(window.from), minute(window.to)),
        }
    }
}

impl FromStr for Span {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Span, WindowError> {
        match text.split_once('/') {
            Some((from, to)) => Ok(Span::Between(between(from, to)?)),
            None => Ok(Span::Last(parse_span(text)?)),
        }
    }
}

fn between(from: &str, to: &str) -> Result<Window, WindowError> {
    Window::new(parse_time(from)?, parse_time(to)?)
}

fn minute(at: OffsetDateTime) -> String {
    let (hour, minute, _) = at.time().as_hms();
    format!("{}T{hour:02}:{minute:02}Z", at.date())
}

fn short(span: Duration) -> String {
    let seconds = span.whole_seconds();
    for (unit, size) in [("d", 86_400), ("h", 3_600), ("m", 60)] {
        // A day is written as 24 h, as the picker offers it.
        if seconds % size == 0 && (unit != "d" || seconds > size) {
            return format!("{}{unit}", seconds / size);
        }
    }
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offered_window_and_any_absolute_one_comes_back_from_its_link() {
        for (value, _) in OFFERED {
            let span: Span = value.parse().expect("is offered");
            assert_eq!(span.to_url(), format!("last={value}"));
            assert_eq!(Span::from_url(Some(value), None, None), Ok(span));
        }
        let span = Span::from_url(None, Some("2026-01-01T10:00"), Some("2026-01-01T11:30:00+01:00"));
        let span = span.expect("is one");
        assert_eq!(span.to_url(), "from=2026-01-01T10:00Z&to=2026-01-01T10:30Z");
        assert_eq!(span.to_string().parse(), Ok(span));
    }

    #[test]
    fn a_link_without_a_window_is_of_the_last_hour_and_one_that_makes_no_sense_is_told() {
        assert_eq!(Span::from_url(None, None, None), Ok(Span::Last(Duration::HOUR)));
        let wrong = |last, from, to| Span::from_url(last, from, to).is_err();
        assert!(wrong(Some("soon"), None, None));
        assert!(wrong(None, Some("2026-01-02T00:00"), Some("2026-01-01T00:00")));
        assert!(wrong(None, Some("2026-01-02T00:00"), None));
    }
}

//! What became of a key's requests, day by day.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::api_key::ApiKey;
use super::moment::ago;
use super::numbers::{count, grouped};
use super::stage::Stage;

/// Days that a sparkline shows, today included.
pub const DAYS: usize = 30;

/// Where a request ended: one of the six stages, or at the upstream.
pub const ENDS: usize = 7;

/// Requests of a day by their end: stopped at each stage, route first, and at last those that reached the upstream.
pub type Day = [u64; ENDS];

/// A key with its last days, the oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyUse {
    pub key: ApiKey,
    pub days: Vec<Day>,
    pub last: Option<LastUse>,
}

/// When a key was last seen, as exactly as it is kept: to the minute at first, later to the hour, at last to the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUse {
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub to: Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exact {
    Minute,
    Hour,
    Day,
}

impl LastUse {
    /// "just now", "5 minutes ago", "this hour", "today", "2 days ago".
    pub fn words(self, now: OffsetDateTime) -> String {
        let (past, here) = match self.to {
            Exact::Minute => (now - self.at, ""),
            Exact::Hour => (now - self.at, "this hour"),
            Exact::Day => (now - self.at, "today"),
        };
        match self.to {
            // The minute that is running counts as now.
            Exact::Minute if past.whole_minutes() < 2 => "just now".into(),
            Exact::Hour if past.whole_hours() < 1 => here.into(),
            Exact::Day if past.whole_days() < 1 => here.into(),
            _ => ago(self.at, now),
        }
    }
}

impl KeyUse {
    pub fn total(&self) -> u64 {
        self.days.iter().flatten().sum()
    }

    /// The sparkline in words.
    pub fn words(&self) -> String {
        let by_end = |end: usize| self.days.iter().map(|day| day[end]).sum::<u64>();
        let total = self.total();
        if total == 0 {
            return "no requests in 30 days".into();
        }
        let mut words = format!(
            "{} in 30 days, {} reached the upstream",
            count(total, "request"),
            grouped(by_end(ENDS - 1))
        );
        for stage in Stage::ALL {
            let stopped = by_end(stage.index());
            if stopped > 0 {
                words += &format!(", {} ended at {}", grouped(stopped), stage.name());
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_key_was_used_as_exactly_as_the_rollups_know() {
        let now = datetime!(2026-11-29 12:10:30 UTC);
        let words = |at, to| LastUse { at, to }.words(now);
        assert_eq!(words(datetime!(2026-11-29 12:09 UTC), Exact::Minute), "just now");
        assert_eq!(words(datetime!(2026-11-29 12:05 UTC), Exact::Minute), "5 minutes ago");
        assert_eq!(words(datetime!(2026-11-29 12:00 UTC), Exact::Hour), "this hour");
        assert_eq!(words(datetime!(2026-11-29 09:00 UTC), Exact::Hour), "3 hours ago");
        assert_eq!(words(datetime!(2026-11-29 00:00 UTC), Exact::Day), "today");
        assert_eq!(words(datetime!(2026-11-27 00:00 UTC), Exact::Day), "2 days ago");
    }
}

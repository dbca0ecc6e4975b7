//! A partner's bucket at a moment, as it would be found by a request.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::numbers::{grouped, tenths};

/// Longer waits are not worth a time of day: a bucket that refills so slowly is said never to be full.
const FOREVER: f64 = 86_400.0 * 365.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    pub plan: String,
    /// Tokens that the full bucket holds.
    pub capacity: u32,
    pub refill_per_second: f64,
    /// Tokens in it at `now`, of which the whole ones can be spent.
    pub level: f64,
    /// By the database's clock.
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

impl Quota {
    /// Requests that would be let through at once. The epsilon is the quota stage's own.
    pub fn left(&self) -> u64 {
        (self.level + 1e-9).floor().max(0.0) as u64
    }

    pub fn is_full(&self) -> bool {
        self.level + 1e-9 >= f64::from(self.capacity)
    }

    /// When it will be full if nobody calls; `None` if it is, or never will be.
    pub fn full_at(&self) -> Option<OffsetDateTime> {
        let seconds = (f64::from(self.capacity) - self.level) / self.refill_per_second;
        (!self.is_full() && seconds.is_finite() && seconds < FOREVER)
            .then(|| self.now + Duration::seconds_f64(seconds))
    }

    /// What the plan gives: "60 at once, one more each second".
    pub fn terms(&self) -> String {
        terms(self.capacity, self.refill_per_second)
    }
}

/// A bucket in words: "60 at once, one more each second".
pub fn terms(capacity: u32, refill_per_second: f64) -> String {
    let more = if refill_per_second <= 0.0 {
        "and no more after that".to_owned()
    } else if refill_per_second >= 1.0 {
        match tenths(refill_per_second).as_str() {
            "1" => "one more each second".to_owned(),
            several => format!("{several} more each second"),
        }
    } else {
        match tenths(1.0 / refill_per_second).as_str() {
            "1" => "one more each second".to_owned(),
            several => format!("one more every {several} seconds"),
        }
    };
    format!("{} at once, {more}", grouped(u64::from(capacity)))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn at(level: f64, refill_per_second: f64) -> Quota {
        let now = datetime!(2026-01-01 12:00 UTC);
        Quota { plan: "free".into(), capacity: 60, refill_per_second, level, now }
    }

    #[test]
    fn only_whole_tokens_are_left_and_the_rest_says_when_it_is_full() {
        let quota = at(12.7, 0.5);
        assert_eq!(quota.left(), 12);
        assert_eq!(quota.full_at(), Some(datetime!(2026-01-01 12:01:34.6 UTC)));
        assert_eq!((at(60.0, 1.0).is_full(), at(60.0, 1.0).full_at()), (true, None));
        assert_eq!((at(3.0, 0.0).left(), at(3.0, 0.0).full_at()), (3, None));
    }

    #[test]
    fn terms_say_what_comes_at_once_and_what_later() {
        let told: Vec<_> = [1.0, 20.0, 0.1, 0.4, 0.0].map(|refill| terms(60, refill)).into();
        assert_eq!(
            told,
            [
                "60 at once, one more each second",
                "60 at once, 20 more each second",
                "60 at once, one more every 10 seconds",
                "60 at once, one more every 2.5 seconds",
                "60 at once, and no more after that",
            ]
        );
        assert_eq!(terms(1_000_000, 25_000.0), "1,000,000 at once, 25,000 more each second");
    }
}

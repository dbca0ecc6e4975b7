//! The database's clock, carried on by this machine's monotonic one: nodes whose own clocks disagree file a request
//! under the same minute, and an expired key expires everywhere at once.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use time::OffsetDateTime;

/// Microseconds since the Unix epoch, UTC, by the database's clock.
pub type Micros = i64;

/// Shared by all threads of a node; reading it takes no lock.
#[derive(Debug)]
pub struct Clock {
    started: Instant,
    /// Database time at `started`.
    offset: AtomicI64,
}

impl Clock {
    /// A clock that reads `now` at this moment.
    pub fn at(now: OffsetDateTime) -> Clock {
        let clock = Clock { started: Instant::now(), offset: AtomicI64::new(0) };
        clock.set(now);
        clock
    }

    /// Follows the database: called with each heartbeat.
    pub fn set(&self, now: OffsetDateTime) {
        let now = (now.unix_timestamp_nanos() / 1000) as i64;
        self.offset.store(now - self.elapsed(self.started), Ordering::Relaxed);
    }

    pub fn now(&self) -> Micros {
        self.offset.load(Ordering::Relaxed) + self.elapsed(self.started)
    }

    fn elapsed(&self, since: Instant) -> i64 {
        since.elapsed().as_micros() as i64
    }
}

//! Requests by what became of them, and a window's beside those of the one before.

use time::OffsetDateTime;

use crate::domain::funnel::Line;
use crate::domain::histogram::Histogram;
use crate::domain::outcome::{Outcome, Where};
use crate::domain::stage::Stage;
use crate::domain::total::Total;

/// A number, or several, of the window and of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared<T> {
    pub now: T,
    pub before: T,
}

/// Requests by what became of them. `arrived` is the sum of the others, save those that are a part of the line before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub arrived: u64,
    /// Ended at the route or key stage.
    pub unidentified: u64,
    /// Part of it: named no route.
    pub no_route: u64,
    /// Part of it: no key, or none that was ever made.
    pub no_key: u64,
    /// Part of it: the key had been revoked or had expired.
    pub ended_key: u64,
    /// Part of it: the key is not allowed there.
    pub barred: u64,
    /// Part of it: the partner is suspended.
    pub suspended: u64,
    /// Refused as first attempts.
    pub spent: u64,
    /// Refused as retries before their time.
    pub early: u64,
    /// Anything else at the quota stage: Toll's own failures, clients that left.
    pub unmetered: u64,
    /// Served from cache.
    pub cached: u64,
    /// Ended at the cache stage unserved.
    pub uncached: u64,
    /// Held back by the breaker.
    pub held: u64,
    /// Part of it: the upstream had as many at once as it may have.
    pub saturated: u64,
    /// Could not be sent.
    pub unsent: u64,
    /// Part of it: no connection.
    pub unreachable: u64,
    pub reached: u64,
    /// Part of it: the upstream said that what is stored still holds.
    pub revalidated: u64,
    /// Part of it: answered with 5xx.
    pub failed: u64,
    /// Part of it: timed out, or broken off before an answer.
    pub unanswered: u64,
    /// Part of it: the client left before there was an answer.
    pub left: u64,
    /// Calls to the upstream by requests that the cache served: revalidations in the background.
    pub refreshed: u64,
    /// Microseconds that requests spent with the upstream.
    pub upstream_us: u64,
    /// How long those that reached the upstream took.
    pub latency: Histogram,
    /// The end of the minute, hour or day in which the last of them arrived, where that was read.
    pub last_arrived: Option<OffsetDateTime>,
    /// The same of those that a quota refused.
    pub last_refused: Option<OffsetDateTime>,
    /// The same of those whose key is not allowed there.
    pub last_barred: Option<OffsetDateTime>,
    /// The same of those that came as far as the breaker.
    pub last_at_breaker: Option<OffsetDateTime>,
}

/// What an upstream made of the requests for it, as far as they came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub reached: u64,
    /// Part of it: answered with 5xx.
    pub failed: u64,
    /// Part of it: timed out, or broken off before an answer.
    pub unanswered: u64,
    /// No connection.
    pub unreachable: u64,
    /// Stopped before it; what the cache serves is not.
    pub stopped: u64,
    /// Part of it: held back by its breaker.
    pub held: u64,
}

impl Answers {
    /// Requests that it was asked to answer, and did not, or with 5xx.
    pub fn faults(&self) -> u64 {
        self.failed + self.unanswered + self.unreachable
    }

    /// Requests that were to go to it, whether it could be reached or not.
    pub fn tried(&self) -> u64 {
        self.reached + self.unreachable
    }

    pub fn merge(&mut self, other: &Answers) {
        self.reached += other.reached;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.unreachable += other.unreachable;
        self.stopped += other.stopped;
        self.held += other.held;
    }
}

impl Compared<u64> {
    /// How many more than before.
    pub fn rise(self) -> u64 {
        self.now.saturating_sub(self.before)
    }
}

impl Compared<Tally> {
    pub fn of(self, part: impl Fn(&Tally) -> u64) -> Compared<u64> {
        Compared { now: part(&self.now), before: part(&self.before) }
    }
}

impl Tally {
    pub fn add(&mut self, total: &Total) {
        let Line { stage, outcome, reached, upstream_class: class, requests: n } = total.line;
        self.arrived += n;
        self.last_arrived = self.last_arrived.max(total.until);
        if matches!(outcome, Outcome::QuotaSpent | Outcome::QuotaEarlyRetry) {
            self.last_refused = self.last_refused.max(total.until);
        }
        if outcome == Outcome::KeyNotAllowed {
            self.last_barred = self.last_barred.max(total.until);
        }
        if stage >= Stage::Breaker {
            self.last_at_breaker = self.last_at_breaker.max(total.until);
        }
        if reached {
            self.reached += n;
            self.upstream_us += total.upstream_us;
            self.latency.add(&total.latency);
            self.revalidated += if outcome == Outcome::Revalidated { n } else { 0 };
            self.failed += if class == 5 { n } else { 0 };
            let is_unanswered = matches!(outcome, Outcome::UpstreamTimeout | Outcome::UpstreamBroken);
            self.left += if class == 0 && outcome == Outcome::ClientGone { n } else { 0 };
            self.unanswered += if class == 0 && is_unanswered { n } else { 0 };
            return;
        }
        let place = match stage {
            Stage::Route | Stage::Key => {
                match outcome {
                    Outcome::NoRoute => self.no_route += n,
                    Outcome::KeyMissing | Outcome::KeyMalformed | Outcome::KeyUnknown => self.no_key += n,
                    Outcome::KeyRevoked | Outcome::KeyExpired => self.ended_key += n,
                    Outcome::KeyNotAllowed => self.barred += n,
                    Outcome::PartnerSuspended => self.suspended += n,
                    _ => {}
                }
                &mut self.unidentified
            }
            Stage::Quota if outcome == Outcome::QuotaSpent => &mut self.spent,
            Stage::Quota if outcome == Outcome::QuotaEarlyRetry => &mut self.early,
            Stage::Quota => &mut self.unmetered,
            Stage::Cache if Outcome::FROM_CACHE.contains(&outcome) => {
                self.refreshed += total.upstream_calls;
                &mut self.cached
            }
            Stage::Cache => &mut self.uncached,
            Stage::Breaker if outcome.place() == Where::At(Stage::Breaker) => {
                self.saturated += if outcome == Outcome::BreakerSaturated { n } else { 0 };
                &mut self.held
            }
            Stage::Breaker | Stage::Proxy => {
                self.unreachable += if outcome == Outcome::UpstreamUnreachable { n } else { 0 };
                &mut self.unsent
            }
        };
        *place += n;
    }

    pub fn merge(&mut self, other: &Tally) {
        self.arrived += other.arrived;
        self.unidentified += other.unidentified;
        self.no_route += other.no_route;
        self.no_key += other.no_key;
        self.ended_key += other.ended_key;
        self.barred += other.barred;
        self.suspended += other.suspended;
        self.spent += other.spent;
        self.early += other.early;
        self.unmetered += other.unmetered;
        self.cached += other.cached;
        self.uncached += other.uncached;
        self.held += other.held;
        self.saturated += other.saturated;
        self.unsent += other.unsent;
        self.unreachable += other.unreachable;
        self.reached += other.reached;
        self.revalidated += other.revalidated;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.left += other.left;
        self.refreshed += other.refreshed;
        self.upstream_us += other.upstream_us;
        self.latency.add(&other.latency);
        self.last_arrived = self.last_arrived.max(other.last_arrived);
        self.last_refused = self.last_refused.max(other.last_refused);
        self.last_barred = self.last_barred.max(other.last_barred);
        self.last_at_breaker = self.last_at_breaker.max(other.last_at_breaker);
    }

    /// Requests for which there was a token, or that needed none.
    pub fn passed_quota(&self) -> u64 {
        self.cached + self.uncached + self.held + self.unsent + self.reached
    }

    /// Those of them that no breaker held back.
    pub fn went_on(&self) -> u64 {
        self.passed_quota() - self.held
    }

    pub fn answers(&self) -> Answers {
        Answers {
            reached: self.reached,
            failed: self.failed,
            unanswered: self.unanswered,
            unreachable: self.unreachable,
            stopped: self.unidentified + self.spent + self.early + self.unmetered + self.uncached + self.held,
            held: self.held,
        }
    }

    pub fn faults(&self) -> u64 {
        self.answers().faults()
    }

    /// Whether most of what was let through was no use to the caller by the upstream's fault: it asks again for a reason.
    pub fn was_failed(&self) -> bool {
        let lost = self.faults() + self.held;
        lost > 0 && lost * 2 >= self.passed_quota()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::funnel::tests::any_line;

    proptest! {
        #[test]
        fn every_end_is_on_one_line_of_a_tally(ends in proptest::collection::vec(any_line(), 0..50)) {
            let mut tally = Tally::default();
            ends.iter().for_each(|end| tally.add(&Total::counted(1, *end)));
            let before = tally.unidentified + tally.spent + tally.early + tally.unmetered;
            prop_assert_eq!(tally.arrived, ends.iter().map(|end| end.requests).sum::<u64>());
            prop_assert_eq!(tally.arrived, before + tally.passed_quota());
            let parts = tally.no_route + tally.no_key + tally.ended_key + tally.barred + tally.suspended;
            prop_assert!(parts <= tally.unidentified && tally.unreachable <= tally.unsent);
            prop_assert!(tally.saturated <= tally.held);
            prop_assert!(tally.failed + tally.unanswered + tally.left <= tally.reached);
        }
    }

    #[test]
    fn a_client_that_left_is_nobodys_fault() {
        let end = |stage, reached| {
            let outcome = Outcome::ClientGone;
            Total::counted(1, Line { stage, outcome, reached, upstream_class: 0, requests: 1 })
        };
        let mut tally = Tally::default();
        tally.add(&end(Stage::Breaker, false));
        tally.add(&end(Stage::Proxy, true));
        assert_eq!((tally.held, tally.faults(), tally.left, tally.arrived), (0, 0, 1, 2));
    }
}

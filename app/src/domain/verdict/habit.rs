//! Habit: whether a partner's early retries come from callers that do not wait.
//!
//! The label of one early retry cannot tell. Of several callers with one key and address, of which each waits as it was
//! asked to, almost every request comes before the wait of another is over. Whoever waits comes back when a wait ends,
//! and of such callers there are seldom many: what needs neither to be explained accuses nobody.

use time::{Duration, OffsetDateTime};

/// So many callers that wait, all with the same request, key and address, are not believed in: where each comes when the one
/// before has its answer, as a single caller does, and where some come at once.
pub const MANY: u64 = 30;
pub const MANY_AT_ONCE: u64 = 120;
/// Nor so many that come one after the other at one pace, as a single caller does: of callers that wait, each on its own
/// clock, some come close together and others far apart.
pub const FEW: u64 = 5;
/// Nor so many of which all but a twentieth come when no wait has ended, or dozens of which three quarters do. Devices that
/// look at their own times come so too, a few of them by chance.
pub const SOME: u64 = 8;
pub const DOZENS: u64 = 24;
/// Who is told to wait in whole seconds is back a moment after.
const MOMENT: Duration = Duration::milliseconds(250);

/// How the newest early retries came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habit {
    /// Of the middle one: how long it had waited, and how long it had been asked to wait. Milliseconds.
    pub waited_ms: u64,
    pub asked_ms: u64,
    /// How many were looked at, and for how many of them the same request had been refused before and was told to wait
    /// longer. The others were sent too early too, but they were not retries: a job that goes on with the next item.
    pub looked_at: u64,
    pub repeated: u64,
    /// How many of these came when no earlier wait of the same request had just ended.
    pub unbidden: u64,
    /// How many callers there would have to be if all waited: refusals whose time was not over, at the middle one.
    pub callers: u64,
    /// Whether they came one after the other, and at one pace.
    pub is_in_turn: bool,
    pub is_steady: bool,
    /// Whether they came several at a time: what was waited is not what any of them waited.
    pub is_crowd: bool,
}

/// A refusal at the quota stage, from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Equal numbers are the same key at the same address, and the same request of theirs.
    pub caller: i64,
    pub request: i64,
    pub at: OffsetDateTime,
    pub answered_at: OffsetDateTime,
    pub is_early: bool,
    /// How long it was asked to wait, and how long it had waited if it was the same request again.
    pub asked_ms: u64,
    pub waited_ms: Option<u64>,
}

impl Refusal {
    fn until(&self) -> OffsetDateTime {
        self.at + Duration::milliseconds(self.asked_ms as i64)
    }

    /// Whether somebody who was refused here and waits would come back at `at`.
    fn brings_back(&self, at: OffsetDateTime) -> bool {
        let late = at - self.until();
        !late.is_negative() && late <= MOMENT + Duration::milliseconds(self.asked_ms as i64 / 4)
    }
}

impl Habit {
    /// Of refusals in the order in which they came. None if none of them is an early retry.
    pub fn of(refusals: &[Refusal]) -> Option<Habit> {
        let early: Vec<(usize, &Refusal)> =
            refusals.iter().enumerate().filter(|(_, refusal)| refusal.is_early).collect();
        let (mut repeated, mut unbidden, mut callers) = (0, 0, Vec::new());
        for (index, retry) in &early {
            let past = &refusals[..*index];
            let mut same = past.iter().filter(|r| r.request == retry.request);
            let is_awaited = same.clone().next_back().is_some_and(|last| last.until() > retry.at);
            if retry.waited_ms.is_none() || !is_awaited {
                continue;
            }
            repeated += 1;
            unbidden += u64::from(!same.any(|r| r.brings_back(retry.at)));
            let waiting = past.iter().filter(|r| r.caller == retry.caller && r.until() > retry.at);
            callers.push(1 + waiting.count() as u64);
        }
        let (gaps, overlaps) = gaps(refusals);
        let at = |share: usize| gaps.get(gaps.len() * share / 100).copied().unwrap_or_default();
        // A client has its answer a moment before the gateway is done with it.
        let is_in_turn = overlaps * 50 <= gaps.len();
        Some(Habit {
            asked_ms: middle(early.iter().map(|(_, retry)| retry.asked_ms).collect())?,
            waited_ms: middle(early.iter().filter_map(|(_, retry)| retry.waited_ms).collect()).unwrap_or(0),
            looked_at: early.len() as u64,
            repeated,
            unbidden,
            callers: middle(callers).unwrap_or(0),
            is_in_turn,
            is_steady: is_in_turn && at(90) <= at(10) * 3,
            is_crowd: overlaps > 0 && overlaps * 10 >= gaps.len(),
        })
    }

    /// Whether most were the same requests again, from callers that do not wait.
    pub fn is_hasty(&self) -> bool {
        let is_retrying = self.looked_at > 0 && self.repeated * 2 >= self.looked_at;
        let is_paced = self.callers >= FEW && self.is_steady;
        let is_unbidden = self.callers >= SOME && self.unbidden * 20 >= self.repeated * 19
            || self.callers >= DOZENS && self.unbidden * 4 >= self.repeated * 3;
        let are_many = self.callers >= if self.is_in_turn { MANY } else { MANY_AT_ONCE };
        is_retrying && !self.is_patient() && (are_many || is_paced || is_unbidden)
    }

    /// Whether three quarters of the wait and more were kept: impatience, or another clock.
    fn is_patient(&self) -> bool {
        self.waited_ms * 4 >= self.asked_ms * 3
    }
}

/// Sorted times from one refusal to the next of its caller, and how many came before the one before was answered.
fn gaps(refusals: &[Refusal]) -> (Vec<Duration>, usize) {
    let (mut gaps, mut overlaps) = (Vec::new(), 0);
    for (index, refusal) in refusals.iter().enumerate() {
        if let Some(last) = refusals[..index].iter().rfind(|r| r.caller == refusal.caller) {
            gaps.push(refusal.at - last.at);
            overlaps += usize::from(refusal.at < last.answered_at);
        }
    }
    gaps.sort_unstable();
    (gaps, overlaps)
}

fn middle(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests;

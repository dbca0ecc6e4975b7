//! What this node last saw of each bucket: what it goes on from while the database is away.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Mutex;
use std::time::Instant;

use super::{Ask, NEVER, Verdict};

#[derive(Debug, Default)]
pub struct LocalBuckets {
    buckets: Mutex<HashMap<i64, LocalBucket>>,
}

#[derive(Debug)]
struct LocalBucket {
    tokens: f64,
    seen: Instant,
    capacity: f64,
    refill: f64,
    /// Granted here and not yet taken from the database's bucket.
    owed: f64,
}

impl LocalBuckets {
    /// The database said that the partner of `ask` has `tokens` left.
    pub fn saw(&self, ask: &Ask, tokens: f64) {
        let mut buckets = self.lock();
        let owed = buckets.get(&ask.partner).map_or(0.0, |bucket| bucket.owed);
        let seen =
            LocalBucket { tokens, seen: Instant::now(), capacity: ask.capacity, refill: ask.refill, owed };
        buckets.insert(ask.partner, seen);
    }

    /// Spends from what was last seen; `None` if nothing ever was. A refusal is never labelled a retry: this node does
    /// not know what others answered.
    pub fn spend(&self, ask: &Ask, now: Instant) -> Option<Verdict> {
        let mut buckets = self.lock();
        let bucket = buckets.get_mut(&ask.partner)?;
        (bucket.capacity, bucket.refill) = (ask.capacity, ask.refill);
        let gone = now.saturating_duration_since(bucket.seen).as_secs_f64();
        let before = (bucket.tokens + bucket.refill * gone).min(bucket.capacity);
        let granted = before + 1e-9 >= 1.0;
        bucket.tokens = if granted { (before - 1.0).max(0.0) } else { before };
        bucket.seen = now;
        bucket.owed += f64::from(u8::from(granted));
        Some(Verdict {
            granted,
            tokens_before: before,
            tokens_after: bucket.tokens,
            retry_after: retry_after(bucket),
            early_after_ms: None,
            locally: true,
        })
    }

    /// All debts, which are gone from here unless they come back.
    pub fn owed(&self) -> Owed<'_> {
        let mut buckets = self.lock();
        let mut owed: Vec<_> = buckets
            .iter_mut()
            .filter(|(_, bucket)| bucket.owed > 0.0)
            .map(|(partner, bucket)| {
                (*partner, bucket.capacity, bucket.refill, std::mem::take(&mut bucket.owed))
            })
            .collect();
        owed.sort_by_key(|debt| debt.0);
        Owed { local: self, debts: owed }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i64, LocalBucket>> {
        self.buckets.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Partner, capacity, refill per second and tokens of each debt. When this is dropped unsettled, by whatever becomes of the
/// statement, they are owed as before.
pub struct Owed<'l> {
    local: &'l LocalBuckets,
    debts: Vec<(i64, f64, f64, f64)>,
}

impl Owed<'_> {
    /// The database has taken them.
    pub fn settled(mut self) {
        self.debts.clear();
    }
}

impl Deref for Owed<'_> {
    type Target = [(i64, f64, f64, f64)];

    fn deref(&self) -> &Self::Target {
        &self.debts
    }
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        let mut buckets = self.local.lock();
        for (partner, _, _, tokens) in &self.debts {
            if let Some(bucket) = buckets.get_mut(partner) {
                bucket.owed += tokens;
            }
        }
    }
}

/// As the statement computes it.
fn retry_after(bucket: &LocalBucket) -> u64 {
    if bucket.capacity < 1.0 || bucket.refill <= 0.0 {
        return NEVER;
    }
    (((1.0 - bucket.tokens) / bucket.refill).ceil().max(1.0) as u64).min(NEVER)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn ask(capacity: f64, refill: f64) -> Ask {
        Ask::for_tests(1, capacity, refill)
    }

    #[test]
    fn a_bucket_never_seen_grants_nothing() {
        assert_eq!(LocalBuckets::default().spend(&ask(5.0, 1.0), Instant::now()), None);
    }

    #[test]
    fn what_was_granted_is_owed_once() {
        let local = LocalBuckets::default();
        local.saw(&ask(5.0, 0.0), 2.0);
        let granted = |_| local.spend(&ask(5.0, 0.0), Instant::now()).expect("seen").granted;
        assert_eq!((0..4).map(granted).collect::<Vec<_>>(), [true, true, false, false]);
        // A statement that failed has settled nothing.
        assert_eq!(*local.owed(), [(1, 5.0, 0.0, 2.0)]);
        let owed = local.owed();
        assert_eq!(*owed, [(1, 5.0, 0.0, 2.0)]);
        assert_eq!(*local.owed(), []);
        owed.settled();
        assert_eq!(*local.owed(), []);
    }

    proptest! {
        #[test]
        fn never_more_is_granted_than_was_there_and_came_in(
            start in 0.0f64..50.0, refill in 0.0f64..20.0, gaps in proptest::collection::vec(0u64..500, 1..100),
        ) {
            let local = LocalBuckets::default();
            let ask = ask(50.0, refill);
            local.saw(&ask, start);
            let begin = Instant::now();
            let mut now = begin;
            let mut granted = 0.0;
            for gap in gaps {
                now += Duration::from_millis(gap);
                let verdict = local.spend(&ask, now).expect("seen");
                granted += f64::from(u8::from(verdict.granted));
                prop_assert!(verdict.tokens_after >= 0.0);
                prop_assert!(granted <= start + refill * ((now - begin).as_secs_f64() + 1.0) + 1e-6);
            }
        }

        #[test]
        fn who_waits_as_long_as_told_is_served(start in 0.0f64..1.0, refill in 0.01f64..20.0) {
            let local = LocalBuckets::default();
            let ask = ask(5.0, refill);
            local.saw(&ask, start);
            let now = Instant::now();
            let refused = local.spend(&ask, now).expect("seen");
            prop_assume!(!refused.granted);
            let later = now + Duration::from_secs(refused.retry_after);
            prop_assert!(local.spend(&ask, later).expect("seen").granted);
        }
    }
}

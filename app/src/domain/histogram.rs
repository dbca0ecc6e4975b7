//! Nine latency buckets, and what they can honestly say about a percentile.

use serde::{Deserialize, Serialize};

use super::numbers::grouped;

/// Upper bounds of the first eight buckets in milliseconds, inclusive; the ninth holds what is above.
pub const BOUNDS_MS: [u32; 8] = [5, 10, 25, 50, 100, 250, 1000, 5000];

/// Which bucket a duration in microseconds falls into, 0 to 8.
pub fn bucket_of(micros: u64) -> usize {
    BOUNDS_MS.iter().position(|bound| micros <= u64::from(*bound) * 1000).unwrap_or(BOUNDS_MS.len())
}

/// Counts by bucket; they add up over minutes, nodes and routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    pub counts: [u64; 9],
}

/// A percentile as the buckets know it, in milliseconds. `high` is absent above the last bound ("over 5 s").
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    pub low: u32,
    pub high: Option<u32>,
    /// Linear within the bucket; the lower bound where the bucket has no upper one.
    pub estimate: f64,
}

impl Histogram {
    pub fn observe(&mut self, micros: u64) {
        self.counts[bucket_of(micros)] += 1;
    }

    pub fn add(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The percentile for `q` in 0..=1 by nearest rank; `None` while nothing was observed.
    pub fn percentile(&self, q: f64) -> Option<Percentile> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let rank = ((q * total as f64).ceil() as u64).clamp(1, total);
        let mut below = 0;
        for (bucket, count) in self.counts.iter().copied().enumerate() {
            if below + count >= rank {
                let low = if bucket == 0 { 0 } else { BOUNDS_MS[bucket - 1] };
                let high = BOUNDS_MS.get(bucket).copied();
                let share = (rank - below) as f64 / count as f64;
                let estimate = match high {
                    Some(high) => f64::from(low) + share * f64::from(high - low),
                    None => f64::from(low),
                };
                return Some(Percentile { low, high, estimate: (estimate * 10.0).round() / 10.0 });
            }
            below += count;
        }
        None
    }
}

impl Percentile {
    /// "100–250 ms, about 180" or "over 5 s".
    pub fn words(&self) -> String {
        match self.high {
            Some(high) => {
                let [low, high, about] =
                    [self.low, high, self.estimate.round() as u32].map(|ms| grouped(ms.into()));
                format!("{low}–{high} ms, about {about}")
            }
            None => format!("over {} s", self.low / 1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bound_belongs_to_the_bucket_below_it() {
        assert_eq!(bucket_of(0), 0);
        assert_eq!(bucket_of(5_000), 0);
        assert_eq!(bucket_of(5_001), 1);
        assert_eq!(bucket_of(5_000_000), 7);
        assert_eq!(bucket_of(5_000_001), 8);
    }

    #[test]
    fn nothing_observed_has_no_percentile() {
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    #[test]
    fn above_the_last_bound_only_the_lower_bound_is_known() {
        let mut histogram = Histogram::default();
        histogram.observe(60_000_000);
        let p = histogram.percentile(0.95).expect("one observation");
        assert_eq!((p.low, p.high), (5000, None));
        assert_eq!(p.words(), "over 5 s");
    }

    proptest! {
        #[test]
        fn the_true_percentile_lies_in_the_range_that_is_named(
            mut micros in proptest::collection::vec(0u64..20_000_000, 1..300),
            q in 0.01f64..1.0,
        ) {
            let mut histogram = Histogram::default();
            for m in &micros {
                histogram.observe(*m);
            }
            micros.sort_unstable();
            let rank = ((q * micros.len() as f64).ceil() as usize).clamp(1, micros.len());
            let truth = micros[rank - 1];
            let p = histogram.percentile(q).expect("not empty");
            prop_assert!(truth >= u64::from(p.low) * 1000);
            prop_assert!(p.high.is_none_or(|high| truth <= u64::from(high) * 1000));
            prop_assert!(p.estimate >= f64::from(p.low));
            prop_assert!(p.high.is_none_or(|high| p.estimate <= f64::from(high)));
        }

        #[test]
        fn adding_histograms_is_observing_everything_in_one(
            a in proptest::collection::vec(0u64..9_000_000, 0..50),
            b in proptest::collection::vec(0u64..9_000_000, 0..50),
        ) {
            let of = |values: &[u64]| {
                let mut h = Histogram::default();
                values.iter().for_each(|v| h.observe(*v));
                h
            };
            let mut sum = of(&a);
            sum.add(&of(&b));
            let all: Vec<u64> = a.into_iter().chain(b).collect();
            prop_assert_eq!(sum, of(&all));
        }
    }
}

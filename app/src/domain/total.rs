//! What the rollups say of requests that ended alike on one route: the row that funnels and verdicts are made of.

use time::OffsetDateTime;

use super::cache_miss::CacheMiss;
use super::funnel::Line;
use super::histogram::Histogram;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// 0: none was named.
    pub route: i64,
    /// Without requests it is of calls in the background alone.
    pub line: Line,
    pub cache_miss: Option<CacheMiss>,
    /// The end of the minute, hour or day in which the last of them arrived.
    pub until: Option<OffsetDateTime>,
    pub upstream_calls: u64,
    /// Requests whose quota a node metered alone, while the database was away.
    pub metered_locally: u64,
    /// Microseconds that they spent with the upstream.
    pub upstream_us: u64,
    /// How long those that reached the upstream took.
    pub latency: Histogram,
}

#[cfg(test)]
impl Total {
    /// How requests ended, and nothing else of them.
    pub fn counted(route: i64, line: Line) -> Total {
        Total {
            route,
            line,
            cache_miss: None,
            until: None,
            upstream_calls: 0,
            metered_locally: 0,
            upstream_us: 0,
            latency: Histogram::default(),
        }
    }
}

//! When what is stored may serve instead of an error (RFC 5861 §4, RFC 9111 §4.2.4).

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use crate::ledger::record::End;

/// How asking failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The breaker kept the request back.
    NotAsked,
    Unanswered,
    /// 500, 502, 503 or 504 (RFC 5861 §4).
    Error,
}

impl Failure {
    /// `None`: there is an answer, or the client is to blame that there is none.
    pub fn of(end: &End) -> Option<Failure> {
        match end.outcome {
            Outcome::BreakerOpen | Outcome::BreakerProbing | Outcome::BreakerSaturated => {
                Some(Failure::NotAsked)
            }
            Outcome::UpstreamUnreachable | Outcome::UpstreamTimeout | Outcome::UpstreamBroken => {
                Some(Failure::Unanswered)
            }
            Outcome::Forwarded if matches!(end.upstream_status, 500 | 502 | 503 | 504) => {
                Some(Failure::Error)
            }
            _ => None,
        }
    }

    pub fn nobody_answered(self) -> bool {
        self != Failure::Error
    }
    /// How a request ends that is given a stale answer instead.
    pub fn covered(self) -> (Stage, Outcome) {
        match self {
            Failure::NotAsked => (Stage::Cache, Outcome::CacheStale),
            Failure::Unanswered | Failure::Error => (Stage::Proxy, Outcome::StaleOnError),
        }
    }
}

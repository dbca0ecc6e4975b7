//! What the ledger keeps of one request: the line of the log, and what the rollups are summed from.

use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Micros;

/// Facts gathered on the way through the stages. Ids are 0 until a stage has found them out.
///
/// Nothing here holds a key or a value of a query: `path` is without its query, and text from clients is cut to a length.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Record {
    /// UUIDv7; the time inside is `arrived`.
    pub id: Uuid,
    pub arrived: Micros,
    pub end: Option<End>,
    pub route: i64,
    pub partner: i64,
    pub key: i64,
    pub method: String,
    pub path: String,
    /// The client's `X-Request-Id` if it was acceptable, else `id` as text.
    pub request_id: String,
    pub address: String,
    pub user_agent: String,
    /// Which of the upstream's urls was asked; empty if none.
    pub target: String,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// From the head being read to the last byte being handed over.
    pub duration_us: u64,
    /// Time spent in each stage, route first.
    pub stage_us: [u64; 6],
    pub tokens_before: Option<f64>,
    pub tokens_after: Option<f64>,
    /// What a refusal asked the caller to wait.
    pub retry_asked_ms: Option<i64>,
    /// How long an early retry had waited since the refusal.
    pub retry_waited_ms: Option<i64>,
    pub cache_miss: Option<CacheMiss>,
    pub metered_locally: bool,
    /// Calls that an upstream has seen on behalf of this request.
    pub upstream_calls: u16,
    /// False for upgrades and event streams: counted, but not timed.
    pub timed: bool,
    /// Whether it was refused, and this node had refused the same request before and asked to wait for longer. Last, for
    /// the journal has records without it.
    pub same_again: bool,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub stage: Stage,
    pub outcome: Outcome,
    /// The client's status.
    pub status: u16,
    /// Whether the upstream was reached, and what it said (0: nothing).
    pub reached: bool,
    pub upstream_status: u16,
}

impl Record {
    pub fn new(id: Uuid, arrived: Micros) -> Record {
        Record {
            id,
            arrived,
            end: None,
            route: 0,
            partner: 0,
            key: 0,
            method: String::new(),
            path: String::new(),
            request_id: String::new(),
            address: String::new(),
            user_agent: String::new(),
            target: String::new(),
            bytes_in: 0,
            bytes_out: 0,
            duration_us: 0,
            stage_us: [0; 6],
            tokens_before: None,
            tokens_after: None,
            retry_asked_ms: None,
            retry_waited_ms: None,
            cache_miss: None,
            metered_locally: false,
            upstream_calls: 0,
            timed: true,
            same_again: false,
        }
    }
}

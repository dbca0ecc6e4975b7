//! What one lane has seen since this process began, for `/metrics`.

use std::collections::BTreeMap;

use app::domain::funnel::Line;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use super::record::{End, Record};

const CODES: usize = 128;
const CLASSES: usize = 6;

/// Requests that ended alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ended {
    pub stage: Stage,
    pub outcome: Outcome,
    pub reached: bool,
    /// First digit of the upstream's status; 0 where it was not reached or gave none.
    pub upstream_class: u8,
}

/// Sums over lanes; `arrived` = Σ `ended` + `in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub arrived: u64,
    pub in_flight: u64,
    pub ended: BTreeMap<Ended, u64>,
    /// Calls that upstreams have seen.
    pub upstream_calls: u64,
    /// Requests whose quota was metered by this node alone.
    pub metered_locally: u64,
    /// Requests of an earlier process that were found open, and are `gateway_lost` in the books. Not part of `arrived`.
    pub found_lost: u64,
}

impl Counters {
    /// As a funnel reads them.
    pub fn lines(&self) -> Vec<Line> {
        let line = |(ended, requests): (&Ended, &u64)| Line {
            stage: ended.stage,
            outcome: ended.outcome,
            reached: ended.reached,
            upstream_class: ended.upstream_class,
            requests: *requests,
        };
        self.ended.iter().map(line).collect()
    }
}

/// One lane's counts in a flat table: counting is one addition.
pub(super) struct Tally {
    ended: Vec<u64>,
    upstream_calls: u64,
    metered_locally: u64,
}

impl Tally {
    pub fn new() -> Tally {
        Tally {
            ended: vec![0; Stage::ALL.len() * CODES * 2 * CLASSES],
            upstream_calls: 0,
            metered_locally: 0,
        }
    }

    pub fn count(&mut self, end: &End) {
        let class = if end.reached { usize::from(end.upstream_status / 100).min(CLASSES - 1) } else { 0 };
        let code = end.outcome.code() as usize;
        let index = ((end.stage.index() * CODES + code) * 2 + usize::from(end.reached)) * CLASSES + class;
        self.ended[index] += 1;
    }

    /// What a record says beside its end.
    pub fn count_calls(&mut self, record: &Record) {
        self.upstream_calls += u64::from(record.upstream_calls);
        self.metered_locally += u64::from(record.metered_locally);
    }

    pub fn add_to(&self, counters: &mut Counters) {
        counters.upstream_calls += self.upstream_calls;
        counters.metered_locally += self.metered_locally;
        for (index, count) in self.ended.iter().enumerate().filter(|(_, count)| **count > 0) {
            let code = index / CLASSES / 2 % CODES;
            let ended = Ended {
                stage: Stage::ALL[index / CLASSES / 2 / CODES],
                outcome: Outcome::from_code(code as i16).expect("only codes of outcomes are counted"),
                reached: index / CLASSES % 2 == 1,
                upstream_class: (index % CLASSES) as u8,
            };
            *counters.ended.entry(ended).or_default() += count;
        }
    }
}

//! Double entry. Arrivals are counted at the [`door`], what became of them is written to the [`journal`]; both outlive the
//! process, and a shipper brings both to the database.

pub mod counters;
mod door;
pub mod entry;
mod journal;
mod keeper;
pub mod lane;
mod mapped;
pub mod record;
pub mod recorded;
mod recovery;
mod segment;
mod text;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::counters::Counters;
pub use self::entry::Entry;
use self::journal::Limits;
use self::keeper::Keeper;
pub use self::lane::{BooksFull, Lane};
use crate::clock::Clock;

#[derive(Clone, Debug)]
pub struct LedgerSettings {
    /// Gateway threads: each has a lane to itself.
    pub lanes: usize,
    /// Bound of all journals together; beyond it requests are refused as `books_full`.
    pub journal_bytes: u64,
    /// Size of a journal file.
    pub segment_bytes: usize,
    /// How much a power cut may take. (`kill -9` takes nothing.)
    pub sync_every: Duration,
}

impl Default for LedgerSettings {
    fn default() -> LedgerSettings {
        LedgerSettings {
            lanes: 1,
            journal_bytes: 1 << 30,
            segment_bytes: 16 << 20,
            sync_every: Duration::from_millis(100),
        }
    }
}

/// The books of this node.
pub struct Ledger {
    /// One a gateway thread first; then those that an earlier run with more threads has left something in.
    lanes: Vec<Arc<Lane>>,
    gateway_lanes: usize,
    _keeper: Keeper,
}

impl Ledger {
    /// Opens the books in `dir`, making them if need be, and settles what an earlier process left open.
    /// Only one process at a time may do so.
    pub fn open(dir: &Path, clock: Arc<Clock>, settings: LedgerSettings) -> io::Result<Ledger> {
        let gateway_lanes = settings.lanes.max(1);
        let limits = Limits {
            segment_bytes: settings.segment_bytes,
            lane_bytes: settings.journal_bytes / gateway_lanes as u64,
        };
        fs::create_dir_all(dir)?;
        let mut numbers: Vec<i16> = (0..gateway_lanes as i16).collect();
        numbers.extend(left_behind(dir)?.into_iter().filter(|number| *number >= gateway_lanes as i16));
        let lanes = numbers
            .into_iter()
            .map(|number| {
                let dir = dir.join(format!("lane-{number}"));
                recovery::open(&dir, number, limits, clock.clone()).map(Arc::new)
            })
            .collect::<io::Result<Vec<_>>>()?;
        let keeper = Keeper::start(lanes.clone(), settings.sync_every)?;
        Ok(Ledger { lanes, gateway_lanes, _keeper: keeper })
    }

    /// The lane of gateway thread `n`, counted from 0.
    pub fn lane(&self, n: usize) -> Arc<Lane> {
        self.lanes[n % self.gateway_lanes].clone()
    }

    /// What this process has seen so far.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        for lane in &self.lanes {
            lane.add_to(&mut counters);
        }
        counters
    }
}

/// Numbers of the lanes that have a folder.
fn left_behind(dir: &Path) -> io::Result<Vec<i16>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix("lane-")?.parse::<i16>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

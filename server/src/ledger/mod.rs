//! Double entry. Arrivals are counted at the [`door`], what became of them is written to the [`journal`]; both outlive the
//! process, and a shipper brings both to the database.

mod batch;
pub mod counters;
mod door;
pub mod entry;
pub mod housekeeping;
mod journal;
mod keeper;
pub mod lane;
mod mapped;
mod node;
mod partitions;
pub mod past;
pub mod record;
pub mod recorded;
mod recovery;
mod segment;
mod shipper;
mod state;
mod statement;
mod text;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::domain::numbers::count;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use uuid::Uuid;

use self::counters::Counters;
pub use self::entry::Entry;
use self::housekeeping::Retention;
use self::journal::Limits;
use self::keeper::Keeper;
pub use self::lane::{BooksFull, Lane};
pub use self::node::{Card, public_url};
pub use self::shipper::Health;
use self::shipper::Shipper;
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
    clock: Arc<Clock>,
    identity: Uuid,
    health: watch::Sender<Health>,
    closing: watch::Sender<bool>,
    tasks: Mutex<Vec<AbortHandle>>,
    _keeper: Keeper,
}

/// Not everything was shipped in time. The journal keeps it for the next start.
#[derive(Debug, thiserror::Error)]
#[error("not shipped yet, and kept in the journal: {}", count(*.backlog, "record"))]
pub struct NotFlushed {
    pub backlog: u64,
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
        Ok(Ledger {
            lanes,
            gateway_lanes,
            clock,
            identity: node::identity(dir)?,
            health: watch::Sender::new(Health::Idle),
            closing: watch::Sender::new(false),
            tasks: Mutex::default(),
            _keeper: keeper,
        })
    }

    /// Starts shipping and housekeeping as tasks of the current runtime, over connections of their own. Once a process.
    /// The clock follows the database from then on.
    pub fn start(&self, db: &PgPool, card: Card, retention: Retention) {
        // Durable before the journal is trimmed, whatever the pool's own choice. Compiling a statement of this size
        // takes longer than running it.
        let database =
            (*db.connect_options()).clone().options([("synchronous_commit", "on"), ("jit", "off")]);
        let shipper = Shipper {
            lanes: self.lanes.clone(),
            clock: self.clock.clone(),
            database: database.clone(),
            identity: self.identity,
            incarnation: Uuid::new_v4(),
            card,
            registered: false,
            health: self.health.clone(),
            closing: self.closing.subscribe(),
        };
        self.health.send_replace(Health::Waiting("not connected yet".into()));
        let shipping = tokio::spawn(shipper.run()).abort_handle();
        let keeping = tokio::spawn(housekeeping::run(database, retention)).abort_handle();
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).extend([shipping, keeping]);
    }

    /// For the end of the process, when nobody is inside any more: ships everything, says goodbye, and stops shipping.
    pub async fn flush(&self, deadline: Duration) -> Result<(), NotFlushed> {
        self.closing.send_replace(true);
        let mut health = self.health.subscribe();
        let ended = health.wait_for(|health| matches!(health, Health::Idle | Health::Stopped(_)));
        let _ = tokio::time::timeout(deadline, ended).await;
        for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
        let shipped = self.lanes.iter().all(|lane| lane.is_shipped());
        if shipped { Ok(()) } else { Err(NotFlushed { backlog: self.backlog() }) }
    }

    /// How shipping goes.
    pub fn health(&self) -> Health {
        self.health.borrow().clone()
    }

    /// Records that wait to be shipped.
    pub fn backlog(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.backlog()).sum()
    }

    /// What the journals take up on the disk, and their bound; bytes.
    pub fn journal_bytes(&self) -> (u64, u64) {
        let each = self.lanes.iter().map(|lane| lane.lock().journal.bytes());
        each.fold((0, 0), |sum, lane| (sum.0 + lane.0, sum.1 + lane.1))
    }

    /// Of this node, for as long as its data folder lives.
    pub fn identity(&self) -> Uuid {
        self.identity
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

impl Drop for Ledger {
    fn drop(&mut self) {
        for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
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

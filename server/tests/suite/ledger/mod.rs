//! The books: nothing lost, nothing twice, whatever is killed.

mod auditing;
mod background;
mod full;
mod keeping;
mod killed;
mod rollups;
mod shipping;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::books::audit::Audit;
use app::books::{self, Filter};
use app::domain::funnel::Funnel;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use sqlx::PgPool;
use tempfile::TempDir;
use time::OffsetDateTime;
use toll::clock::Clock;
use toll::ledger::housekeeping::Retention;
use toll::ledger::record::End;
use toll::ledger::{Card, Entry, Health, Ledger, LedgerSettings};

use crate::support::database::TestDatabase;
use crate::support::toll::PATIENCE;

/// A database and a data folder.
struct Books {
    db: TestDatabase,
    dir: TempDir,
}

impl Books {
    async fn new() -> Books {
        Books { db: TestDatabase::new().await, dir: tempfile::tempdir().unwrap() }
    }

    fn open(&self, lanes: usize) -> Ledger {
        open(self.dir.path(), lanes)
    }

    async fn funnel(&self) -> Funnel {
        books::funnel(&self.db.pool, around_now(), &Filter::default()).await.unwrap()
    }

    async fn audit(&self) -> Audit {
        books::audit::audit(&self.db.pool, around_now()).await.unwrap()
    }

    async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.db.pool).await.unwrap()
    }

    /// Waits until the funnel is as it should be.
    async fn until(&self, what: &str, is: impl Fn(&Funnel) -> bool) -> Funnel {
        let began = Instant::now();
        loop {
            let funnel = self.funnel().await;
            if is(&funnel) {
                return funnel;
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain until {what}: {funnel:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Every count that there is says `requests`, and nothing is missing.
    async fn assert_closed(&self, requests: u64) -> Funnel {
        let (funnel, audit) = (self.funnel().await, self.audit().await);
        assert_eq!((funnel.arrived, funnel.unaccounted), (requests, Some(0)), "{funnel:?}");
        assert!(audit.agrees, "{:?}", audit.differences);
        let n = requests as i64;
        let open = audit.open;
        assert_eq!(
            (audit.arrived, audit.totals, audit.rollups, audit.log),
            (n, n - open, n - open, n - open)
        );
        funnel
    }
}

fn open(dir: &Path, lanes: usize) -> Ledger {
    let settings = LedgerSettings { lanes, segment_bytes: 1 << 20, ..LedgerSettings::default() };
    Ledger::open(dir, Arc::new(Clock::at(OffsetDateTime::now_utc())), settings).unwrap()
}

fn start(ledger: &Ledger, db: &PgPool) {
    let card = Card { host: "here".into(), public_url: None };
    ledger.start(db, card, Retention::default());
}

async fn flush(ledger: &Ledger) {
    ledger.flush(PATIENCE).await.unwrap();
}

async fn until_health(ledger: &Ledger, is: impl Fn(&Health) -> bool) {
    let began = Instant::now();
    while !is(&ledger.health()) {
        assert!(began.elapsed() < PATIENCE, "{:?}", ledger.health());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Yesterday to tomorrow.
fn around_now() -> Window {
    let now = OffsetDateTime::now_utc();
    Window::new(now - time::Duration::DAY, now + time::Duration::DAY).unwrap()
}

fn end(stage: Stage, outcome: Outcome) -> End {
    End { stage, outcome, status: outcome.status(), reached: false, upstream_status: 0 }
}

fn forwarded(upstream_status: u16) -> End {
    End { status: upstream_status, reached: true, upstream_status, ..end(Stage::Proxy, Outcome::Forwarded) }
}

fn forward(mut entry: Entry) {
    entry.at(Stage::Proxy);
    entry.sent();
    entry.settle(forwarded(200));
}

/// What a node leaves behind that is killed right now.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            match std::fs::copy(entry.path(), target) {
                // A new segment that got its final name meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                copied => drop(copied.unwrap()),
            }
        }
    }
}

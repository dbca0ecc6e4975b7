//! Brings the lanes to the database, batch by batch, each exactly once; waits while the database is away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use app::away::is_gone;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::batch::Batch;
use super::lane::Lane;
use super::node::{self, Card};
use super::statement::{self, Mark};
use crate::clock::Clock;

/// Records in one statement.
const BATCH: usize = 2_000;
/// How long a record may wait for company.
const TICK: Duration = Duration::from_millis(100);
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A database that has not answered by then counts as away.
const ANSWER: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(500);

/// How the shipper is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Not at work yet, or no more.
    Idle,
    Shipping,
    /// The database is away; the journal keeps what comes.
    Waiting(String),
    /// Needs somebody: nothing is shipped any more.
    Stopped(String),
}

pub(super) struct Shipper {
    pub lanes: Vec<Arc<Lane>>,
    pub clock: Arc<Clock>,
    pub database: PgConnectOptions,
    pub identity: Uuid,
    /// This process.
    pub incarnation: Uuid,
    pub card: Card,
    pub registered: bool,
    pub health: watch::Sender<Health>,
    /// True once the node is stopping: ship what there is, say goodbye, end.
    pub closing: watch::Receiver<bool>,
}

#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("{0}")]
    Database(#[from] sqlx::Error),
    #[error("the database does not answer")]
    Silent(#[from] tokio::time::error::Elapsed),
    #[error("the journal: {0}")]
    Journal(#[from] std::io::Error),
    #[error(
        "another process writes as this node {0}: its data folder was copied, or is used twice; \
         give one of the two a data folder of its own"
    )]
    Taken(Uuid),
    #[error(
        "lane {lane} ends with record {last}, the database has {mark}: this data folder is an older copy; \
         move it away to begin as a new node"
    )]
    Behind { lane: i16, last: u64, mark: i64 },
}

/// A connection that may ship, and where the database stood when it began.
struct Session {
    db: PgConnection,
    node: i32,
    marks: Vec<Mark>,
    heartbeat: Option<Instant>,
}

impl Shipper {
    /// Ends after closing, or when another process has taken over.
    pub async fn run(mut self) {
        loop {
            let Err(fault) = self.ship().await else {
                self.health.send_replace(Health::Idle);
                return;
            };
            if matches!(fault, Fault::Taken(_) | Fault::Behind { .. }) {
                tracing::error!(%fault, "nothing is shipped any more");
                self.health.send_replace(Health::Stopped(fault.to_string()));
                return;
            }
            let waiting = Health::Waiting(fault.to_string());
            // That the database is gone, the gateway says.
            if matches!(&fault, Fault::Database(error) if is_gone(error)) {
                tracing::debug!(%fault, backlog = self.backlog(), "cannot ship for now");
            } else if *self.health.borrow() != waiting {
                tracing::warn!(%fault, backlog = self.backlog(), "cannot ship for now");
            }
            self.health.send_replace(waiting);
            sleep(RETRY).await;
        }
    }

    async fn ship(&mut self) -> Result<(), Fault> {
        let mut session = timeout(ANSWER, self.attach()).await??;
        tracing::debug!(node = session.node, backlog = self.backlog(), "shipping");
        self.health.send_replace(Health::Shipping);
        loop {
            if session.heartbeat.is_none_or(|at| at.elapsed() >= HEARTBEAT) {
                timeout(ANSWER, self.heartbeat(&mut session)).await??;
            }
            let began = Instant::now();
            let closing = *self.closing.borrow_and_update();
            let mut full = false;
            for lane in 0..self.lanes.len() {
                full |= self.ship_lane(&mut session, lane).await? == BATCH as u64;
            }
            if closing && self.lanes.iter().all(|lane| lane.is_shipped()) {
                if self.lanes.iter().all(|lane| lane.open() == 0) {
                    timeout(ANSWER, node::stopped(&mut session.db, session.node, self.incarnation)).await??;
                }
                return Ok(());
            }
            if closing && !full {
                sleep(TICK / 10).await;
            } else if !full {
                // Wakes early to close.
                let _ = timeout(TICK.saturating_sub(began.elapsed()), self.closing.changed()).await;
            }
        }
    }

    /// Connects, registers on the first time, and finds out what the database has. Whether an answer was lost or this
    /// process is new makes no difference.
    async fn attach(&mut self) -> Result<Session, Fault> {
        let mut db = timeout(CONNECT, self.database.connect()).await??;
        let writer = node::writer(&mut db, self.identity).await?;
        let node = match writer {
            Some((node, incarnation)) if self.registered => {
                if incarnation != self.incarnation {
                    return Err(Fault::Taken(self.identity));
                }
                node
            }
            _ => node::register(&mut db, self.identity, self.incarnation, &self.card).await?,
        };
        self.registered = true;
        let mut marks = Vec::with_capacity(self.lanes.len());
        for lane in &self.lanes {
            let mark = node::mark(&mut db, node, lane.number, lane.shipped_seq()).await?;
            let last = lane.last_seq();
            if mark.shipped > last as i64 {
                return Err(Fault::Behind { lane: lane.number, last, mark: mark.shipped });
            }
            lane.skip_to(mark.shipped as u64)?;
            marks.push(mark);
        }
        Ok(Session { db, node, marks, heartbeat: None })
    }

    async fn heartbeat(&self, session: &mut Session) -> Result<(), Fault> {
        let asked = Instant::now();
        let now = node::heartbeat(&mut session.db, session.node, self.incarnation).await?;
        let now = now.ok_or(Fault::Taken(self.identity))?;
        self.clock.set(now + asked.elapsed() / 2);
        session.heartbeat = Some(Instant::now());
        Ok(())
    }

    /// Ships one batch of a lane, if it has anything, and returns how many records that was.
    async fn ship_lane(&self, session: &mut Session, index: usize) -> Result<u64, Fault> {
        let lane = &self.lanes[index];
        let Some(batch) = take(lane.clone()).await? else { return Ok(0) };
        let writer = (session.node, lane.number, self.incarnation);
        let mark = session.marks[index];
        let moved = timeout(ANSWER, statement::ship(&mut session.db, writer, mark, &batch)).await??;
        if !moved {
            // Either another process has taken over, or an earlier statement of ours had come through after all.
            let writer = node::writer(&mut session.db, self.identity).await?;
            if writer.is_none_or(|(_, incarnation)| incarnation != self.incarnation) {
                return Err(Fault::Taken(self.identity));
            }
            session.marks[index] = node::mark(&mut session.db, session.node, lane.number, 0).await?;
            lane.skip_to(session.marks[index].shipped as u64)?;
            return Ok(0);
        }
        session.marks[index] = Mark { shipped: mark.shipped.max(batch.to as i64), batch: mark.batch + 1 };
        lane.shipped(&batch)?;
        Ok(batch.taken())
    }

    fn backlog(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.backlog()).sum()
    }
}

/// Takes a batch and puts what it is made of on the disk first: what is shipped must never be lost here, or its numbers
/// would be given out twice.
async fn take(lane: Arc<Lane>) -> std::io::Result<Option<Batch>> {
    let taking = tokio::task::spawn_blocking(move || {
        let batch = lane.take(BATCH, u64::MAX);
        if batch.is_empty() {
            return Ok(None);
        }
        lane.sync()?;
        Ok(Some(batch))
    });
    taking.await.map_err(std::io::Error::other)?
}

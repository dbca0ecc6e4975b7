//! A past for demonstrations: records of requests that never were, written by the ledger's own statement as a node of their
//! own, so that log, rollups and door are of the same requests as everywhere else.

use std::collections::BTreeSet;

use app::domain::window::Window;
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::batch::{Batch, DoorRow};
use super::door::MINUTE;
use super::lane::id_at;
use super::node::{self, Card};
use super::record::Record;
use super::statement::{self, Mark};
use super::text;
use crate::clock::Micros;

/// One a database, whoever writes: a second demonstration goes on where the first has ended.
const IDENTITY: Uuid = Uuid::from_u128(0x7011_de30_0000_4000_8000_0000_0000_0001);
const HOST: &str = "demo's past";
const LANE: i16 = 0;
/// Records in one statement, about.
const BATCH: usize = 2_000;

#[derive(Debug, thiserror::Error)]
pub enum PastError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("another demo is writing the same past; let it finish")]
    Taken,
}

/// The one writer of the past.
pub struct Past {
    db: PgConnection,
    node: i32,
    incarnation: Uuid,
    mark: Mark,
    records: Vec<(u64, Record)>,
    door: Vec<DoorRow>,
}

impl Past {
    /// Takes over from whoever has written before.
    pub async fn open(db: &PgPool) -> Result<Past, PastError> {
        // As for the shipper: compiling the statement takes longer than running it.
        let mut db = (*db.connect_options()).clone().options([("jit", "off")]).connect().await?;
        let incarnation = Uuid::new_v4();
        let card = Card { host: HOST.to_owned(), public_url: None };
        let node = node::register(&mut db, IDENTITY, incarnation, &card).await?;
        let mark = node::mark(&mut db, node, LANE, 0).await?;
        Ok(Past { db, node, incarnation, mark, records: Vec::new(), door: Vec::new() })
    }

    /// Minutes since the epoch in which no node has counted an arrival: what has happened is not written over.
    pub async fn empty_minutes(&mut self, window: Window) -> Result<Vec<i64>, PastError> {
        let seen: Vec<OffsetDateTime> = sqlx::query_scalar(
            "select distinct at from door_minute where at >= $1 and at < $2 and arrived > 0",
        )
        .bind(window.from)
        .bind(window.to)
        .fetch_all(&mut self.db)
        .await?;
        let minute = |at: &OffsetDateTime| at.unix_timestamp().div_euclid(60);
        let seen: BTreeSet<i64> = seen.iter().map(minute).collect();
        Ok((minute(&window.from)..minute(&window.to)).filter(|minute| !seen.contains(minute)).collect())
    }

    /// All requests of a minute; their times and ids are set here, evenly over it.
    pub async fn write(&mut self, minute: i64, records: Vec<Record>) -> Result<(), PastError> {
        if records.is_empty() {
            return Ok(());
        }
        let count = records.len();
        for (index, mut record) in records.into_iter().enumerate() {
            record.arrived = minute * MINUTE + MINUTE * index as Micros / count as Micros;
            record.id = id_at(record.arrived);
            record.request_id = record.id.to_string();
            text::tidy(&mut record);
            let seq = self.mark.shipped as u64 + self.records.len() as u64 + 1;
            self.records.push((seq, record));
        }
        self.door.push(DoorRow { minute, arrived: count as u64, open: 0 });
        if self.records.len() >= BATCH { self.ship().await } else { Ok(()) }
    }

    /// Ships the rest and says goodbye.
    pub async fn close(mut self) -> Result<(), PastError> {
        if !self.records.is_empty() {
            self.ship().await?;
        }
        node::stopped(&mut self.db, self.node, self.incarnation).await?;
        Ok(self.db.close().await?)
    }

    async fn ship(&mut self) -> Result<(), PastError> {
        let to = self.mark.shipped as u64 + self.records.len() as u64;
        let batch = Batch::of(std::mem::take(&mut self.records), to, std::mem::take(&mut self.door));
        let writer = (self.node, LANE, self.incarnation);
        if !statement::ship(&mut self.db, writer, self.mark, &batch).await? {
            return Err(PastError::Taken);
        }
        self.mark = Mark { shipped: to as i64, batch: self.mark.batch + 1 };
        Ok(())
    }
}

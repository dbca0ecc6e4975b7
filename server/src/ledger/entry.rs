//! A request's line in the books while it is inside. However the request ends, the line is closed once.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use uuid::Uuid;

use super::lane::Lane;
use super::record::{End, Record};
use super::text;
use crate::clock::Micros;

thread_local! {
    /// Where the last entry of this thread was that a panic dropped.
    static FELL_AT: Cell<Stage> = const { Cell::new(Stage::Route) };
}

/// The stage at which a panic that was just caught on this thread has settled its request. The entry itself is gone by
/// then: whoever held it was unwound.
pub(super) fn fell_at() -> Stage {
    FELL_AT.get()
}

/// Owned by its request. Dropped unsettled it says `client_gone`, or `internal` during a panic, at the stage it is in.
pub struct Entry {
    pub record: Box<Record>,
    lane: Arc<Lane>,
    slot: u32,
    id: Uuid,
    arrived: Micros,
    stage: Stage,
    sent: u8,
    settled: bool,
    /// It stands for calls that no request waits for.
    in_background: bool,
    began: Instant,
    stage_began: Instant,
}

impl Entry {
    pub(super) fn new(lane: Arc<Lane>, slot: u32, id: Uuid, arrived: Micros) -> Entry {
        let began = Instant::now();
        Entry {
            record: Box::new(Record::new(id, arrived)),
            lane,
            slot,
            id,
            arrived,
            stage: Stage::Route,
            sent: 0,
            settled: false,
            in_background: false,
            began,
            stage_began: began,
        }
    }

    /// For calls that this request causes and nobody waits for. They are added to what the books say of it. `None`: the
    /// books have no room for them, so they must not be made.
    pub fn for_background(&self) -> Option<Entry> {
        if !self.lane.reserve_calls() {
            return None;
        }
        let began = Instant::now();
        let mut record = Box::new(Record::new(self.id, self.arrived));
        (record.route, record.partner, record.key) =
            (self.record.route, self.record.partner, self.record.key);
        record.request_id.clone_from(&self.record.request_id);
        Some(Entry {
            record,
            lane: self.lane.clone(),
            slot: 0,
            id: self.id,
            arrived: self.arrived,
            stage: self.stage,
            sent: 0,
            settled: true,
            in_background: true,
            began,
            stage_began: began,
        })
    }

    pub fn id(&self) -> Uuid {
        self.id
    }

    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether it was handed to an upstream.
    pub fn reached(&self) -> bool {
        self.sent > 0
    }

    /// The request enters `stage`: time is charged to the one before, and a crash from here on finds it here.
    pub fn at(&mut self, stage: Stage) {
        self.charge();
        self.stage = stage;
        self.mark();
    }

    /// The request was handed to an upstream. Once for each attempt: counts up `record.upstream_calls`.
    pub fn sent(&mut self) {
        self.sent = self.sent.saturating_add(1);
        self.record.upstream_calls = self.record.upstream_calls.saturating_add(1);
        self.mark();
    }

    /// The attempt that was counted last did not happen: the connection closed before any of it was written.
    pub fn not_sent(&mut self) {
        self.sent = self.sent.saturating_sub(1);
        self.record.upstream_calls = self.record.upstream_calls.saturating_sub(1);
        self.mark();
    }

    /// Writes the record and leaves. Only the first call does anything.
    pub fn settle(&mut self, end: End) {
        if self.settled {
            return;
        }
        self.settled = true;
        self.charge();
        let record = &mut self.record;
        // What the door has noted cannot be changed on the way.
        (record.id, record.arrived) = (self.id, self.arrived);
        record.duration_us = self.began.elapsed().as_micros() as u64;
        record.end = Some(end);
        text::tidy(record);
        self.lane.settle(self.slot, record);
    }

    pub fn is_settled(&self) -> bool {
        self.settled
    }

    fn charge(&mut self) {
        let now = Instant::now();
        self.record.stage_us[self.stage.index()] += (now - self.stage_began).as_micros() as u64;
        self.stage_began = now;
    }

    fn mark(&self) {
        if !self.settled {
            let record = &self.record;
            let slot = self.slot as usize;
            self.lane.door.mark(slot, self.stage, self.sent, record.route, record.partner, record.key);
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.in_background {
            return self.lane.settle_calls(&mut self.record);
        }
        let outcome = if std::thread::panicking() { Outcome::Internal } else { Outcome::ClientGone };
        if outcome == Outcome::Internal {
            FELL_AT.set(self.stage);
        }
        self.settle(End {
            stage: self.stage,
            outcome,
            status: outcome.status(),
            reached: self.reached(),
            upstream_status: 0,
        });
    }
}

//! One lane of the ledger: a door and a journal that belong to one gateway thread.
//!
//! Whatever must hold together is done under the lane's lock, which its thread has to itself but for short visits of the
//! shipper: counting an arrival; appending a record and closing its slot, so that no record is shipped whose slot is open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::counters::Counters;
use super::door::{Door, Kind, MINUTE, RING, holdable, minute_of, ring_index};
use super::entry::Entry;
use super::journal::Journal;
use super::record::Record;
use super::segment::Segment;
use super::state::{NO_MINUTE, State, refused};
use crate::clock::{Clock, Micros};

/// The books have no room for another request. It is counted, and its record follows when there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the books have no room")]
pub struct BooksFull {
    /// For the answer; the record that follows has an id of its own.
    pub id: Uuid,
    pub arrived: Micros,
}

pub struct Lane {
    pub number: i16,
    pub(super) door: Door,
    pub(super) clock: Arc<Clock>,
    state: Mutex<State>,
}

impl Lane {
    /// A lane as recovery found it. Slots that are open in the door's file are not taken yet.
    pub(super) fn new(number: i16, door: Door, journal: Journal, clock: Arc<Clock>) -> Lane {
        let state = State::new(&door, journal);
        Lane { number, door, clock, state: Mutex::new(state) }
    }

    /// A request is at the door: counts it, and gives it an id and a place in the books until it is settled.
    pub fn arrive(self: &Arc<Lane>) -> Result<Entry, BooksFull> {
        let arrived = holdable(self.clock.now());
        let id = id_at(arrived);
        let mut state = self.lock();
        state.arrived += 1;
        match state.admit(&self.door, Kind::Request, id, arrived) {
            Some(slot) => {
                drop(state);
                Ok(Entry::new(self.clone(), slot, id, arrived))
            }
            None => {
                state.refuse(&self.door, minute_of(arrived));
                Err(BooksFull { id, arrived })
            }
        }
    }

    /// Ends a request: its record goes to the journal and its slot is free.
    pub(super) fn settle(&self, slot: u32, record: &Record) {
        let mut state = self.lock();
        if state.close(&self.door, slot, record)
            && let Some(end) = &record.end
        {
            state.tally.count(end);
            state.tally.count_calls(record);
        }
    }

    /// Keeps room for the record of calls that no request waits for; false if there is none.
    pub(super) fn reserve_calls(&self) -> bool {
        self.lock().reserve_calls()
    }

    /// Writes down such calls, if there were any. Each `reserve_calls` has one.
    pub(super) fn settle_calls(&self, record: &mut Record) {
        let mut state = self.lock();
        state.calls -= 1;
        if record.upstream_calls == 0 {
            return;
        }
        // An id of its own: that of its request would free the request's slot after a crash. And no bytes or times: these
        // are what requests are made of.
        let calls = Record {
            route: record.route,
            partner: record.partner,
            key: record.key,
            request_id: std::mem::take(&mut record.request_id),
            upstream_calls: record.upstream_calls,
            ..Record::new(id_at(record.arrived), record.arrived)
        };
        match state.journal.append(NO_MINUTE, &calls) {
            Ok(()) => state.tally.count_calls(&calls),
            Err(error) => tracing::error!(%error, "calls could not be written down"),
        }
    }

    /// The same for a request of an earlier process.
    pub(super) fn settle_lost(&self, slot: u32, record: &Record, kind: Kind) {
        let mut state = self.lock();
        if state.close(&self.door, slot, record) && kind == Kind::Request {
            state.found_lost += 1;
        }
    }

    /// Takes over a slot that an earlier process left open.
    pub(super) fn adopt(&self, slot: u32, arrived: Micros) {
        let mut state = self.lock();
        state.free.retain(|free| *free != slot);
        state.open += 1;
        state.minutes[ring_index(minute_of(arrived))].open += 1;
    }

    /// Counts records that recovery found in the journal and that are not shipped.
    pub(super) fn adopt_unshipped(&self, minute: i64, records: u64) {
        let mut state = self.lock();
        if let Some(index) = state.place(&self.door, minute) {
            state.minutes[index].unshipped += records;
            state.touch(index);
        }
    }

    /// Writes records of requests that were refused while the books were full, as far as there is room now.
    pub(super) fn write_refused(&self) {
        let mut index = 0;
        while index < RING {
            // The lock is taken anew for every minute and every few records: the gateway's thread goes first.
            let mut state = self.lock();
            if state.waiting == 0 {
                return;
            }
            for _ in 0..64 {
                let minute = self.door.minute(index);
                if minute.waiting() == 0 {
                    index += 1;
                    break;
                }
                let arrived = minute.minute * MINUTE;
                let id = id_at(arrived);
                let Some(slot) = state.admit(&self.door, Kind::Refused, id, arrived) else { return };
                state.waiting -= 1;
                state.close(&self.door, slot, &refused(id, arrived));
            }
        }
    }

    /// Has the next segment made before it is needed.
    pub(super) fn prepare(&self) {
        let wanted = self.lock().journal.wanted();
        if let Some((path, len)) = wanted {
            let made = Segment::create(&path, len);
            self.lock().journal.take_spare(made);
        }
    }

    /// Puts door and journal on the disk.
    pub(super) fn sync(&self) -> std::io::Result<()> {
        let segments = self.lock().journal.in_use();
        for segment in segments {
            segment.sync()?;
        }
        self.door.sync()
    }

    /// Requests inside, whatever their minute.
    pub fn open(&self) -> usize {
        self.lock().open
    }

    pub(super) fn add_to(&self, counters: &mut Counters) {
        let state = self.lock();
        counters.arrived += state.arrived;
        counters.in_flight += state.open as u64;
        counters.found_lost += state.found_lost;
        state.tally.add_to(counters);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under this lock would be in code that has no way to panic halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A UUIDv7 of this time. The microseconds go where RFC 9562 §6.2 (method 3) has them, so that ids sort by arrival.
pub(super) fn id_at(at: Micros) -> Uuid {
    let mut random: [u8; 10] = rand::random();
    let fraction = (at.rem_euclid(1000) * 4096 / 1000) as u16;
    random[..2].copy_from_slice(&fraction.to_be_bytes());
    uuid::Builder::from_unix_timestamp_millis(at.div_euclid(1000) as u64, &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use app::domain::outcome::Outcome;
    use app::domain::stage::Stage;
    use time::OffsetDateTime;

    use super::*;
    use crate::ledger::record::End;
    use crate::ledger::{Ledger, LedgerSettings};

    #[test]
    fn every_arrival_is_inside_until_it_is_settled_and_once_only() {
        let dir = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(Clock::at(OffsetDateTime::now_utc()));
        let ledger = Ledger::open(dir.path(), clock, LedgerSettings::default()).expect("opens");
        let lane = ledger.lane(0);
        let mut first = lane.arrive().expect("room");
        let second = lane.arrive().expect("room");
        assert_ne!(first.id(), second.id());
        assert_eq!(ledger.counters().in_flight, 2);
        first.at(Stage::Key);
        let end = End {
            stage: Stage::Key,
            outcome: Outcome::KeyMissing,
            status: 401,
            reached: false,
            upstream_status: 0,
        };
        first.settle(end);
        first.settle(end);
        drop(first);
        let mut counters = ledger.counters();
        assert_eq!((counters.arrived, counters.in_flight), (2, 1));
        drop(second);
        counters = ledger.counters();
        assert_eq!((counters.arrived, counters.in_flight), (2, 0));
        let mut ended: Vec<_> = counters.ended.into_iter().map(|(e, n)| (e.stage, e.outcome, n)).collect();
        ended.sort();
        assert_eq!(ended, [(Stage::Route, Outcome::ClientGone, 1), (Stage::Key, Outcome::KeyMissing, 1)]);
    }

    #[test]
    fn an_id_holds_its_time_and_ids_sort_by_it() {
        let at = 1_767_225_600_123_456;
        assert_eq!(id_at(at).get_version_num(), 7);
        let (seconds, nanos) = id_at(at).get_timestamp().expect("a time").to_unix();
        assert_eq!((seconds, nanos / 1_000_000), (1_767_225_600, 123));
        assert!(id_at(at) < id_at(at + 1));
    }
}

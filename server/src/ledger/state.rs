//! What a lane knows in memory: free slots, who is inside and what is unshipped by minute, and the journal's end.
//! Everything here happens under the lane's lock.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use uuid::Uuid;

use super::counters::Tally;
use super::door::{Door, Kind, RING, SLOTS, minute_of, ring_index};
use super::journal::Journal;
use super::record::{End, Record};
use crate::clock::Micros;

/// Under which calls without a request are written: they never were at the door.
pub const NO_MINUTE: i64 = 0;

pub struct State {
    pub free: Vec<u32>,
    /// Slots taken.
    pub open: usize,
    /// What is inside or unshipped, by place in the ring of minutes.
    pub minutes: Vec<Inside>,
    /// Places of the ring that the database does not know all of.
    pub dirty: Vec<u16>,
    /// The place counted at last.
    last: usize,
    /// Refused requests without a record.
    pub waiting: u64,
    pub journal: Journal,
    /// Up to which record everything is shipped.
    pub shipped: u64,
    /// Records of calls without a request for which room is kept.
    pub calls: usize,
    pub tally: Tally,
    pub arrived: u64,
    pub found_lost: u64,
}

/// Of one minute: requests whose slot is open, and records that are not shipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside {
    pub open: u32,
    pub unshipped: u64,
    pub dirty: bool,
}

impl State {
    /// Nobody inside; what the door's file has not shipped is to be.
    pub fn new(door: &Door, journal: Journal) -> State {
        let mut state = State {
            free: (0..SLOTS as u32).rev().collect(),
            open: 0,
            minutes: vec![Inside::default(); RING],
            dirty: Vec::with_capacity(RING),
            last: 0,
            waiting: 0,
            journal,
            shipped: door.shipped_mark(),
            calls: 0,
            tally: Tally::new(),
            arrived: 0,
            found_lost: 0,
        };
        for index in 0..RING {
            let minute = door.minute(index);
            state.waiting += minute.waiting();
            if !minute.is_empty() && minute.came() != minute.shipped {
                state.touch(index);
            }
        }
        state
    }

    /// Counts an arrival and takes a slot, if slot, minute and journal have room: for its record too, and for those of
    /// all who are inside.
    pub fn admit(&mut self, door: &Door, kind: Kind, id: Uuid, arrived: Micros) -> Option<u32> {
        let index = self.place(door, minute_of(arrived))?;
        if !self.journal.make_room(self.open + self.calls + 1) {
            return None;
        }
        let slot = self.free.pop()?;
        door.enter(slot as usize, index, kind, id, arrived);
        self.open += 1;
        self.minutes[index].open += 1;
        self.touch(index);
        Some(slot)
    }

    /// Keeps room for one record that has no slot.
    pub fn reserve_calls(&mut self) -> bool {
        let has_room = self.journal.make_room(self.open + self.calls + 1);
        self.calls += usize::from(has_room);
        has_room
    }

    /// Counts a request that found no room, under its minute or, if the ring is full, under the last one that had a place.
    pub fn refuse(&mut self, door: &Door, minute: i64) {
        let index = self.place(door, minute).unwrap_or(self.last);
        door.refuse(index);
        self.waiting += 1;
        self.touch(index);
        self.tally.count(&FULL);
    }

    /// The minute's place in the ring, unless another minute that is not shipped has it.
    pub fn place(&mut self, door: &Door, minute: i64) -> Option<usize> {
        let index = ring_index(minute);
        let held = door.minute(index);
        if held.minute != minute {
            let inside = self.minutes[index];
            let unshipped = inside.open > 0 || inside.unshipped > 0 || held.waiting() > 0;
            if !held.is_empty() && (unshipped || held.came() != held.shipped) {
                return None;
            }
            door.begin(index, minute);
        }
        self.last = index;
        Some(index)
    }

    /// Appends the record, then frees the slot: killed in between, recovery finds the record and frees the slot.
    pub fn close(&mut self, door: &Door, slot: u32, record: &Record) -> bool {
        let minute = minute_of(record.arrived);
        if let Err(error) = self.journal.append(minute, record) {
            // `admit` keeps room for every open slot, so this is a defect. The slot stays open and thereby in the books.
            tracing::error!(id = %record.id, %error, "a request could not be settled");
            return false;
        }
        door.leave(slot as usize);
        self.free.push(slot);
        self.open -= 1;
        let index = ring_index(minute);
        self.minutes[index].open -= 1;
        self.minutes[index].unshipped += 1;
        self.touch(index);
        true
    }

    pub fn touch(&mut self, index: usize) {
        if !self.minutes[index].dirty {
            self.minutes[index].dirty = true;
            self.dirty.push(index as u16);
        }
    }
}

const FULL: End =
    End { stage: Stage::Route, outcome: Outcome::BooksFull, status: 503, reached: false, upstream_status: 0 };

/// The record of a request that was refused for want of room.
pub fn refused(id: Uuid, arrived: Micros) -> Record {
    Record { end: Some(FULL), request_id: id.to_string(), ..Record::new(id, arrived) }
}

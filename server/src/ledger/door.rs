//! The arrivals side of the books: a mapped file with a slot for each request inside and a count for each minute.
//!
//! Shares no code with the outcomes side. It survives `kill -9`, and stays exact: a slot carries the number that its
//! arrival is about to get, and counts only once the minute has reached that number. So a request that was killed between
//! the two stores was never there.
//!
//! File: a page of header, then `SLOTS` slots of 64 bytes, then a ring of `RING` minutes of 32 bytes.
//! Everything but [`Door::mark`] is called under the lane's lock.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use app::domain::stage::Stage;
use uuid::Uuid;

use super::mapped::Mapped;
use crate::clock::Micros;

/// Requests that can be inside one lane at once.
pub const SLOTS: usize = 16_384;
/// Minutes that can have something unshipped: 68 hours of a database that is away.
pub const RING: usize = 4_096;

const MAGIC: u64 = u64::from_le_bytes(*b"TOLLDR01");
const MARK: usize = 1;
const HEADER_WORDS: usize = 512;
const SLOT_WORDS: usize = 8;
const MINUTE_WORDS: usize = 4;
const RING_AT: usize = HEADER_WORDS + SLOTS * SLOT_WORDS;
const WORDS: usize = RING_AT + RING * MINUTE_WORDS;

/// Microseconds.
pub const MINUTE: i64 = 60_000_000;

/// A minute and its count share a word, so that neither is ever seen without the other.
const COUNT_BITS: u32 = 36;

/// What kind of arrival holds a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Request = 1,
    /// Turned away while the books were full; its record is being written late.
    Refused = 2,
}

/// What the file knows of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub kind: Kind,
    pub id: Uuid,
    pub arrived: Micros,
    pub stage: Stage,
    /// How often it was sent to an upstream.
    pub sent: u8,
    pub route: i64,
    pub partner: i64,
    pub key: i64,
}

/// The counts of one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// Minutes since the Unix epoch.
    pub minute: i64,
    /// Requests that got a slot.
    pub arrived: u64,
    /// Requests that were turned away because the books were full.
    pub refused: u64,
    /// Of the refused, those that got a slot afterwards.
    pub admitted: u64,
    /// `arrived + refused` as last shipped.
    pub shipped: u64,
}

pub struct Door {
    map: Mapped,
}

impl Door {
    pub fn open(path: &Path) -> io::Result<Door> {
        let map = match Mapped::open(path) {
            Ok(map) => map,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let map = Mapped::create(path, WORDS * 8)?;
                map.word(0).store(MAGIC, Release);
                map
            }
            Err(error) => return Err(error),
        };
        // Zero: killed between making the file and marking it.
        let magic = if map.len() == WORDS * 8 { map.word(0).load(Acquire) } else { 1 };
        if magic != MAGIC && magic != 0 {
            let text = format!("{} is no door file of this version of Toll", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        map.word(0).store(MAGIC, Release);
        Ok(Door { map })
    }

    /// Counts the arrival and gives it the slot. `kind` says which of the minute's two counts it takes its number from.
    pub fn enter(&self, slot: usize, minute: usize, kind: Kind, id: Uuid, arrived: Micros) {
        let count =
            self.map.word(RING_AT + minute * MINUTE_WORDS + if kind == Kind::Request { 0 } else { 2 });
        let number = count.load(Relaxed) + 1;
        let word = |n: usize| self.map.word(HEADER_WORDS + slot * SLOT_WORDS + n);
        let (high, low) = id.as_u64_pair();
        word(1).store(high, Relaxed);
        word(2).store(low, Relaxed);
        word(3).store(arrived as u64, Relaxed);
        word(4).store(number, Relaxed);
        for n in 5..SLOT_WORDS {
            word(n).store(0, Relaxed);
        }
        word(0).store(state(kind, Stage::Route, 0), Release);
        count.store(number, Release);
    }

    /// How far a request has come. Needs no lock: a slot is its request's own while it is open.
    pub fn mark(&self, slot: usize, stage: Stage, sent: u8, route: i64, partner: i64, key: i64) {
        let word = |n: usize| self.map.word(HEADER_WORDS + slot * SLOT_WORDS + n);
        word(5).store(route as u64, Relaxed);
        word(6).store(partner as u64, Relaxed);
        word(7).store(key as u64, Relaxed);
        word(0).store(state(Kind::Request, stage, sent), Release);
    }

    pub fn leave(&self, slot: usize) {
        self.map.word(HEADER_WORDS + slot * SLOT_WORDS).store(0, Release);
    }

    /// The request in a slot; for recovery. A slot that was never counted holds none.
    pub fn slot(&self, slot: usize) -> Option<Slot> {
        let word = |n: usize| self.map.word(HEADER_WORDS + slot * SLOT_WORDS + n).load(Acquire);
        let state = word(0);
        let kind = match state & 0xff {
            1 => Kind::Request,
            2 => Kind::Refused,
            _ => return None,
        };
        let arrived = word(3) as Micros;
        let minute = minute_of(arrived);
        let word_of_minute =
            |n: usize| self.map.word(RING_AT + ring_index(minute) * MINUTE_WORDS + n).load(Acquire);
        let count = word_of_minute(if kind == Kind::Request { 0 } else { 2 });
        let counted = word_of_minute(0) >> COUNT_BITS == minute as u64 && word(4) <= count;
        counted.then(|| Slot {
            kind,
            id: Uuid::from_u64_pair(word(1), word(2)),
            arrived,
            stage: Stage::from_code((state >> 8 & 0xff) as i16).unwrap_or(Stage::Route),
            sent: (state >> 16 & 0xff) as u8,
            route: word(5) as i64,
            partner: word(6) as i64,
            key: word(7) as i64,
        })
    }

    pub fn minute(&self, index: usize) -> Minute {
        let word = |n: usize| self.map.word(RING_AT + index * MINUTE_WORDS + n).load(Acquire);
        let first = word(0);
        Minute {
            minute: (first >> COUNT_BITS) as i64,
            arrived: first & ((1 << COUNT_BITS) - 1),
            refused: word(1),
            admitted: word(2),
            shipped: word(3),
        }
    }

    /// Gives a place of the ring to another minute. Empty in between, so that no kill leaves one minute's counts to another.
    pub fn begin(&self, index: usize, minute: i64) {
        let word = |n: usize| self.map.word(RING_AT + index * MINUTE_WORDS + n);
        word(0).store(0, Release);
        for n in 1..MINUTE_WORDS {
            word(n).store(0, Release);
        }
        word(0).store((minute as u64) << COUNT_BITS, Release);
    }

    /// Counts a request that the books have no room for.
    pub fn refuse(&self, index: usize) {
        let refused = self.map.word(RING_AT + index * MINUTE_WORDS + 1);
        refused.store(refused.load(Relaxed) + 1, Release);
    }

    pub fn set_shipped(&self, index: usize, arrived: u64) {
        self.map.word(RING_AT + index * MINUTE_WORDS + 3).store(arrived, Release);
    }

    /// Up to which record this lane was shipped when it last heard.
    pub fn shipped_mark(&self) -> u64 {
        self.map.word(MARK).load(Acquire)
    }

    pub fn set_shipped_mark(&self, seq: u64) {
        self.map.word(MARK).store(seq, Release);
    }

    pub fn sync(&self) -> io::Result<()> {
        self.map.sync(0, self.map.len())
    }
}

impl Minute {
    pub fn is_empty(&self) -> bool {
        self.minute == 0
    }

    /// Everything that came to the door.
    pub fn came(&self) -> u64 {
        self.arrived + self.refused
    }

    /// Refused requests that have no record yet.
    pub fn waiting(&self) -> u64 {
        self.refused - self.admitted
    }
}

/// Minutes since the epoch.
pub fn minute_of(at: Micros) -> i64 {
    at.div_euclid(MINUTE)
}

/// The nearest time that the door can hold: a word has room for the minutes of the years 1970 to 2480.
pub fn holdable(at: Micros) -> Micros {
    at.clamp(MINUTE, (1 << (64 - COUNT_BITS)) * MINUTE - 1)
}

pub fn ring_index(minute: i64) -> usize {
    minute as usize % RING
}

fn state(kind: Kind, stage: Stage, sent: u8) -> u64 {
    kind as u64 | (stage.code() as u64) << 8 | u64::from(sent) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Micros = 29_000_000 * MINUTE + 17;

    fn with_door(check: impl Fn(&Door, usize)) {
        let dir = tempfile::tempdir().expect("a folder");
        let door = Door::open(&dir.path().join("door")).expect("opens");
        let minute = ring_index(minute_of(AT));
        door.begin(minute, minute_of(AT));
        check(&door, minute);
    }

    #[test]
    fn a_request_that_was_killed_before_it_was_counted_was_never_there() {
        with_door(|door, minute| {
            door.enter(5, minute, Kind::Request, Uuid::from_u128(1), AT);
            door.enter(6, minute, Kind::Request, Uuid::from_u128(2), AT);
            assert_eq!(door.minute(minute).arrived, 2);
            // As if the second store of the second arrival had not happened.
            let count = door.map.word(RING_AT + minute * MINUTE_WORDS);
            count.store(count.load(Acquire) - 1, Release);
            assert_eq!(door.slot(5).map(|slot| slot.id), Some(Uuid::from_u128(1)));
            assert_eq!(door.slot(6), None);
        });
    }

    #[test]
    fn a_refused_request_is_admitted_by_its_own_count() {
        with_door(|door, minute| {
            door.refuse(minute);
            door.refuse(minute);
            assert_eq!((door.minute(minute).came(), door.minute(minute).waiting()), (2, 2));
            door.enter(0, minute, Kind::Refused, Uuid::from_u128(3), AT);
            assert_eq!((door.minute(minute).came(), door.minute(minute).waiting()), (2, 1));
            assert_eq!(door.slot(0).map(|slot| slot.kind), Some(Kind::Refused));
            door.map.word(RING_AT + minute * MINUTE_WORDS + 2).store(0, Release);
            assert_eq!(door.slot(0), None);
        });
    }

    #[test]
    fn a_slot_tells_how_far_its_request_had_come() {
        with_door(|door, minute| {
            door.enter(9, minute, Kind::Request, Uuid::from_u128(4), AT);
            door.mark(9, Stage::Proxy, 2, 11, 12, -13);
            let expected = Slot {
                kind: Kind::Request,
                id: Uuid::from_u128(4),
                arrived: AT,
                stage: Stage::Proxy,
                sent: 2,
                route: 11,
                partner: 12,
                key: -13,
            };
            assert_eq!(door.slot(9), Some(expected));
            door.leave(9);
            assert_eq!(door.slot(9), None);
        });
    }

    #[test]
    fn a_place_of_the_ring_that_is_given_on_begins_with_nothing() {
        with_door(|door, minute| {
            door.enter(1, minute, Kind::Request, Uuid::from_u128(5), AT);
            door.refuse(minute);
            door.set_shipped(minute, 2);
            door.begin(minute, minute_of(AT) + RING as i64);
            let expected = Minute { minute: minute_of(AT) + RING as i64, ..Minute::default() };
            assert_eq!(door.minute(minute), expected);
            assert_eq!(door.slot(1), None, "its minute is gone");
        });
    }
}

//! What the shipper takes from a lane: records, and what the door says at the same moment.

use std::collections::BTreeMap;
use std::io;

use super::door::ring_index;
use super::journal::{Place, delete};
use super::lane::Lane;
use super::record::Record;
use super::segment::HEADER;
use super::state::State;

/// Segments looked at for one batch: enough for records of any length.
const SEGMENTS: usize = 3;

/// The next unshipped records of a lane. There is one taker: a batch is shipped or dropped before the next is taken.
pub struct Batch {
    pub records: Vec<(u64, Record)>,
    /// The last record after this batch, by number.
    pub to: u64,
    pub door: Vec<DoorRow>,
    by_minute: BTreeMap<i64, u64>,
    place: Place,
}

/// A minute at the door as it is once the batch is shipped: arrived = settled and shipped + open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorRow {
    pub minute: i64,
    pub arrived: u64,
    /// Inside, refused without a record, or recorded and not shipped with this batch.
    pub open: u64,
}

impl Lane {
    /// Takes up to `max` records with numbers up to `until`. Changes nothing.
    pub(super) fn take(&self, max: usize, until: u64) -> Batch {
        let state = self.lock();
        let view = state.journal.view(SEGMENTS);
        let to = state.shipped;
        let door = state.dirty.iter().map(|index| self.door_row(&state, usize::from(*index))).collect();
        drop(state);

        let place = Place { segment: 0, offset: view.from, seq: view.seq };
        let mut batch = Batch { records: Vec::new(), to, door, by_minute: BTreeMap::new(), place };
        let mut taken = 0;
        for (segment, (file, end)) in view.segments.iter().enumerate() {
            if segment > 0 {
                batch.place = Place { segment, offset: HEADER, seq: file.first() };
            }
            while taken < max
                && batch.place.seq <= until
                && let Some(raw) = file.read(batch.place.offset, *end, batch.place.seq)
            {
                taken += 1;
                *batch.by_minute.entry(raw.minute).or_default() += 1;
                batch.place = Place { segment, offset: raw.next, seq: raw.seq + 1 };
                batch.to = raw.seq;
                match raw.record() {
                    Ok(record) => batch.records.push((raw.seq, record)),
                    // The checksum is right, so it was written by another version. It stays visible as unaccounted.
                    Err(error) => tracing::error!(seq = raw.seq, %error, "a record cannot be read"),
                }
            }
            if batch.place.offset < *end {
                break;
            }
        }
        for row in &mut batch.door {
            row.open = row.open.saturating_sub(batch.by_minute.get(&row.minute).copied().unwrap_or(0));
        }
        batch
    }

    fn door_row(&self, state: &State, index: usize) -> DoorRow {
        let (minute, inside) = (self.door.minute(index), state.minutes[index]);
        DoorRow {
            minute: minute.minute,
            arrived: minute.came(),
            open: u64::from(inside.open) + inside.unshipped + minute.waiting(),
        }
    }

    /// The batch is in the database for good: forgets its records.
    pub(super) fn shipped(&self, batch: &Batch) -> io::Result<()> {
        self.forget(batch, &batch.door)
    }

    /// The database has everything up to `mark` already: an earlier answer was lost. What it knows of the door is not
    /// known, so that is shipped again.
    pub(super) fn skip_to(&self, mark: u64) -> io::Result<()> {
        loop {
            let batch = self.take(10_000, mark);
            if batch.by_minute.is_empty() {
                return Ok(());
            }
            self.forget(&batch, &[])?;
        }
    }

    fn forget(&self, batch: &Batch, door: &[DoorRow]) -> io::Result<()> {
        let mut state = self.lock();
        for (minute, records) in &batch.by_minute {
            let index = ring_index(*minute);
            if self.door.minute(index).minute == *minute {
                let unshipped = &mut state.minutes[index].unshipped;
                *unshipped = unshipped.saturating_sub(*records);
            }
        }
        for row in door {
            let index = ring_index(row.minute);
            if self.door.minute(index).minute == row.minute {
                self.door.set_shipped(index, row.arrived);
            }
        }
        let mut dirty = std::mem::take(&mut state.dirty);
        dirty.retain(|index| {
            let index = usize::from(*index);
            let minute = self.door.minute(index);
            let still = state.minutes[index].unshipped > 0 || minute.came() != minute.shipped;
            state.minutes[index].dirty = still;
            still
        });
        state.dirty = dirty;
        state.shipped = batch.to;
        self.door.set_shipped_mark(batch.to);
        let gone = state.journal.trim(batch.place);
        drop(state);
        delete(gone)
    }

    /// Up to which record everything is shipped, as far as this node knows.
    pub(super) fn shipped_seq(&self) -> u64 {
        self.lock().shipped
    }

    /// The highest number in the journal.
    pub(super) fn last_seq(&self) -> u64 {
        self.lock().journal.last_seq()
    }

    /// Records that are not shipped.
    pub(super) fn backlog(&self) -> u64 {
        let state = self.lock();
        state.journal.last_seq() - state.shipped
    }

    /// Whether the database knows everything of this lane, requests inside apart.
    pub(super) fn is_shipped(&self) -> bool {
        let state = self.lock();
        state.journal.last_seq() == state.shipped && state.dirty.is_empty() && state.waiting == 0
    }
}

impl Batch {
    /// Of records that come from no journal.
    pub(super) fn of(records: Vec<(u64, Record)>, to: u64, door: Vec<DoorRow>) -> Batch {
        let place = Place { segment: 0, offset: HEADER, seq: to + 1 };
        Batch { records, to, door, by_minute: BTreeMap::new(), place }
    }

    pub fn is_empty(&self) -> bool {
        self.by_minute.is_empty() && self.door.is_empty()
    }

    /// Records taken, whether they could be read or not.
    pub fn taken(&self) -> u64 {
        self.by_minute.values().sum()
    }
}

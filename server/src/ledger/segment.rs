//! One file of the journal: a header that says where it begins, then records end to end.
//!
//! A record is `[length u32][crc32 u32][seq u64][minute i64][kind u8][postcard]`; length and checksum are of what follows
//! them. Reading stops where the next number in sequence is missing or a checksum is wrong: there the writer was killed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use uuid::Uuid;

use super::mapped::Mapped;
use super::record::Record;

/// No record takes more, whatever the client sent: see [`super::text`].
pub const MAX_RECORD: usize = 2_048;
pub const HEADER: usize = 64;

const MAGIC: u64 = u64::from_le_bytes(*b"TOLLJN01");
const PREFIX: usize = 8;
const FIXED: usize = PREFIX + 8 + 8 + 1;

/// The record of a request, and one of the version before: without `same_again`, which a wait said by itself.
const REQUEST: u8 = 2;
const REQUEST_BEFORE: u8 = 1;

pub struct Segment {
    map: Mapped,
    path: PathBuf,
    /// Bytes in use; what lies behind is left over from an earlier use of the file.
    used: AtomicUsize,
    /// Of these, bytes that are on the disk.
    synced: AtomicUsize,
}

/// A record as it lies in the journal.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a> {
    pub seq: u64,
    pub minute: i64,
    payload: &'a [u8],
    /// Offset of the next record.
    pub next: usize,
}

impl Segment {
    pub fn create(path: &Path, len: usize) -> io::Result<Segment> {
        let map = Mapped::create(path, len)?;
        map.word(0).store(MAGIC, Release);
        Ok(Segment {
            map,
            path: path.to_owned(),
            used: AtomicUsize::new(HEADER),
            synced: AtomicUsize::new(0),
        })
    }

    /// `None` if the file was never whole.
    pub fn open(path: &Path) -> io::Result<Option<Segment>> {
        let map = Mapped::open(path)?;
        if map.len() < HEADER + MAX_RECORD || map.word(0).load(Acquire) != MAGIC {
            return Ok(None);
        }
        Ok(Some(Segment {
            map,
            path: path.to_owned(),
            used: AtomicUsize::new(HEADER),
            synced: AtomicUsize::new(0),
        }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Number of the first record; 0 for a segment that is not in use.
    pub fn first(&self) -> u64 {
        self.map.word(1).load(Acquire)
    }

    /// Begins, or with 0 ends, the use of this file.
    pub fn begin(&self, first: u64) {
        self.used.store(HEADER, Release);
        self.synced.store(0, Release);
        self.map.word(1).store(first, Release);
    }

    pub fn used(&self) -> usize {
        self.used.load(Acquire)
    }

    pub fn set_used(&self, used: usize) {
        self.used.store(used, Release);
    }

    pub fn has_room(&self) -> bool {
        self.used() + MAX_RECORD <= self.len()
    }

    /// Appends a record. Only under the lane's lock, and only with room.
    pub fn append(&self, seq: u64, minute: i64, record: &Record) -> Result<(), postcard::Error> {
        let at = self.used();
        // SAFETY: bytes past `used` are read by nobody, and the lane's lock keeps other writers away.
        let room = unsafe { self.map.bytes_mut(at, MAX_RECORD) };
        let written = postcard::to_slice(record, &mut room[FIXED..])?.len();
        let length = FIXED - PREFIX + written;
        room[8..16].copy_from_slice(&seq.to_le_bytes());
        room[16..24].copy_from_slice(&minute.to_le_bytes());
        room[24] = REQUEST;
        let crc = crc32fast::hash(&room[PREFIX..PREFIX + length]);
        room[4..8].copy_from_slice(&crc.to_le_bytes());
        room[0..4].copy_from_slice(&(length as u32).to_le_bytes());
        self.used.store(at + PREFIX + length, Release);
        Ok(())
    }

    /// The record at an offset below `end`, if a whole one with this number lies there.
    pub fn read(&self, at: usize, end: usize, seq: u64) -> Option<Raw<'_>> {
        if at + FIXED > end {
            return None;
        }
        // SAFETY: bytes below `used` never change while the segment is in use; during recovery nobody writes.
        let bytes = unsafe { self.map.bytes(at, end - at) };
        let length = u32::from_le_bytes(bytes[0..4].try_into().ok()?) as usize;
        if length < FIXED - PREFIX || PREFIX + length > bytes.len().min(MAX_RECORD) {
            return None;
        }
        let body = &bytes[PREFIX..PREFIX + length];
        let raw = Raw {
            seq: u64::from_le_bytes(body[0..8].try_into().ok()?),
            minute: i64::from_le_bytes(body[8..16].try_into().ok()?),
            payload: &body[16..],
            next: at + PREFIX + length,
        };
        let crc = u32::from_le_bytes(bytes[4..8].try_into().ok()?);
        (raw.seq == seq && crc32fast::hash(body) == crc).then_some(raw)
    }

    /// Wipes what lies behind the records, so that nothing torn is ever taken for one.
    pub fn wipe_rest(&self) {
        let used = self.used();
        // SAFETY: called by recovery only, which is alone with the file.
        unsafe { self.map.bytes_mut(used, self.len() - used) }.fill(0);
    }

    /// Returns when everything written so far is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        let used = self.used();
        let synced = self.synced.load(Acquire);
        if used > synced {
            self.map.sync(0, HEADER)?;
            self.map.sync(synced, used - synced)?;
            // Whoever begins this file anew meanwhile sets it back, and then this must not undo that.
            let _ = self.synced.compare_exchange(synced, used, AcqRel, Acquire);
        }
        Ok(())
    }
}

impl Raw<'_> {
    /// The record itself.
    pub fn record(&self) -> Result<Record, postcard::Error> {
        match self.payload.split_first() {
            Some((&REQUEST, record)) => postcard::from_bytes(record),
            Some((&REQUEST_BEFORE, record)) => {
                let record: Record = postcard::from_bytes(&[record, &[u8::from(false)]].concat())?;
                Ok(Record { same_again: record.retry_waited_ms.is_some(), ..record })
            }
            _ => Err(postcard::Error::DeserializeBadEncoding),
        }
    }

    /// Whose record it is.
    pub fn id(&self) -> Option<Uuid> {
        self.record().ok().map(|record| record.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_the_version_before_has_written_is_read_as_it_was_meant() {
        for (waited, same_again) in [(Some(80), true), (None, false)] {
            let record = Record { retry_waited_ms: waited, same_again, ..Record::new(Uuid::max(), 7) };
            let now = postcard::to_stdvec(&record).expect("encodes");
            let before = [&[REQUEST_BEFORE], &now[..now.len() - 1]].concat();
            let raw = Raw { seq: 1, minute: 0, payload: &before, next: 0 };
            assert_eq!(raw.record(), Ok(record));
        }
    }
}

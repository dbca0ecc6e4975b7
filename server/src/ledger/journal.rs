//! The outcomes side on disk: a chain of segments, appended to under the lane's lock and trimmed once shipped.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::record::Record;
use super::segment::{HEADER, MAX_RECORD, Segment};

/// After the disk refused a segment, how long not to ask again.
const DISK_FULL_PAUSE: Duration = Duration::from_secs(1);

pub struct Journal {
    dir: PathBuf,
    segment_bytes: usize,
    max_segments: usize,
    /// In use, oldest first; the last one is written to.
    segments: VecDeque<Arc<Segment>>,
    /// Allocated and empty.
    spares: Vec<Arc<Segment>>,
    /// Number in the name of the newest file.
    next_file: u64,
    /// Number of the next record; they begin with 1.
    next_seq: u64,
    /// Where in the first segment the unshipped records begin, and with which number.
    read: usize,
    read_seq: u64,
    refused_at: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub segment_bytes: usize,
    /// Bound of one lane's journal.
    pub lane_bytes: u64,
}

/// What a journal begins with.
pub struct Chain {
    pub segments: VecDeque<Arc<Segment>>,
    pub spares: Vec<Arc<Segment>>,
    pub next_file: u64,
    pub next_seq: u64,
    pub read: usize,
    pub read_seq: u64,
}

/// Unshipped records as they were at one moment. Reading them needs no lock.
pub struct View {
    /// Each with the end of what may be read of it.
    pub segments: Vec<(Arc<Segment>, usize)>,
    /// Where to begin in the first one, and the number of the record there.
    pub from: usize,
    pub seq: u64,
}

/// How far a reader of a [`View`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub segment: usize,
    pub offset: usize,
    /// Number that the record at this place has or will have.
    pub seq: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("the journal has no room")]
    Full,
    #[error("a record could not be written: {0}")]
    Encoding(#[from] postcard::Error),
}

impl Journal {
    /// The chain as recovery found it: `segments` oldest first, whole up to their `used`, unshipped from `read` on.
    pub fn new(limits: Limits, dir: PathBuf, chain: Chain) -> Journal {
        Journal {
            dir,
            segment_bytes: limits.segment_bytes,
            max_segments: (limits.lane_bytes / limits.segment_bytes as u64).max(2) as usize,
            segments: chain.segments,
            spares: chain.spares,
            next_file: chain.next_file,
            next_seq: chain.next_seq,
            read: chain.read,
            read_seq: chain.read_seq,
            refused_at: None,
        }
    }

    /// What the journal's files take up, empty ones included; and what they may at most.
    pub fn bytes(&self) -> (u64, u64) {
        let taken = self.segments.iter().chain(&self.spares).map(|segment| segment.len() as u64).sum();
        (taken, self.max_segments as u64 * self.segment_bytes as u64)
    }

    /// How many more records, however long, surely fit into what is allocated.
    pub fn room(&self) -> usize {
        let rest = self.segments.back().map_or(0, |last| (last.len() - last.used()) / MAX_RECORD);
        rest + self.spares.iter().map(|spare| (spare.len() - HEADER) / MAX_RECORD).sum::<usize>()
    }

    /// Allocates until `records` more fit; false at the bound or with a full disk.
    pub fn make_room(&mut self, records: usize) -> bool {
        self.allocate(records, self.max_segments)
    }

    /// The same without a bound, for what an earlier process had inside under another bound.
    pub fn make_room_for_lost(&mut self, records: usize) -> bool {
        self.allocate(records, usize::MAX)
    }

    fn allocate(&mut self, records: usize, max_segments: usize) -> bool {
        while self.room() < records {
            if self.segments.len() + self.spares.len() >= max_segments {
                return false;
            }
            if self.refused_at.is_some_and(|at| at.elapsed() < DISK_FULL_PAUSE) {
                return false;
            }
            let (path, len) = self.next_file();
            if !self.take_spare(Segment::create(&path, len)) {
                return false;
            }
        }
        true
    }

    /// The file to make next, if it is time to: for a caller who makes it without holding the lock.
    pub fn wanted(&mut self) -> Option<(PathBuf, usize)> {
        let due = self.refused_at.is_none_or(|at| at.elapsed() >= DISK_FULL_PAUSE);
        let wanted = due && self.spares.is_empty() && self.segments.len() < self.max_segments;
        wanted.then(|| self.next_file())
    }

    /// Takes the segment that was [`wanted`](Journal::wanted), or notes that the disk had no room.
    pub fn take_spare(&mut self, made: io::Result<Segment>) -> bool {
        match made {
            Ok(segment) => {
                if self.refused_at.take().is_some() {
                    tracing::info!(dir = %self.dir.display(), "the journal has room again");
                }
                self.spares.push(Arc::new(segment));
                true
            }
            Err(error) => {
                // Asked again and again, said once.
                if self.refused_at.replace(Instant::now()).is_none() {
                    tracing::error!(dir = %self.dir.display(), %error, "no new journal segment");
                }
                false
            }
        }
    }

    fn next_file(&mut self) -> (PathBuf, usize) {
        self.next_file += 1;
        (self.dir.join(format!("journal-{:08}", self.next_file)), self.segment_bytes)
    }

    /// Appends a record and gives it the next number.
    pub fn append(&mut self, minute: i64, record: &Record) -> Result<(), AppendError> {
        if !self.segments.back().is_some_and(|last| last.has_room()) {
            let spare = self.spares.pop().ok_or(AppendError::Full)?;
            spare.begin(self.next_seq);
            if self.segments.is_empty() {
                (self.read, self.read_seq) = (HEADER, self.next_seq);
            }
            self.segments.push_back(spare);
        }
        let last = self.segments.back().ok_or(AppendError::Full)?;
        last.append(self.next_seq, minute, record)?;
        self.next_seq += 1;
        Ok(())
    }

    pub fn last_seq(&self) -> u64 {
        self.next_seq - 1
    }

    /// At most the first `segments` segments with something unshipped in them.
    pub fn view(&self, segments: usize) -> View {
        let segments = self.segments.iter().take(segments).map(|s| (s.clone(), s.used())).collect();
        View { segments, from: self.read, seq: self.read_seq }
    }

    /// Segments that are written to, for putting them on the disk.
    pub fn in_use(&self) -> Vec<Arc<Segment>> {
        self.segments.iter().cloned().collect()
    }

    /// Forgets what lies before a place of the last view. A segment that is done with becomes the spare, further ones are
    /// given back to be deleted without the lock.
    pub fn trim(&mut self, to: Place) -> Vec<Arc<Segment>> {
        let mut gone = Vec::new();
        for _ in 0..to.segment {
            if let Some(done) = self.segments.pop_front() {
                // Whoever still reads it holds no view of records that matter: they are shipped.
                done.begin(0);
                if self.spares.is_empty() && done.len() == self.segment_bytes {
                    self.spares.push(done);
                } else {
                    gone.push(done);
                }
            }
        }
        (self.read, self.read_seq) = (to.offset, to.seq);
        gone
    }
}

/// Deletes the files of segments that were given back.
pub fn delete(segments: Vec<Arc<Segment>>) -> io::Result<()> {
    segments.iter().try_for_each(|segment| fs::remove_file(segment.path()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("one thread").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_without_room_is_told_once_and_so_is_that_it_has_some_again() {
        let home = tempfile::tempdir().expect("a folder");
        let limits = Limits { segment_bytes: 1 << 16, lane_bytes: 1 << 20 };
        let chain = Chain {
            segments: VecDeque::new(),
            spares: Vec::new(),
            next_file: 0,
            next_seq: 1,
            read: HEADER,
            read_seq: 1,
        };
        let mut journal = Journal::new(limits, home.path().to_owned(), chain);
        let log = Log::default();
        let writer = log.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..3 {
                assert!(!journal.take_spare(Err(io::ErrorKind::StorageFull.into())));
            }
            for _ in 0..2 {
                assert!(journal.take_spare(Segment::create(&home.path().join("journal"), 1 << 16)));
            }
        });
        let log = String::from_utf8(log.0.lock().expect("one thread").clone()).expect("text");
        let lines: Vec<_> = log.lines().map(|line| line.contains("has room again")).collect();
        assert_eq!(lines, [false, true], "{log}");
    }
}

//! A file of fixed size, really allocated and mapped into memory: what is written to it outlives `kill -9`, and a full
//! disk is an error when it is made, never a SIGBUS later.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, fallocate};

pub struct Mapped {
    map: MmapRaw,
}

impl Mapped {
    /// Makes a file of `len` zero bytes under its final name, whole or not at all.
    pub fn create(path: &Path, len: usize) -> io::Result<Mapped> {
        let draft = path.with_extension("new");
        let made = Mapped::make(&draft, path, len);
        if made.is_err() {
            // The disk is full: what was allocated so far is of use to others.
            let _ = fs::remove_file(&draft);
        }
        made
    }

    fn make(draft: &Path, path: &Path, len: usize) -> io::Result<Mapped> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(draft)?;
        match fallocate(&file, FallocateFlags::empty(), 0, len as u64) {
            Ok(()) => {}
            // A file system that cannot promise blocks takes zeros instead.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                let zeros = vec![0; 1 << 16];
                let mut left = len;
                while left > 0 {
                    let part = left.min(zeros.len());
                    file.write_all(&zeros[..part])?;
                    left -= part;
                }
            }
            Err(error) => return Err(error.into()),
        }
        file.sync_all()?;
        fs::rename(draft, path)?;
        if let Some(parent) = path.parent() {
            File::open(parent)?.sync_all()?;
        }
        Mapped::map(&file)
    }

    pub fn open(path: &Path) -> io::Result<Mapped> {
        Mapped::map(&OpenOptions::new().read(true).write(true).open(path)?)
    }

    fn map(file: &File) -> io::Result<Mapped> {
        Ok(Mapped { map: MmapOptions::new().map_raw(file)? })
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// The 64-bit word number `index`.
    pub fn word(&self, index: usize) -> &AtomicU64 {
        assert!((index + 1) * 8 <= self.map.len(), "a word within the file");
        // SAFETY: in bounds by the line above, aligned because a mapping begins on a page, and words are only ever
        // touched as atomics.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().cast::<u64>().add(index)) }
    }

    /// # Safety
    /// Nobody writes to these bytes while the slice lives.
    pub unsafe fn bytes(&self, from: usize, len: usize) -> &[u8] {
        assert!(from + len <= self.map.len(), "a range within the file");
        // SAFETY: in bounds by the line above; the caller keeps writers away.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(from), len) }
    }

    /// # Safety
    /// Nobody else reads or writes these bytes while the slice lives.
    #[expect(clippy::mut_from_ref, reason = "a mapping is shared memory; the caller keeps the ranges apart")]
    pub unsafe fn bytes_mut(&self, from: usize, len: usize) -> &mut [u8] {
        assert!(from + len <= self.map.len(), "a range within the file");
        // SAFETY: in bounds by the line above; the caller keeps everybody else away.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().add(from), len) }
    }

    /// Returns when the range is on the disk.
    pub fn sync(&self, from: usize, len: usize) -> io::Result<()> {
        if len == 0 { Ok(()) } else { self.map.flush_range(from, len) }
    }
}

//! What an earlier process left behind: records that were not shipped, and requests that were inside when it died.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::domain::outcome::Outcome;
use uuid::Uuid;

use super::door::{Door, Kind, SLOTS, Slot};
use super::journal::{Chain, Journal, Limits};
use super::lane::Lane;
use super::record::{End, Record};
use super::segment::{HEADER, Segment};
use super::state::{NO_MINUTE, refused};
use crate::clock::Clock;

/// Opens a lane's folder, making it if need be, and settles what was left open.
pub fn open(dir: &Path, number: i16, limits: Limits, clock: Arc<Clock>) -> io::Result<Lane> {
    fs::create_dir_all(dir)?;
    let door = Door::open(&dir.join("door"))?;
    let mut inside = HashMap::new();
    for index in 0..SLOTS {
        match door.slot(index) {
            Some(slot) => drop(inside.insert(slot.id, (index as u32, slot))),
            // Killed before it was counted: it was never there.
            None => door.leave(index),
        }
    }
    let found = read(dir, door.shipped_mark(), &mut inside, &door)?;
    let lane = Lane::new(number, door, Journal::new(limits, dir.to_owned(), found.chain), clock);
    for (minute, records) in found.unshipped {
        lane.adopt_unshipped(minute, records);
    }
    let lost = inside.len();
    // All are taken before the first is settled, as room is kept for all who are inside.
    for (index, slot) in inside.values() {
        lane.adopt(*index, slot.arrived);
    }
    if !lane.lock().journal.make_room_for_lost(lost) {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "no room to settle what was left open"));
    }
    for (index, slot) in inside.into_values() {
        lane.settle_lost(index, &lost_record(&slot), slot.kind);
    }
    if lost > 0 {
        tracing::warn!(lane = number, lost, "requests were inside when this node died");
    }
    Ok(lane)
}

struct Found {
    chain: Chain,
    /// Records that are not shipped, by minute.
    unshipped: BTreeMap<i64, u64>,
}

/// Reads the journal from its first record. Slots whose record is there were only not freed any more: frees them.
fn read(dir: &Path, shipped: u64, inside: &mut HashMap<Uuid, (u32, Slot)>, door: &Door) -> io::Result<Found> {
    let Files { segments, spares, newest } = files(dir)?;
    let mut found = Found {
        chain: Chain {
            segments: VecDeque::new(),
            spares,
            next_file: newest,
            next_seq: shipped + 1,
            read: HEADER,
            read_seq: shipped + 1,
        },
        unshipped: BTreeMap::new(),
    };
    for segment in segments {
        let (mut at, mut seq) = (HEADER, segment.first());
        let chain = &mut found.chain;
        if chain.segments.back().is_some_and(|_| seq != chain.next_seq) {
            tracing::error!(from = chain.next_seq, to = seq, "records are missing in the journal");
        }
        // While nothing is unshipped, this is where it would begin.
        let mut begins = chain.segments.is_empty().then_some((at, seq));
        while let Some(raw) = segment.read(at, segment.len(), seq) {
            if !inside.is_empty()
                && let Some((index, _)) = raw.id().and_then(|id| inside.remove(&id))
            {
                door.leave(index as usize);
            }
            if seq > shipped {
                if raw.minute != NO_MINUTE {
                    *found.unshipped.entry(raw.minute).or_default() += 1;
                }
            } else {
                begins = begins.map(|_| (raw.next, seq + 1));
            }
            (at, seq) = (raw.next, seq + 1);
        }
        segment.set_used(at);
        segment.wipe_rest();
        let chain = &mut found.chain;
        if let Some((read, read_seq)) = begins {
            (chain.read, chain.read_seq) = (read, read_seq);
        }
        chain.next_seq = seq.max(shipped + 1);
        chain.segments.push_back(Arc::new(segment));
        drop_shipped(chain)?;
    }
    Ok(found)
}

/// A segment without an unshipped record is of no more use.
fn drop_shipped(chain: &mut Chain) -> io::Result<()> {
    let done = chain.segments.len() == 1 && chain.segments.front().is_some_and(|s| chain.read >= s.used());
    if done && let Some(segment) = chain.segments.pop_front() {
        (chain.read, chain.read_seq) = (HEADER, chain.next_seq);
        fs::remove_file(segment.path())?;
    }
    Ok(())
}

struct Files {
    /// In use, oldest first.
    segments: Vec<Segment>,
    spares: Vec<Arc<Segment>>,
    /// Highest number among all names.
    newest: u64,
}

/// The journal's files. What was never whole is deleted.
fn files(dir: &Path) -> io::Result<Files> {
    let mut files = Files { segments: Vec::new(), spares: Vec::new(), newest: 0 };
    for entry in fs::read_dir(dir)? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(number) = name.strip_prefix("journal-") else { continue };
        files.newest = files.newest.max(number.trim_end_matches(".new").parse().unwrap_or(0));
        let segment = if name.ends_with(".new") { None } else { Segment::open(&path)? };
        match segment {
            Some(segment) if segment.first() > 0 => files.segments.push(segment),
            Some(segment) => files.spares.push(Arc::new(segment)),
            None => fs::remove_file(&path)?,
        }
    }
    files.segments.sort_by_key(Segment::first);
    Ok(files)
}

fn lost_record(slot: &Slot) -> Record {
    if slot.kind == Kind::Refused {
        return refused(slot.id, slot.arrived);
    }
    Record {
        end: Some(End {
            stage: slot.stage,
            outcome: Outcome::GatewayLost,
            status: 0,
            reached: slot.sent > 0,
            upstream_status: 0,
        }),
        route: slot.route,
        partner: slot.partner,
        key: slot.key,
        request_id: slot.id.to_string(),
        upstream_calls: u16::from(slot.sent),
        timed: false,
        ..Record::new(slot.id, slot.arrived)
    }
}

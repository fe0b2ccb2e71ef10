//! A partition that outlives the job, with its file and its directory of names.

use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::heap::statics::Layout;
use shmem_core::heap::{CHUNK_BYTES, Directory, Ledger, MIN_ALIGN, Owner};
use shmem_core::memory::{Backing, PlaceLayout, PmemFile};
use shmem_core::partition::{PartitionSpec, Table};

use crate::bootstrap::Bootstrap;
use crate::error::{Error, Result};

/// A partition that outlives the job; or should have, and lies in memory instead.
pub(crate) struct Shelf {
    /// Index of its segment.
    pub(super) segment: u32,
    /// Where it starts: bytes from the start of a place.
    pub(super) start: usize,
    pub(super) title: String,
    pub(super) directory: Directory,
    /// `None`: it lies in memory.
    pub(super) file: Option<Box<PmemFile>>,
    /// Whether a persist has failed.
    pub(super) failed: bool,
}

/// A partition that is put on a shelf.
struct Opened<'a> {
    spec: &'a PartitionSpec,
    segment: u32,
    /// Bytes of a place that it takes up.
    range: Range<usize>,
    /// Bytes from its start to its heap.
    heap: usize,
    backing: Backing,
}

impl Shelf {
    /// Reads the names of a partition that lies in the place at `mine`, and reserves what they stand for; or
    /// begins a directory. An error is what is wrong, in words.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's place, the partition is mapped there, and nobody uses it yet.
    unsafe fn new(opened: Opened<'_>, mine: *mut u8, ledger: &mut Ledger) -> Result<Self, String> {
        let Opened { spec, segment, range, heap, backing } = opened;
        let start = range.start;
        let file = match backing {
            Backing::File(file) => Some(file),
            Backing::Instead(_) => None,
        };
        let wrong = |what: String| match &file {
            Some(file) => format!("{}: {}: {what}", spec.title(), file.path().display()),
            None => format!("{}: {what}", spec.title()),
        };
        let first = heap.next_multiple_of(MIN_ALIGN);
        let directory = if file.as_ref().is_some_and(|file| file.generation() > 0) {
            let read = |at: usize| {
                let end = at.checked_add(CHUNK_BYTES)?;
                let inside = at >= heap && end <= range.len() && at.is_multiple_of(MIN_ALIGN);
                // SAFETY: the chunk lies in the partition, as just checked, which is mapped and which nobody
                // writes yet (caller).
                inside.then(|| unsafe { mine.wrapping_add(start + at).cast::<[u8; CHUNK_BYTES]>().read() })
            };
            let directory = Directory::read(first, read).map_err(wrong)?;
            let chunks = directory.chunks().iter().map(|&at| (at, CHUNK_BYTES, MIN_ALIGN));
            let objects = directory.objects().iter().map(|o| (o.offset, o.bytes(), o.align.max(MIN_ALIGN)));
            for (offset, bytes, align) in chunks.chain(objects) {
                let offset = start.saturating_add(offset);
                ledger.restore(segment, offset, bytes, align).map_err(|error| wrong(error.to_string()))?;
            }
            directory
        } else {
            let made = ledger.allocate(segment, CHUNK_BYTES, MIN_ALIGN, Owner::Name);
            let made = made.map_err(|error| wrong(format!("no room for a list of names: {error}")))?;
            Directory::new(made.offset - start)
        };
        let shelf = Self { segment, start, title: spec.title(), directory, file, failed: false };
        // SAFETY: the caller's promise.
        unsafe { shelf.write_names(mine) };
        Ok(shelf)
    }

    /// Writes the directory into the partition.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's place, and no other thread is here.
    pub(super) unsafe fn write_names(&self, mine: *mut u8) {
        for (at, bytes) in self.directory.write() {
            let to = mine.wrapping_add(self.start + at);
            // SAFETY: the ledger has reserved the chunk in the partition, which is mapped at `mine` (caller); only
            // this function writes there.
            unsafe { to.cast::<[u8; CHUNK_BYTES]>().write(bytes) };
        }
    }
}

/// Puts the partitions of this PE, which lie in the place at `mine`, on their shelves, when none of them is
/// used yet. All PEs must find the same names.
pub(crate) fn shelve(
    files: BTreeMap<usize, Backing>,
    table: &Table,
    statics: &Layout,
    layout: &PlaceLayout,
    mine: *mut u8,
    ledger: &mut Ledger,
    bootstrap: &dyn Bootstrap,
) -> Result<Vec<Shelf>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let shelves = files.into_iter().map(|(k, backing)| {
        let (spec, part) = (&table.specs()[k], &statics.partitions[k]);
        let opened = Opened {
            spec,
            segment: part.index,
            range: layout.partition(k),
            heap: part.end as usize,
            backing,
        };
        // SAFETY: the arena has mapped the partitions of this PE's place at `mine`, and no token exists yet.
        unsafe { Shelf::new(opened, mine, ledger) }
    });
    let shelves: Result<Vec<_>, String> = shelves.collect();
    let prints = shelves.as_ref().map(|shelves| {
        let prints = shelves.iter().map(|shelf| shelf.directory.fingerprint());
        prints.collect::<Vec<_>>()
    });
    let lost = |error: String| Error::Launcher(error);
    let told = serde_json::to_vec(&prints).map_err(|error| lost(error.to_string()))?;
    let all = bootstrap.exchange("names", &told).map_err(|error| lost(error.to_string()))?;
    for (pe, theirs) in all.iter().enumerate() {
        let theirs: Result<Vec<u64>, String> =
            serde_json::from_slice(theirs).map_err(|error| lost(error.to_string()))?;
        let theirs = theirs.map_err(|reason| Error::File { pe, reason })?;
        if prints.as_ref().is_ok_and(|mine| *mine != theirs) {
            let me = bootstrap.number();
            let reason =
                format!("its files hold other objects than those of PE {me}; put back all of one copy");
            return Err(Error::File { pe, reason });
        }
    }
    shelves.map_err(|reason| Error::File { pe: bootstrap.number(), reason })
}

/// Whether a partition, by its position, keeps the contents that it has.
pub(crate) fn kept(files: &BTreeMap<usize, Backing>, k: usize) -> bool {
    matches!(files.get(&k), Some(Backing::File(file)) if file.generation() > 0)
}

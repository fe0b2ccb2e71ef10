//! A partition that outlives the job, with its file and its directory of names.

use core::any::TypeId;
use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::heap::{CHUNK_BYTES, Directory, Ledger, MIN_ALIGN, Owner};
use shmem_core::memory::{Backing, PmemFile};
use shmem_core::partition::PartitionSpec;
use shmem_core::shared;

/// A partition that outlives the job; or should have, and lies in memory instead.
pub(crate) struct Shelf {
    pub(crate) segment: u32,
    /// Where it starts: bytes from the start of a slot.
    pub(crate) start: usize,
    pub(crate) title: String,
    pub(crate) directory: Directory,
    /// As what this job has opened the objects: the type of their items, and its name.
    pub(crate) opened: BTreeMap<String, (TypeId, &'static str)>,
    /// `None`: it lies in memory.
    pub(crate) file: Option<Box<PmemFile>>,
    /// Whether a persist has failed.
    pub(crate) failed: bool,
}

impl Shelf {
    /// Reads the names of a partition that lies in the slot at `mine`, and reserves what they stand for; or
    /// begins a directory. It takes up `range` of the slot, and its heap begins `heap` bytes behind its start. An error is what
    /// is wrong, in words.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's slot, the partition is mapped there, and nobody uses it yet.
    pub(crate) unsafe fn new(
        spec: &PartitionSpec,
        segment: u32,
        range: Range<usize>,
        heap: usize,
        backing: Backing,
        mine: *mut u8,
        ledger: &mut Ledger,
    ) -> Result<Self, String> {
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
        let (title, opened) = (spec.title(), BTreeMap::new());
        let shelf = Self { segment, start, title, directory, opened, file, failed: false };
        // SAFETY: the caller's promise.
        unsafe { shelf.write_names(mine) };
        Ok(shelf)
    }

    /// The directory, which is the same on all PEs, as it is written.
    pub(crate) fn names(&self) -> Vec<u8> {
        let chunks = self.directory.write().into_iter();
        chunks.flat_map(|(at, bytes)| [&(at as u64).to_le_bytes()[..], &bytes[..]].concat()).collect()
    }

    /// Writes the directory into the partition; says whether something else was there.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's slot, and no other thread is here. Raw transfers of PEs may reach what is written.
    pub(crate) unsafe fn write_names(&self, mine: *mut u8) -> bool {
        let mut differs = false;
        for (at, bytes) in self.directory.write() {
            let to = mine.wrapping_add(self.start + at);
            let mut there = [0; CHUNK_BYTES];
            // SAFETY: the ledger has reserved the chunk in the partition, which is mapped at `mine` (caller). A raw
            // transfer may write it meanwhile, which is no race (`shared`): then some bytes are read.
            unsafe { shared::copy(there.as_mut_ptr(), to, CHUNK_BYTES) };
            differs |= there != bytes;
            // SAFETY: the chunk that was read just now; no reference to it exists, and what a raw transfer writes
            // meanwhile is no race (`shared`).
            unsafe { shared::copy(to, bytes.as_ptr(), CHUNK_BYTES) };
        }
        differs
    }
}

/// Whether a partition, by its position, keeps the contents that it has.
pub(crate) fn kept(files: &BTreeMap<usize, Backing>, k: usize) -> bool {
    matches!(files.get(&k), Some(Backing::File(file)) if file.generation() > 0)
}

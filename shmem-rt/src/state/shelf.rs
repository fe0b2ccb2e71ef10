//! A persistent partition, with its file and its objects by name.

use core::any::TypeId;
use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::heap::{Ledger, MIN_ALIGN};
use shmem_core::memory::PmemFile;
use shmem_core::partition::PartitionSpec;
use shmem_core::shared;

use super::names::{Named, decode, encode, room};

/// A persistent partition.
pub(crate) struct Shelf {
    pub(crate) segment: u32,
    /// The partition's offset in a slot.
    pub(crate) start: usize,
    pub(crate) title: String,
    /// Its objects with names, in the order in which they were made.
    pub(crate) objects: Vec<Named>,
    /// Range of the list of names in a slot.
    list: Range<usize>,
    /// Type and type name with which this job has opened an object, by the object's name.
    pub(crate) opened: BTreeMap<String, (TypeId, &'static str)>,
    pub(crate) file: PmemFile,
    /// Whether a persist has failed.
    pub(crate) failed: bool,
}

impl Shelf {
    /// Reads the list of names of a partition in the slot at `mine`, and reserves the named objects; or begins an empty list. The
    /// partition has `range` of the slot, and its heap begins `heap` bytes after the start.
    ///
    /// # Errors
    ///
    /// If the list is damaged, or has no room: a description.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's slot, the partition is mapped there, and nobody uses it yet.
    pub(crate) unsafe fn new(
        spec: &PartitionSpec,
        segment: u32,
        range: Range<usize>,
        heap: usize,
        file: PmemFile,
        mine: *mut u8,
        ledger: &mut Ledger,
    ) -> Result<Self, String> {
        let (start, room) = (range.start, room(range.len().saturating_sub(heap)));
        let wrong = |what: String| format!("{}: {}: {what}", spec.title(), file.path().display());
        let list = start + heap.next_multiple_of(MIN_ALIGN);
        let list = list..list + room;
        let reserved = ledger.restore(segment, list.start, room, MIN_ALIGN);
        reserved.map_err(|error| wrong(format!("no room for a list of names: {error}")))?;
        let mut objects = Vec::new();
        if file.generation() > 0 {
            // SAFETY: the ledger has reserved the list in the partition, which is mapped at `mine` and which nobody
            // writes yet (caller).
            let there = unsafe { core::slice::from_raw_parts(mine.wrapping_add(list.start), room) };
            objects = decode(there).map_err(wrong)?;
        }
        for object in &objects {
            let (offset, align) = (start.saturating_add(object.offset), object.align.max(MIN_ALIGN));
            let restored = ledger.restore(segment, offset, object.bytes(), align);
            restored.map_err(|error| wrong(error.to_string()))?;
        }
        let (title, opened) = (spec.title(), BTreeMap::new());
        let shelf = Self { segment, start, title, objects, list, opened, file, failed: false };
        // SAFETY: the caller's promise.
        unsafe { shelf.write_names(mine) };
        Ok(shelf)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Named> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Checks that the list has room for one more object.
    ///
    /// # Errors
    ///
    /// If not: the list's size in bytes.
    pub(crate) fn has_room_for(&self, object: &Named) -> Result<(), usize> {
        let objects = [&self.objects[..], core::slice::from_ref(object)].concat();
        // The offset of the object takes at most ten bytes.
        if encode(&objects).len() + 10 <= self.list.len() { Ok(()) } else { Err(self.list.len()) }
    }

    /// Writes the list of names into the partition; returns whether a different one was stored there.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's slot, and no other thread of this PE calls this. Raw transfers may overlap.
    pub(crate) unsafe fn write_names(&self, mine: *mut u8) -> bool {
        let names = encode(&self.objects);
        assert!(names.len() <= self.list.len(), "a list of names has room before one is added");
        let mut there = vec![0; names.len()];
        // SAFETY: the bytes are part of the list, which the ledger has reserved in the partition that is mapped at `mine` (caller).
        // No reference to the list exists, and a raw transfer meanwhile is no race (`shared`).
        unsafe { shared::copy(there.as_mut_ptr(), mine.wrapping_add(self.list.start), names.len()) };
        // SAFETY: the ledger has reserved the list in the partition, which is mapped at `mine` (caller), and has at least
        // `names.len()` bytes (asserted). No reference to the list exists, and a raw transfer meanwhile is no race (`shared`).
        unsafe { shared::copy(mine.wrapping_add(self.list.start), names.as_ptr(), names.len()) };
        there != names
    }
}

/// Whether the partition at position `k` begins with the contents of its file.
pub(crate) fn kept(files: &BTreeMap<usize, PmemFile>, k: usize) -> bool {
    files.get(&k).is_some_and(|file| file.generation() > 0)
}

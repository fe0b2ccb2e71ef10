//! A persistent partition, with its file and its objects by name.

use core::any::TypeId;
use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::heap::{Ledger, MIN_ALIGN};
use shmem_core::memory::PmemFile;
use shmem_core::partition::PartitionSpec;
use shmem_core::shared;
use shmem_launch::codec;

use super::names::{HEAD, Named, decode, encode, room};

/// A persistent partition.
pub(crate) struct Shelf {
    pub(crate) segment: u32,
    pub(crate) start: usize,
    pub(crate) title: String,
    /// Its objects with names, oldest first.
    pub(crate) objects: Vec<Named>,
    encoded: usize,
    /// Range of the list of names in a slot.
    list: Range<usize>,
    /// The list as it was last written.
    written: Vec<u8>,
    /// The type with which this job has opened an object, by the object's name.
    pub(crate) opened: BTreeMap<String, (TypeId, &'static str)>,
    pub(crate) file: PmemFile,
    /// Whether a persist has failed.
    pub(crate) failed: bool,
}

impl Shelf {
    /// Reads the list of names of a partition in the slot at `mine`, and reserves the named objects; or begins an empty list. The
    /// partition has `range` of the slot, and its heap begins `heap` bytes after the start.
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
        let encoded = objects.iter().map(|object| codec::encode(object).len()).sum();
        let (title, opened, written) = (spec.title(), BTreeMap::new(), Vec::new());
        let mut shelf =
            Self { segment, start, title, objects, encoded, list, written, opened, file, failed: false };
        // SAFETY: the caller's promise.
        unsafe { shelf.write_names(mine) };
        Ok(shelf)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Named> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Fails if the list has no room for one more object, with the list's size in bytes.
    pub(crate) fn has_room_for(&self, object: &Named) -> Result<(), usize> {
        // The number of objects and the offset of the object take at most ten bytes each.
        let needed = HEAD + self.encoded + codec::encode(object).len() + 20;
        if needed <= self.list.len() { Ok(()) } else { Err(self.list.len()) }
    }

    /// Adds an object for which the list has room.
    pub(crate) fn add(&mut self, object: Named) {
        self.encoded += codec::encode(&object).len();
        self.objects.push(object);
    }

    pub(crate) fn take(&mut self, at: usize) -> Named {
        let object = self.objects.remove(at);
        self.encoded -= codec::encode(&object).len();
        object
    }

    /// Writes the list of names into the partition, before the partition is saved. Returns whether the list that was written before
    /// has been overwritten.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's slot, and no other thread of this PE calls this. Raw transfers may overlap.
    pub(crate) unsafe fn write_names(&mut self, mine: *mut u8) -> bool {
        let (list, mut there) = (mine.wrapping_add(self.list.start), vec![0; self.written.len()]);
        // SAFETY: the bytes are part of the list, which the ledger has reserved in the partition that is mapped at `mine` (caller).
        // No reference to the list exists, and a raw transfer meanwhile is no race (`shared`).
        unsafe { shared::copy(there.as_mut_ptr(), list, there.len()) };
        let is_overwritten = there != self.written;
        self.written = encode(&self.objects);
        assert!(self.written.len() <= self.list.len(), "a list of names has room before one is added");
        // SAFETY: the ledger has reserved the list in the partition, which is mapped at `mine` (caller), and has at least
        // as many bytes (asserted). No reference to the list exists, and a raw transfer meanwhile is no race (`shared`).
        unsafe { shared::copy(list, self.written.as_ptr(), self.written.len()) };
        is_overwritten
    }
}

/// Whether the partition at position `k` begins with the contents of its file.
pub(crate) fn kept(files: &BTreeMap<usize, PmemFile>, k: usize) -> bool {
    files.get(&k).is_some_and(|file| file.generation() > 0)
}

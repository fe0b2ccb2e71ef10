//! A persistent partition, with its file and its named objects.

use core::any::TypeId;
use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::heap::{Ledger, MIN_ALIGN};
use shmem_core::memory::PmemFile;
use shmem_core::partition::PartitionSpec;
use shmem_core::shared;
use shmem_launch::codec;

use super::names::{HEAD, Named, decode, encode, room};

pub(crate) struct PersistentPartition {
    pub(crate) segment: u32,
    pub(crate) start: usize,
    pub(crate) title: String,
    /// The named objects in the partition, oldest first.
    pub(crate) objects: Vec<Named>,
    encoded: usize,
    /// Range of the list of names, in bytes from the start of the PE's symmetric memory.
    list: Range<usize>,
    /// The bytes of the list of names that were last written into the partition.
    written: Vec<u8>,
    /// The item type with which this job has opened an object, by the object's name.
    pub(crate) opened: BTreeMap<String, (TypeId, &'static str)>,
    pub(crate) file: PmemFile,
    /// Whether a persist of the partition has failed.
    pub(crate) failed: bool,
}

impl PersistentPartition {
    /// Reads the list of names of a partition in the PE's slot (its symmetric memory) at `mine`, and reserves the memory of the
    /// named objects. Then writes the list, which is empty if the file is new. The partition is `range` of the slot, and its heap
    /// begins `heap` bytes after its start.
    ///
    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot. The partition must be mapped there, and not be used yet.
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
            // SAFETY: the ledger has reserved the list in the partition, which is mapped at `mine` and not written yet (caller).
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
        // SAFETY: `mine` is the start of this PE's slot, and the partition is mapped there and not used yet (caller).
        unsafe { shelf.write_names(mine) };
        Ok(shelf)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Named> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Checks that the list of names has space for one more object. Otherwise returns the bytes of the whole list as the error.
    pub(crate) fn has_room_for(&self, object: &Named) -> Result<(), usize> {
        // The number of objects and the object's offset may still grow. Each takes at most ten bytes.
        let needed = HEAD + self.encoded + codec::encode(object).len() + 20;
        if needed <= self.list.len() { Ok(()) } else { Err(self.list.len()) }
    }

    /// Adds an object to the list of names, after [`has_room_for`](Self::has_room_for) has succeeded.
    pub(crate) fn add(&mut self, object: Named) {
        self.encoded += codec::encode(&object).len();
        self.objects.push(object);
    }

    pub(crate) fn take(&mut self, at: usize) -> Named {
        let object = self.objects.remove(at);
        self.encoded -= codec::encode(&object).len();
        object
    }

    /// Writes the list of names into the partition, before a persist. Returns whether the program has overwritten the old one.
    ///
    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot, and no other thread of this PE may be in this call. Raw transfers may access the
    /// list meanwhile.
    pub(crate) unsafe fn write_names(&mut self, mine: *mut u8) -> bool {
        let (list, mut there) = (mine.wrapping_add(self.list.start), vec![0; self.written.len()]);
        // SAFETY: the bytes are in the range that the ledger has reserved for the list, in the partition that is mapped at `mine`
        // (caller). There is no reference to the list, and `shared::copy` is sound even while a raw transfer accesses the list.
        unsafe { shared::copy(there.as_mut_ptr(), list, there.len()) };
        let is_overwritten = there != self.written;
        self.written = encode(&self.objects);
        assert!(self.written.len() <= self.list.len(), "a list of names has room before one is added");
        // SAFETY: the ledger has reserved the list in the partition that is mapped at `mine` (caller). The list has at least as
        // many bytes (asserted). There is no reference to it, and `shared::copy` is sound even while a raw transfer accesses it.
        unsafe { shared::copy(list, self.written.as_ptr(), self.written.len()) };
        is_overwritten
    }
}

/// Returns whether the partition at position `k` starts with the contents of its file.
pub(crate) fn kept(files: &BTreeMap<usize, PmemFile>, k: usize) -> bool {
    files.get(&k).is_some_and(|file| file.generation() > 0)
}

//! A partition that outlives the job, with its file and its objects by name.

use core::any::TypeId;
use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::heap::{Ledger, MIN_ALIGN};
use shmem_core::memory::{Backing, PmemFile};
use shmem_core::partition::PartitionSpec;
use shmem_core::shared;

use super::names::{Named, decode, encode, room};

/// A partition that outlives the job; or should have, and lies in memory instead.
pub(crate) struct Shelf {
    pub(crate) segment: u32,
    /// Where it starts: bytes from the start of a slot.
    pub(crate) start: usize,
    pub(crate) title: String,
    /// Its objects with names, in the order in which they were made.
    pub(crate) objects: Vec<Named>,
    /// Where the list of them stands: bytes from the start of a slot.
    list: Range<usize>,
    /// As what this job has opened the objects: the type of their items, and its name.
    pub(crate) opened: BTreeMap<String, (TypeId, &'static str)>,
    /// `None`: it lies in memory.
    pub(crate) file: Option<Box<PmemFile>>,
    /// Whether a persist has failed.
    pub(crate) failed: bool,
}

impl Shelf {
    /// Reads the names of a partition that lies in the slot at `mine`, and reserves what they stand for; or
    /// begins a list. It takes up `range` of the slot, and its heap begins `heap` bytes behind its start. An error is what
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
        let (start, room) = (range.start, room(range.len().saturating_sub(heap)));
        let file = match backing {
            Backing::File(file) => Some(file),
            Backing::Instead(_) => None,
        };
        let wrong = |what: String| match &file {
            Some(file) => format!("{}: {}: {what}", spec.title(), file.path().display()),
            None => format!("{}: {what}", spec.title()),
        };
        let list = start + heap.next_multiple_of(MIN_ALIGN);
        let list = list..list + room;
        let reserved = ledger.restore(segment, list.start, room, MIN_ALIGN);
        reserved.map_err(|error| wrong(format!("no room for a list of names: {error}")))?;
        let mut objects = Vec::new();
        if file.as_ref().is_some_and(|file| file.generation() > 0) {
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

    /// The object with a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Named> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Whether the list has room for an object more.
    ///
    /// # Errors
    ///
    /// If not: how many bytes it has.
    pub(crate) fn has_room_for(&self, object: &Named) -> Result<(), usize> {
        let objects = [&self.objects[..], core::slice::from_ref(object)].concat();
        // The place of the object is a number of at most ten bytes.
        if encode(&objects).len() + 10 <= self.list.len() { Ok(()) } else { Err(self.list.len()) }
    }

    /// Writes the list of names into the partition, and says whether another one was there.
    ///
    /// # Safety
    ///
    /// `mine` is this PE's slot, and no other thread is here. Raw transfers of PEs may reach what is written.
    pub(crate) unsafe fn write_names(&self, mine: *mut u8) -> bool {
        let names = encode(&self.objects);
        assert!(names.len() <= self.list.len(), "a list of names has room before one is added");
        let mut there = vec![0; names.len()];
        // SAFETY: as many bytes of the list, which the ledger has reserved in the partition that is mapped at `mine` (caller). No
        // reference to it exists, and what a raw transfer writes meanwhile is no race (`shared`).
        unsafe { shared::copy(there.as_mut_ptr(), mine.wrapping_add(self.list.start), names.len()) };
        // SAFETY: the ledger has reserved the list in the partition, which is mapped at `mine` (caller), and it has so many
        // bytes. No reference to it exists, and what a raw transfer writes meanwhile is no race (`shared`).
        unsafe { shared::copy(mine.wrapping_add(self.list.start), names.as_ptr(), names.len()) };
        there != names
    }
}

/// Whether a partition, by its position, keeps the contents that it has.
pub(crate) fn kept(files: &BTreeMap<usize, Backing>, k: usize) -> bool {
    matches!(files.get(&k), Some(Backing::File(file)) if file.generation() > 0)
}

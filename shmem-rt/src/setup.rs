//! The description of a job before it starts: settings, partitions and statics, from the environment and the binary.
//! (PEs compare their descriptions in `start/agreement.rs`.)

use std::collections::BTreeMap;
use std::sync::OnceLock;

use shmem_core::heap::statics::{self, Layout};
use shmem_core::linker_section;
use shmem_core::memory::{Machine, PmemFile, SlotLayout};
use shmem_core::object::Descriptor;
use shmem_core::partition::{Environment, StaticEntry, Table};
use shmem_launch::env::{self, Settings};

use crate::error::Result;
use crate::state::persistent_partition;

/// Description of a program that is not in Rust. The program passes it before it joins its job.
#[derive(Debug)]
pub struct Program {
    /// A text of one line on the program, which PEs compare at the start: it must be equal on all PEs.
    pub line: String,
    /// Bytes of the program's globals that become a segment; 0 if there is no such segment.
    pub globals: usize,
    /// Bytes of the default heap if the environment gives no size.
    pub default_heap: u64,
}

pub(crate) static PROGRAM: OnceLock<Program> = OnceLock::new();

pub(crate) struct Setup {
    pub(crate) settings: Settings,
    pub(crate) table: Table,
    descriptors: Vec<&'static Descriptor>,
    pub(crate) statics: Layout,
    pub(crate) layout: SlotLayout,
}

impl Setup {
    pub(crate) fn make(settings: Settings) -> Result<Self> {
        let descriptors = linker_section::descriptors()?;
        let declared: Vec<_> = linker_section::declarations()?.into_iter().copied().collect();
        let entries: Vec<StaticEntry> = descriptors.iter().map(|d| d.entry).collect();
        let environment = Environment::collect(env::process())?
            .with_default_heap(PROGRAM.get().map(|program| program.default_heap));
        let table = Table::resolve(&declared, &entries, &environment)?;
        let statics = statics::layout(&entries, table.specs())?;
        let layout = SlotLayout::new(
            table.specs(),
            settings.team_size as usize,
            dynamic_bytes(&settings),
            &Machine::default().topology(),
        )?;
        Ok(Self { settings, table, descriptors, statics, layout })
    }

    /// Stores the position of every static in its handle, and copies initial values into the slot at `place`, except for partitions
    /// with the contents of an earlier job. Must be called before any token exists in this process.
    pub(crate) fn place_statics(&self, place: *mut u8, files: &BTreeMap<usize, PmemFile>) {
        for part in &self.statics.partitions {
            let k = part.index as usize - 1;
            let (start, kept) = (self.layout.partition(k).start, persistent_partition::kept(files, k));
            for placed in &part.objects {
                let (offset, descriptor) = (start + placed.offset as usize, self.descriptors[placed.entry]);
                let (image, bytes) = (descriptor.image.0, descriptor.entry.size as usize);
                if !kept && !image.is_null() {
                    // SAFETY: the image has `bytes` bytes, and the layout reserves as many at the destination, in this
                    // PE's mapped slot. The two do not overlap, because the image is part of the binary.
                    unsafe { core::ptr::copy_nonoverlapping(image, place.wrapping_add(offset), bytes) };
                }
                // SAFETY: no token exists yet in this process. The layout reserves the object's bytes at this offset in
                // every PE's slot, and all PEs have agreed on the layout.
                unsafe { descriptor.position.place(part.index, offset) };
            }
        }
    }
}

/// Returns the bytes of address space that the start reserves for dynamic segments.
pub(crate) fn dynamic_bytes(settings: &Settings) -> usize {
    (settings.dynamic_size as usize).saturating_add(PROGRAM.get().map_or(0, |program| program.globals))
}

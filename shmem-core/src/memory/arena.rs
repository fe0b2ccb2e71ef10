//! The arena: the addresses of the slots of all PEs of the node.
//!
//! In every process of the node, slot `s` starts at `base + s * stride`. All addresses are reserved at once. A PE maps memory there
//! when it creates its own memory or attaches a peer's. Accesses to other addresses fault.

use core::ops::Range;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use super::capacity;
use super::error::MemoryError;
use super::layout::SlotLayout;
use super::machine_memory::Machine;
use super::mapping::{OWN_ALIGN, Reservation};
use super::numa;
use super::own_memory::{OwnMemory, SlotArea, adopt, provide};
use super::peer_memory::{FilePart, check_file, check_parts};
use super::placement::Spread;
use super::pmem::PmemFile;
use super::segment_request::Request;
use crate::exclusion::Mutex;

/// The slots of all PEs of the node. Methods panic if the slot does not exist. Those that map memory panic if the slot already has
/// memory at these addresses.
#[derive(Debug)]
pub struct Arena {
    layout: SlotLayout,
    slots: usize,
    pub(super) machine: Machine,
    pub(super) reservation: Reservation,
    /// The mapped ranges, and those that a thread is about to map: from (slot, start) to end.
    mapped: Mutex<BTreeMap<(usize, usize), usize>>,
}

impl Arena {
    /// Reserves addresses for `slots` PEs, and checks that the machine has the memory that `layout` requests. Allocates none yet.
    /// The slot of this PE, number `own`, starts at a multiple of [`OWN_ALIGN`].
    ///
    /// Memory to be populated is compared with the node's available memory. Since [`create`](Self::create) reduces the latter, all
    /// PEs of the node must call this before any of them calls it. `alike` is the number of PEs, this one included, that may have
    /// memory of the same NUMA nodes ([`SlotLayout::allowed_nodes`]).
    /// Fails if a limit is too low, or the machine lacks mandatory memory.
    pub fn reserve(
        own: usize,
        layout: SlotLayout,
        slots: usize,
        alike: usize,
        machine: Machine,
    ) -> Result<Self, MemoryError> {
        // Strides are multiples of the layout's unit, so if the first slot is aligned to the unit, all are.
        let align = layout.unit().max(OWN_ALIGN);
        let reservation = layout
            .stride()
            .checked_mul(slots)
            .and_then(|bytes| Reservation::new(bytes, align, own * layout.stride()).ok())
            .ok_or_else(|| capacity::address_space(&layout, slots))?;
        capacity::check(layout.requests(), layout.bytes(), slots, alike, &machine)?;
        capacity::descriptors(layout.requests(), slots, &machine)?;
        Ok(Self { layout, slots, machine, reservation, mapped: Mutex::default() })
    }

    /// The layout of each slot.
    pub fn layout(&self) -> &SlotLayout {
        &self.layout
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Start of the first slot.
    pub fn base(&self) -> *mut u8 {
        self.reservation.start().as_ptr()
    }

    /// Bytes from one slot to the next.
    pub fn stride(&self) -> usize {
        self.layout.stride()
    }

    /// Start of a slot, usable from the creation or attachment of its memory until the arena is dropped.
    pub fn start_of(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the reservation has `slots` slots of `stride` bytes.
        unsafe { self.base().add(slot * self.stride()) }
    }

    /// Makes the system area and the partitions of the PE in `slot`, and maps them. Only partitions with a requested kind, policy
    /// or page size are populated. `files` has the file of each partition that survives the job. Its keys are the partitions'
    /// positions in the order of IDs.
    ///
    /// If the PEs are threads of one process, the process calls this for each slot.
    /// Fails if the machine does not provide the memory.
    /// Panics unless exactly the partitions that survive the job have a file.
    pub fn create(&self, slot: usize, files: &BTreeMap<usize, PmemFile>) -> Result<OwnMemory, MemoryError> {
        let requests = self.layout.requests().iter().enumerate();
        let wanted: Vec<_> =
            requests.map(|(k, request)| (self.layout.partition(k).start, request, files.get(&k))).collect();
        for (_, request, file) in &wanted {
            assert_eq!(
                request.is_in_file(),
                file.is_some(),
                "{}: a file, if it survives the job",
                request.what
            );
        }
        self.mapping(slot, 0..self.layout.bytes(), |area| {
            // SAFETY: nothing was mapped in the area (`mapping`), so nothing refers to it.
            unsafe { provide(area, &wanted) }
        })
    }

    /// Maps memory that the PE in `slot` made: its system area and all its partitions. If `dynamic` is given, maps a dynamic
    /// segment instead, which the peer made by [`create_dynamic`](Self::create_dynamic) with this offset and request. `descriptors`
    /// and `parts` come from the peer, and are checked.
    /// Fails if the memory does not fit the layout, or could be resized.
    /// Panics if the dynamic segment is not in [`SlotLayout::dynamic`].
    pub fn attach(
        &self,
        slot: usize,
        dynamic: Option<(usize, &Request)>,
        descriptors: &[OwnedFd],
        parts: &[FilePart],
    ) -> Result<(), MemoryError> {
        let (range, least, named) = match dynamic {
            Some((offset, request)) => (self.dynamic_area(offset, request), request.bytes, Vec::new()),
            None => (0..self.layout.bytes(), self.layout.bytes(), self.named()),
        };
        let refused = |reason| {
            MemoryError::new(format!(
                "the memory that the PE in slot {slot} of this node handed over is refused: {reason}; all PEs must run the same program with the same partitions"
            ))
        };
        self.mapping(slot, range, |area| {
            let (start, end) = (area.range.start as u64, area.range.end as u64);
            let ends = start + least as u64..=end;
            check_parts(parts, start, ends, descriptors.len()).map_err(refused)?;
            for (number, file) in descriptors.iter().enumerate() {
                check_file(number, file, parts, &named).map_err(refused)?;
            }
            for part in parts {
                let range = area.origin + part.offset as usize..area.origin + part.end() as usize;
                // SAFETY: the range is inside the area (`check_parts`), in which nothing was mapped (`mapping`), so nothing refers
                // to it.
                unsafe { self.reservation.map(range.clone(), &descriptors[part.file as usize], part.at) }
                    .map_err(MemoryError::of_call("mmap", "mapping the memory of a peer"))?;
                // The core dump of the peer has this memory.
                self.reservation.leave_out_of_dumps(range);
            }
            Ok(())
        })
    }

    /// Checks that every PE of the node can make a dynamic segment (one made after init). The bytes are compared with available
    /// memory. Since [`create_dynamic`](Self::create_dynamic) reduces the latter, all PEs of the node must call this before any of
    /// them calls it. `alike` is the number of PEs, this one included, that may have memory of the same NUMA nodes. Fails if the
    /// machine lacks memory.
    pub fn check_dynamic(&self, request: &Request, alike: usize) -> Result<(), MemoryError> {
        capacity::check(core::slice::from_ref(request), request.bytes, self.slots, alike, &self.machine)
    }

    /// Makes the memory of a dynamic segment of the PE in `slot`, at `offset` from the start of the slot, and maps it. The offset
    /// comes from a [`DynamicRange`](super::DynamicRange).
    ///
    /// With a memfd `given`, seals the memfd's size, and maps its first `request.bytes` bytes (whole pages) a second time. The
    /// memfd's existing mapping stays. Fails if the machine has no memory, or the memfd cannot be sealed or mapped.
    /// Panics if the range is not in [`SlotLayout::dynamic`], or the bytes of a memfd `given` are not whole pages.
    pub fn create_dynamic(
        &self,
        slot: usize,
        offset: usize,
        request: &Request,
        given: Option<OwnedFd>,
    ) -> Result<OwnMemory, MemoryError> {
        let page = self.machine.base_page() as usize;
        let whole = given.is_none() || request.bytes.is_multiple_of(page);
        assert!(whole, "{} has whole pages", request.what);
        self.mapping(slot, self.dynamic_area(offset, request), |area| match given {
            // SAFETY: nothing was mapped in the area (`mapping`), so nothing refers to it.
            Some(memfd) => unsafe { adopt(&area, request.bytes, memfd) },
            // SAFETY: nothing was mapped in the area (`mapping`), so nothing refers to it.
            None => unsafe { provide(area, &[(offset, request, None)]) },
        })
    }

    /// Unmaps a dynamic segment. The memory is freed when all processes have unmapped it.
    /// Panics if no dynamic segment starts at `offset`.
    ///
    /// # Safety
    ///
    /// Nothing may refer to the segment.
    pub unsafe fn remove_dynamic(&self, slot: usize, offset: usize) {
        assert!(offset >= self.layout.dynamic().start, "{offset:#x} is not a dynamic segment");
        let mut mapped = self.mapped.lock();
        let end = mapped.remove(&(slot, offset));
        let end = end.unwrap_or_else(|| panic!("slot {slot} has no dynamic segment at {offset:#x}"));
        let origin = slot * self.stride();
        // SAFETY: the range is a segment (it was in `mapped`) to which nothing refers (caller).
        unsafe { self.reservation.clear(origin + offset..origin + end) };
    }

    /// Ranges of a slot whose memory a PE may hand over as named files, because the partitions survive the job.
    fn named(&self) -> Vec<Range<u64>> {
        let requests = self.layout.requests().iter().enumerate();
        let named = requests.filter(|(_, request)| request.is_in_file());
        named
            .map(|(k, request)| {
                let start = self.layout.partition(k).start;
                start as u64..(start + request.bytes.next_multiple_of(request.room())) as u64
            })
            .collect()
    }

    fn dynamic_area(&self, offset: usize, request: &Request) -> Range<usize> {
        let (dynamic, granule) = (self.layout.dynamic(), self.layout.granule());
        let room = request.room().max(granule);
        let end = request.bytes.checked_next_multiple_of(room).and_then(|bytes| offset.checked_add(bytes));
        let inside = offset >= dynamic.start && end.is_some_and(|end| end <= dynamic.end);
        assert!(inside && offset.is_multiple_of(granule), "{} does not fit at {offset:#x}", request.what);
        offset..end.unwrap_or(dynamic.end)
    }

    /// Calls `work`, which maps an unmapped area of a slot. Unmaps the area if `work` fails.
    fn mapping<R>(
        &self,
        slot: usize,
        range: Range<usize>,
        work: impl FnOnce(SlotArea<'_>) -> Result<R, MemoryError>,
    ) -> Result<R, MemoryError> {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        let mut mapped = self.mapped.lock();
        let below = mapped.range((slot, 0)..(slot, range.end)).next_back();
        assert!(
            below.is_none_or(|(_, &end)| end <= range.start),
            "slot {slot} has memory at {:#x} already",
            range.start
        );
        mapped.insert((slot, range.start), range.end);
        drop(mapped);
        let origin = slot * self.stride();
        let result = work(SlotArea { arena: self, origin, range: range.clone() });
        if result.is_err() {
            // SAFETY: the area was unmapped before `work`, which failed and gave out no pointer.
            unsafe { self.reservation.clear(origin + range.start..origin + range.end) };
            self.mapped.lock().remove(&(slot, range.start));
        }
        result
    }
}

/// Placement of base pages on NUMA nodes. Ranges are bytes from the slot's start. Methods panic if a range does not start on a
/// page, or is not in a slot.
impl Arena {
    /// Sets the NUMA nodes of future pages of each range, whichever process touches a page first. The first node of a range is
    /// preferred. The ranges are ascending, and have base pages. With [`Spread::System`] or no nodes, the system decides. The nodes
    /// are set in the memory's file, so this PE's mapping is not split.
    ///
    /// Existing pages do not move; [`discard`](Self::discard) a range beforehand to place it anew.
    /// Fails if the system call fails; see [`MemoryError::no_nodes`].
    pub fn place_ranges(
        &self,
        slot: usize,
        ranges: &[(Range<usize>, &[u32])],
        spread: Spread,
    ) -> Result<(), MemoryError> {
        let start = self.reservation.address(&self.within(slot, &(0..0)));
        for (range, _) in ranges {
            self.within(slot, range);
        }
        numa::bind_file(start, ranges, spread)
            .map_err(MemoryError::of_call("mbind", "placing memory on nodes"))
    }

    /// The NUMA node of each page in a range of a slot, for pages of `page` bytes; `None`: the page does not exist. Pages that
    /// peers touched first are included. Fails if a system call fails; see [`MemoryError::no_nodes`].
    pub fn nodes_of(
        &self,
        slot: usize,
        range: Range<usize>,
        page: usize,
    ) -> Result<Vec<Option<u32>>, MemoryError> {
        assert!(page.is_power_of_two() && range.start.is_multiple_of(page), "{range:x?} in pages of {page}");
        let inside = self.within(slot, &range);
        self.reservation
            .enter(inside.clone())
            .map_err(MemoryError::of_call("mincore", "looking for pages"))?;
        numa::nodes_of_pages(self.reservation.address(&inside), range.len(), page)
            .map_err(MemoryError::of_call("move_pages", "asking for the nodes of pages"))
    }

    /// Number of existing pages on each NUMA node in a range of a slot, by node number, for pages of `page` bytes.
    /// Fails if a system call fails; see [`MemoryError::no_nodes`].
    pub fn pages_per_node(
        &self,
        slot: usize,
        range: Range<usize>,
        page: usize,
    ) -> Result<Vec<(u32, u64)>, MemoryError> {
        self.nodes_of(slot, range, page).map(numa::count)
    }

    /// Allocates the pages of a range of a slot, in several threads if the range is large. Contents do not change. Fails if no
    /// memory is left on the NUMA nodes to which the range is bound.
    pub fn populate(&self, slot: usize, range: Range<usize>) -> Result<(), MemoryError> {
        let inside = self.within(slot, &range);
        let page = self.machine.base_page() as usize;
        self.reservation.populate(inside, page).map_err(MemoryError::of_call("madvise", "populating memory"))
    }

    /// Frees the pages of a range of a slot, which is zero afterwards. Fails if the system call fails.
    ///
    /// # Safety
    ///
    /// Nothing may refer to the range, in any process.
    pub unsafe fn discard(&self, slot: usize, range: Range<usize>) -> Result<(), MemoryError> {
        let inside = self.within(slot, &range);
        // SAFETY: nothing refers to the range (caller).
        unsafe { self.reservation.discard(&inside) }
            .map_err(MemoryError::of_call("madvise", "giving pages back"))
    }

    fn within(&self, slot: usize, range: &Range<usize>) -> Range<usize> {
        let (slot_bytes, page) = (self.layout().slot_bytes(), self.machine.base_page() as usize);
        assert!(slot < self.slots(), "slot {slot} of {}", self.slots());
        assert!(
            range.start <= range.end && range.end <= slot_bytes && range.start.is_multiple_of(page),
            "{range:x?} is no range of pages in a slot of {slot_bytes:#x} bytes"
        );
        let origin = slot * self.stride();
        origin + range.start..origin + range.end
    }
}

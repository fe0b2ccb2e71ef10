//! Where the pages of a slot are, and where those that come later shall be.
//!
//! For memory of base pages, merged ones included. Pages of a pool exist from the start and stay where
//! they are.

use core::ops::Range;

use super::arena::Arena;
use super::error::MemoryError;
use super::numa;
use super::placement::Spread;
use super::provide::system;

/// Ranges are in bytes from the start of a slot.
///
/// # Errors
///
/// What the kernel says; see [`MemoryError::no_nodes`].
///
/// # Panics
///
/// If a range is outside the slot, or not of pages.
impl Arena {
    /// Has pages that come later in ranges of a slot come from the nodes that stand behind each, the first before the others:
    /// also those that a peer touches first. The ranges are ascending, and of base pages. With [`Spread::System`] or no nodes, the
    /// slot has no say any more. The mapping stays one, however many ranges there are.
    ///
    /// Pages that exist stay where they are, unless the range is [given back](Self::discard) beforehand.
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
        numa::bind_file(start, ranges, spread).map_err(system("mbind", "placing memory on nodes"))
    }

    /// The node of each page of `page` bytes in a range of a slot, as the kernel says; `None`: there is
    /// no such page yet. Pages that only a peer has touched count as well.
    pub fn nodes_of(
        &self,
        slot: usize,
        range: Range<usize>,
        page: usize,
    ) -> Result<Vec<Option<u32>>, MemoryError> {
        assert!(page.is_power_of_two() && range.start.is_multiple_of(page), "{range:x?} in pages of {page}");
        let inside = self.within(slot, &range);
        self.reservation.enter(inside.clone()).map_err(system("mincore", "looking for pages"))?;
        numa::nodes_of_pages(self.reservation.address(&inside), range.len(), page)
            .map_err(system("move_pages", "asking for the nodes of pages"))
    }

    /// Pages of `page` bytes on each node in a range of a slot, in the order of the nodes' numbers. Those
    /// that do not exist yet are left out.
    pub fn pages_per_node(
        &self,
        slot: usize,
        range: Range<usize>,
        page: usize,
    ) -> Result<Vec<(u32, u64)>, MemoryError> {
        self.nodes_of(slot, range, page).map(numa::count)
    }

    /// Makes the pages of a range of a slot, from several threads if it is large. What is in them stays. It fails if there is no
    /// memory left where they must come from.
    pub fn populate(&self, slot: usize, range: Range<usize>) -> Result<(), MemoryError> {
        let inside = self.within(slot, &range);
        let page = self.machine.base_page() as usize;
        self.reservation.populate(inside, page).map_err(system("madvise", "populating memory"))
    }

    /// Gives the pages of a range of a slot back to the system. It is zero afterwards, and pages come
    /// again when they are touched.
    ///
    /// # Safety
    ///
    /// Nothing refers to the range, in any process.
    pub unsafe fn discard(&self, slot: usize, range: Range<usize>) -> Result<(), MemoryError> {
        let inside = self.within(slot, &range);
        // SAFETY: the caller's promise.
        unsafe { self.reservation.discard(&inside) }.map_err(system("madvise", "giving pages back"))
    }

    /// A range of a slot, in the reservation.
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

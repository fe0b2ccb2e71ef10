//! Memory for slots that tests make themselves: no processes, no mappings, so that Miri can look on.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use crate::system::SYSTEM_BYTES;

/// Slots start on pages.
const PAGE: usize = 4096;

/// Zeroed memory for some slots, freed on drop.
pub(crate) struct Slots {
    memory: *mut u8,
    layout: Layout,
    each: usize,
}

impl Slots {
    /// `count` slots with `bytes` bytes behind the system area of each.
    pub(crate) fn new(count: usize, bytes: usize) -> Self {
        let each = (SYSTEM_BYTES + bytes).next_multiple_of(PAGE);
        // Pages that nobody has written yet are asked for, and they are aligned here: an allocator that is asked for pages that are
        // aligned writes all of their zeroes.
        let layout = Layout::array::<u128>((count * each + PAGE) / size_of::<u128>());
        let layout = layout.expect("the slots fit memory");
        // SAFETY: they are some bytes, at least those of a page.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Self { memory, layout, each }
    }

    /// Bytes from one slot to the next.
    pub(crate) fn stride(&self) -> usize {
        self.each
    }

    /// Start of a slot.
    pub(crate) fn start_of(&self, number: usize) -> *mut u8 {
        let first = self.memory.addr().next_multiple_of(PAGE) - self.memory.addr();
        self.memory.wrapping_add(first + number * self.each)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: it was allocated in `new` with this layout, and nobody else frees it.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

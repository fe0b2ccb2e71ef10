//! Memory for slots that tests make themselves: no processes, no mappings, so that Miri can look on.

use crate::system::SYSTEM_BYTES;

/// Slots start on pages.
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// Zeroed memory for some slots, freed on drop.
pub(crate) struct Slots {
    start: *mut Page,
    pages: usize,
    each: usize,
}

impl Slots {
    /// `count` slots with `bytes` bytes behind the system area of each.
    pub(crate) fn new(count: usize, bytes: usize) -> Self {
        let each = (SYSTEM_BYTES + bytes).next_multiple_of(size_of::<Page>());
        let pages = count * each / size_of::<Page>();
        let memory: Box<[Page]> = (0..pages).map(|_| Page([0; 4096])).collect();
        Self { start: Box::into_raw(memory).cast(), pages, each }
    }

    /// Bytes from one slot to the next.
    pub(crate) fn stride(&self) -> usize {
        self.each
    }

    /// Start of a slot.
    pub(crate) fn start_of(&self, number: usize) -> *mut u8 {
        self.start.cast::<u8>().wrapping_add(number * self.each)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        let memory = core::ptr::slice_from_raw_parts_mut(self.start, self.pages);
        // SAFETY: from `into_raw` in `new`, with this length.
        drop(unsafe { Box::from_raw(memory) });
    }
}

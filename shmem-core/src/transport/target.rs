//! The target's side of operations from other nodes.
//!
//! On the same node, the initiator accesses the target's memory itself. Over a transport, the thread that delivers an operation on
//! the target's side carries it out on the [`Target`].

use core::ops::Range;

use super::atomic_op::{AtomicOp, Width, apply};
use crate::planted_fault::mutant;
use crate::strided::{self, Pattern, TransferPlan};
use crate::sync::Doorbell;

/// A PE's memory as the target of messages: all memory that is mapped from the start, or one dynamic segment (made later).
#[derive(Clone, Copy, Debug)]
pub struct Target {
    slot: *mut u8,
    start: usize,
    end: usize,
}

// SAFETY: the fields are an address and bounds. Methods access the memory by atomics, and by copies that tolerate other accesses.
unsafe impl Send for Target {}
// SAFETY: the fields are an address and bounds. Methods access the memory by atomics, and by copies that tolerate other accesses.
unsafe impl Sync for Target {}

impl Target {
    /// The memory at these offsets from the start of a slot.
    ///
    /// # Safety
    ///
    /// `slot` must be the start of a PE's slot, which begins with the system area. The system area and these offsets must be mapped
    /// for as long as the target is used.
    pub unsafe fn new(slot: *mut u8, Range { start, end }: Range<usize>) -> Self {
        Self { slot, start, end }
    }

    /// The address of `bytes` bytes at `offset`. Panics if they are not in the target's memory.
    pub(crate) fn at(self, offset: usize, bytes: usize) -> *mut u8 {
        let Self { start, end, .. } = self;
        self.address(offset, bytes).unwrap_or_else(|| {
            panic!("a message for {bytes} bytes at offset {offset:#x} does not fit the slot: {start:#x}..{end:#x}")
        })
    }

    /// The address of `bytes` bytes at `offset`, if they are in the target's memory.
    pub(crate) fn address(self, offset: usize, bytes: usize) -> Option<*mut u8> {
        let end = offset.checked_add(bytes)?;
        (offset >= self.start && end <= self.end).then(|| self.slot.wrapping_add(offset))
    }

    /// Writes packed data to blocks. Panics if the blocks are not in the target's memory, or the data is too short.
    pub(crate) fn unpack(self, offset: usize, pattern: &Pattern, data: &[u8]) {
        let (to, from) = pattern.hulls();
        assert!(from <= data.len(), "a message for {from} packed bytes has {}", data.len());
        let to = self.at(offset, to);
        if pattern.is_nested() {
            let plan = TransferPlan::auto(*pattern);
            // SAFETY: `at` has found the hull of the destination blocks in the target, and the assertion the hull of the packed
            // ones in `data`, which is private memory. The destination blocks are nested (`is_nested`), thus disjoint.
            return unsafe { strided::execute_dyn(&plan, to, data.as_ptr()) };
        }
        // One by one, because the blocks may overlap.
        pattern.each_block(|at, of| {
            let from = data.as_ptr().wrapping_add(of);
            // SAFETY: `to` and `from` are one block. `at` has found the hull of the destination blocks in the target, and the
            // assertion the hull of the packed ones in `data`.
            unsafe { super::shm::put(to.wrapping_add(at), from, pattern.block()) };
        });
    }

    /// Applies `op` to a word atomically, wakes the PE's sleepers by its bell unless `op` is a fetch, and returns the old value.
    ///
    /// # Panics
    ///
    /// If the word is not in the target's memory, or not aligned.
    pub fn update(self, offset: usize, width: Width, op: AtomicOp) -> u64 {
        let bytes = width.bytes();
        let word = self.at(offset, bytes);
        assert!(offset.is_multiple_of(bytes), "an atomic word at offset {offset:#x} is not aligned");
        let op = match op {
            AtomicOp::Add(v) if mutant("target-adds-in-two-steps") => {
                // SAFETY: `at` has found the word in the target, at an aligned offset (asserted), and a slot starts on a page.
                let before = unsafe { apply(word, width, AtomicOp::Fetch) };
                (0..50).for_each(|_| core::hint::spin_loop());
                AtomicOp::Set(before.wrapping_add(v))
            }
            op => op,
        };
        // SAFETY: `at` has found the word in the target, at an aligned offset (asserted), and a slot starts on a page. Words are
        // changed by atomics only.
        let before = unsafe { apply(word, width, op) };
        // Every change wakes all sleepers: a message does not say whether the word is the program's, for which only some of them
        // wait.
        if !matches!(op, AtomicOp::Fetch) {
            self.ring();
        }
        before
    }

    /// Rings the PE's bell, which wakes its sleepers. Only a word that was changed by a read-modify-write is sure to be seen by
    /// them.
    pub fn ring(self) {
        // SAFETY: the slot starts with the system area, which starts with the bell (`new`).
        let bell: &Doorbell = unsafe { &(*self.slot.cast::<crate::system_area::SystemArea>()).doorbell };
        bell.ring();
    }
}

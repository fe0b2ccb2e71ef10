//! [`Word`]: a word of the program's symmetric memory, in a `pSync` array or a lock, that the library updates.

use std::panic::Location;

use shmem::Pe;
use shmem_core::context::{Endpoint, untyped};
use shmem_core::observe::{Call, Family};
use shmem_core::transport::{AtomicOp, Remote, Width};

use crate::context;
use crate::symmetric::SegmentOffset;
use crate::wait::wait_for;

#[derive(Clone, Copy)]
pub(crate) struct Word {
    endpoint: &'static Endpoint,
    place: SegmentOffset,
    width: Width,
    routine: &'static str,
}

impl Word {
    /// # Safety
    ///
    /// `place` must have `width` bytes, and be aligned to that size.
    pub(crate) unsafe fn new(routine: &'static str, place: SegmentOffset, width: Width) -> Self {
        Self { endpoint: context::default_endpoint(routine), place, width, routine }
    }

    pub(crate) fn update(&self, pe: Pe, op: AtomicOp, family: Family) {
        self.fetch(pe, op, family);
    }

    /// Updates the word on a PE. Returns its old value.
    pub(crate) fn fetch(&self, pe: Pe, op: AtomicOp, family: Family) -> u64 {
        let word = Remote { pe, segment: self.place.segment, offset: self.place.offset };
        // SAFETY: the place is an aligned word of `width` bytes on every PE (`new`).
        unsafe { untyped::atomic(self.endpoint, None, word, self.width, op, family) }
    }

    pub(crate) fn mine(&self) -> u64 {
        let (slot, here) = (self.endpoint.mine(0), self.endpoint.mine(self.place.offset));
        // SAFETY: `here` is an aligned word of `width` bytes in this PE's slot (`new`).
        unsafe { untyped::on_node(slot, here, self.width, AtomicOp::Fetch) }
    }

    /// Blocks until `wanted` accepts the calling PE's word. Reports of long waits show `subject`.
    pub(crate) fn wait(&self, wanted: impl Fn(u64) -> bool, subject: impl Fn() -> String) {
        let (family, offset, bytes) = (Family::WaitUntil, self.place.offset, self.width.bytes());
        let call = || Call::new(family, Location::caller()).at(self.endpoint.me(), 0, offset, bytes);
        wait_for(self.endpoint, self.routine, call, || wanted(self.mine()), subject);
    }
}

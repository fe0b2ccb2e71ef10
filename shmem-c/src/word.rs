//! [`Word`]: words of the program that protocols of the library use, in `pSync` arrays and locks.

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
    /// `place` has `width` bytes, and is aligned to that size.
    pub(crate) unsafe fn new(routine: &'static str, place: SegmentOffset, width: Width) -> Self {
        Self { endpoint: context::default_endpoint(routine), place, width, routine }
    }

    pub(crate) fn update(&self, pe: Pe, op: AtomicOp, family: Family) {
        self.fetch(pe, op, family);
    }

    /// Changes the word of a PE. Returns its value before.
    pub(crate) fn fetch(&self, pe: Pe, op: AtomicOp, family: Family) -> u64 {
        let word = Remote { pe, segment: self.place.segment, offset: self.place.offset };
        // SAFETY: an aligned word of that width on every PE (`new`).
        unsafe { untyped::atomic(self.endpoint, None, word, self.width, op, family) }
    }

    pub(crate) fn mine(&self) -> u64 {
        let (slot, here) = (self.endpoint.mine(0), self.endpoint.mine(self.place.offset));
        // SAFETY: an aligned word of that width in the slot of this PE (`new`).
        unsafe { untyped::on_node(slot, here, self.width, AtomicOp::Fetch) }
    }

    /// Waits for the word of the calling PE. Messages of long waits name `subject`.
    pub(crate) fn wait(&self, wanted: impl Fn(u64) -> bool, subject: impl Fn() -> String) {
        let (family, offset, bytes) = (Family::WaitUntil, self.place.offset, self.width.bytes());
        let call = || Call::new(family, Location::caller()).at(self.endpoint.me(), 0, offset, bytes);
        wait_for(self.endpoint, self.routine, call, || wanted(self.mine()), subject);
    }
}

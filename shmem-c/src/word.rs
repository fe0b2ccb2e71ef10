//! Words of the program that the library's own protocols change: those of `pSync` arrays, and of locks.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use shmem::Pe;
use shmem_core::context::{Endpoint, untyped};
use shmem_core::observe::Family;
use shmem_core::transport::{AtomicOp, Remote, Width};

use crate::symmetric::Place;
use crate::types::Ctx;
use crate::wait::wait_for;
use crate::world;

/// A word of every PE.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    endpoint: &'static Endpoint,
    place: Place,
    width: Width,
    /// Who asks, for messages.
    routine: &'static str,
}

impl Word {
    /// An aligned word of a segment.
    ///
    /// # Safety
    ///
    /// The place has so many bytes, and is a multiple of them.
    pub(crate) unsafe fn new(routine: &'static str, place: Place, width: Width) -> Self {
        Self { endpoint: world::stream(Ctx::DEFAULT, routine).endpoint(routine), place, width, routine }
    }

    /// Changes that of a PE.
    pub(crate) fn update(&self, pe: Pe, op: AtomicOp, family: Family) {
        // SAFETY: an aligned word of that width on every PE (`new`).
        unsafe { untyped::update(self.endpoint, self.on(pe), self.width, op, family, Location::caller()) };
    }

    /// Changes that of a PE, and gives what was there.
    pub(crate) fn fetch(&self, pe: Pe, op: AtomicOp, family: Family) -> u64 {
        // SAFETY: an aligned word of that width on every PE (`new`).
        unsafe { untyped::atomic(self.endpoint, self.on(pe), self.width, op, family, Location::caller()) }
    }

    /// The calling PE's.
    pub(crate) fn mine(&self) -> u64 {
        let here = self.endpoint.mine(self.place.offset);
        match self.width {
            // SAFETY: an aligned word of four bytes in symmetric memory of this PE (`new`), changed by atomics alone.
            Width::W4 => u64::from(unsafe { AtomicU32::from_ptr(here.cast()) }.load(Ordering::Acquire)),
            // SAFETY: the same, of eight bytes.
            Width::W8 => unsafe { AtomicU64::from_ptr(here.cast()) }.load(Ordering::Acquire),
        }
    }

    /// Waits until the calling PE's is as wanted. `subject` says what for, when it takes long.
    pub(crate) fn wait(&self, wanted: impl Fn(u64) -> bool, subject: impl Fn() -> String) {
        let bytes = match self.width {
            Width::W4 => 4,
            Width::W8 => 8,
        };
        let (family, offset, location) = (Family::WaitUntil, self.place.offset, Location::caller());
        let looks = untyped::Looks { family, offset, bytes, wait: None, location };
        wait_for(self.endpoint, self.routine, looks, || wanted(self.mine()), subject);
    }

    fn on(&self, pe: Pe) -> Remote {
        Remote { pe, segment: self.place.segment, offset: self.place.offset }
    }
}

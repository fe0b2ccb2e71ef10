//! What a PE can reach: PEs by their number, memory by an address.
//!
//! Handles answer these questions by their type. What is here is for programs that keep numbers and
//! pointers, as those do that were ported from C.

use std::panic::Location;

use shmem_core::context::{Initiator, Raw};
use shmem_core::object::SymAddr;
use shmem_core::pe::Pe;

use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Whether there is a PE with this number. All PEs of a job can be reached by all operations;
    /// [`pe`](Self::pe) gives the PE itself.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_accessible`.
    pub fn pe_accessible(&self, number: usize) -> bool {
        number < self.n_pes()
    }

    /// Whether a pointer of this process is a symmetric address, which `putmem` and its relatives take for
    /// `pe` as for every other PE: symmetric memory is reached on all of them. To use one, turn it into an
    /// address by [`Raw::address`], which says what is wrong with the others.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_addr_accessible`.
    pub fn addr_accessible<T>(&self, pointer: *const T, pe: Pe) -> bool {
        self.address(pointer).is_ok() && self.pe_accessible(pe.number())
    }

    /// Where a symmetric address lies on `pe`, as a pointer of this process; `None`: the PE is on another
    /// node. What [`On::ptr`](crate::On::ptr) says of loads and stores holds here, too.
    ///
    /// # Panics
    ///
    /// If the address is no symmetric one.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ptr`.
    #[track_caller]
    pub fn ptr(&self, address: SymAddr, pe: Pe) -> Option<*mut u8> {
        let offset = self.offset_of("ptr", address);
        self.endpoint().mapped(pe, offset)
    }

    /// Where an address lies in the calling PE's slot.
    ///
    /// An address outside it is another one on each PE: as the argument of a collective it would
    /// look like a disagreement between them.
    #[track_caller]
    pub(crate) fn offset_of(&self, operation: &'static str, address: SymAddr) -> usize {
        self.endpoint().require_open(Location::caller());
        let (segments, address) = (self.endpoint().segments(), address.as_ptr() as usize);
        let offset = address.wrapping_sub(self.endpoint().mine(0) as usize);
        assert!(segments.find(offset, 1).is_some(), "{}", segments.miss(operation, address, offset, 1));
        offset
    }
}

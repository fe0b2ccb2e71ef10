//! Memory on both sides of a measured transfer.

use std::fmt;
use std::hint::black_box;

use shmem_core::context::{Stores, Strided};
use shmem_core::object::{On, SymAddr};
use shmem_core::pe::Pe;
use shmem_core::strided::{Plan, execute_dyn};

use super::baseline;
use super::spread::Spread;
use crate::baseline::near;
use crate::name::words;

words! {
    /// Which way a transfer goes.
    Direction {
        /// From private memory to the other PE.
        Put = "put",
        /// From the other PE to private memory.
        Get = "get",
    }
}

/// A place on another PE of this node, and private memory as large, from where both begin at an offset
/// of their own.
pub struct Sides<'t, I> {
    token: &'t I,
    pe: Pe,
    mine: SymAddr,
    near: *mut u8,
    private: Vec<u8>,
    skew: usize,
}

/// What both sides are aligned to at least: a page.
const ALIGN: usize = 4096;

impl<'t, I: Stores> Sides<'t, I> {
    /// Sides of `place` and as many private bytes.
    ///
    /// # Panics
    ///
    /// If `place` is not on this node.
    pub fn new(token: &'t I, place: On<'t, [u8]>) -> Self {
        let offset = place.offset();
        let mine = SymAddr::assume(token.endpoint().mine(offset));
        let near: *mut u8 = near(place.ptr(token)).cast();
        let private = vec![1; place.len() + ALIGN];
        Self { token, pe: place.pe(), mine, near, private, skew: 0 }
    }

    /// Bytes of each side.
    pub fn len(&self) -> usize {
        self.private.len() - ALIGN
    }

    /// Whether the sides have no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets the private side begin `skew` bytes behind a page's start. Less than a page.
    ///
    /// # Panics
    ///
    /// If it is not.
    #[must_use]
    pub fn skewed(mut self, skew: usize) -> Self {
        assert!(skew < ALIGN, "a skew is less than a page");
        self.skew = skew;
        self
    }

    /// Lets the private side begin so many bytes before where the other one begins in its page: by the low 12 bits of addresses,
    /// what is put looks like what is read next.
    #[must_use]
    pub fn followed(self, by: usize) -> Self {
        let skew = self.near.addr().wrapping_sub(by) % ALIGN;
        self.skewed(skew)
    }

    fn start(&self) -> usize {
        self.private.as_ptr().align_offset(ALIGN).min(ALIGN - self.skew) + self.skew
    }

    /// Bytes that blocks can lie in.
    pub fn room(&self) -> usize {
        self.len().saturating_sub(ALIGN)
    }

    /// Panics unless `hulls`, of `blocks`, lie in both sides.
    fn check(&self, hulls: (usize, usize), blocks: &dyn fmt::Display) {
        let room = self.room();
        assert!(hulls.0.max(hulls.1) <= room, "{blocks} does not fit sides of {room} bytes");
    }

    /// Moves `spread` as the library's `iputmem` and `igetmem` do.
    #[inline(never)]
    pub fn routine(&mut self, spread: &Spread, direction: Direction) {
        let start = self.start();
        let Spread { block, count, to, from } = *black_box(spread);
        match direction {
            Direction::Put => {
                self.token.iputmem(self.mine, &self.private[start..], to, from, block, count, self.pe);
            }
            Direction::Get => {
                self.token.igetmem(&mut self.private[start..], self.mine, to, from, block, count, self.pe);
            }
        }
    }

    /// Moves blocks in one loop by a given plan.
    ///
    /// # Panics
    ///
    /// If there are more loops, or blocks do not lie in both sides, or overlap.
    pub fn planned(&mut self, plan: &Plan, direction: Direction) {
        self.planned_from(0, plan, direction);
    }

    /// The same, with blocks that begin `first` bytes behind the start of both sides.
    ///
    /// # Panics
    ///
    /// As [`planned`](Self::planned).
    pub fn planned_from(&mut self, first: usize, plan: &Plan, direction: Direction) {
        let pattern = plan.pattern();
        let (to, from) = pattern.hulls();
        self.check((to.saturating_add(first), from.saturating_add(first)), plan);
        let [outer, row] = pattern.inner();
        let is_apart = row.count == 1 || row.to.min(row.from) >= pattern.block();
        assert!(outer.count == 1 && is_apart, "{plan} is not blocks in one loop");
        let (to, from) = self.ends(direction);
        // SAFETY: the plan's blocks lie in both sides and apart, as just checked. The sides are different
        // memory.
        unsafe { execute_dyn(plan, to.wrapping_add(first), from.wrapping_add(first)) };
    }

    /// Moves `spread` as Algorithm 1 does, by a put of this measure's own: see [`baseline::loop_of_puts`].
    ///
    /// # Panics
    ///
    /// If `spread` does not lie in both sides.
    pub fn loop_of_puts(&mut self, spread: &Spread, direction: Direction) {
        self.check(spread.hulls(), spread);
        let (to, from) = self.ends(direction);
        let start = self.near as usize;
        let place = start..start + self.len();
        // SAFETY: all blocks lie in both sides, as just checked, which are different memory.
        unsafe { baseline::loop_of_puts(spread, &place, to, from, direction) };
    }

    /// Loads the lines of the source and stores to those of the destination: see [`baseline::lines`].
    ///
    /// # Panics
    ///
    /// If `spread` does not lie in both sides.
    pub fn limit(&mut self, spread: &Spread, direction: Direction) {
        self.check(spread.hulls(), spread);
        let (to, from) = self.ends(direction);
        // SAFETY: all blocks lie in both sides, as just checked, which are different memory.
        unsafe { baseline::lines(spread, to, from) };
    }

    fn ends(&mut self, direction: Direction) -> (*mut u8, *const u8) {
        let private = self.private.as_mut_ptr().wrapping_add(self.start());
        match direction {
            Direction::Put => (self.near, private),
            Direction::Get => (private, self.near),
        }
    }
}

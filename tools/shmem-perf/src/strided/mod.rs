//! Layouts and buffers of strided measures, and their limits.
//!
//! A [`Spread`] says which blocks, [`Sides`] where they are. Each is moved as the library does it,
//! by the loop of puts that Algorithm 1 is, and, as the limit, by nothing but loads and stores of the
//! same lines.

pub(crate) mod baseline;

use std::fmt;
use std::hint::black_box;

use shmem::World;
use shmem_core::context::{Initiator, Strided};
use shmem_core::object::{On, SymAddr};
use shmem_core::pe::Pe;
use shmem_core::strided::{Pattern, Plan, execute_dyn};

use crate::baseline::near;

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From private memory to the other PE.
    Put,
    /// From the other PE to private memory.
    Get,
}

impl Direction {
    pub(crate) const BOTH: [Self; 2] = [Self::Put, Self::Get];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
        }
    }
}

/// `count` blocks of `block` bytes, `to` bytes apart at the destination and `from` at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    /// Bytes of a block.
    pub(crate) block: usize,
    /// Number of blocks.
    pub(crate) count: usize,
    /// Bytes from block to block at the destination.
    pub(crate) to: usize,
    /// Bytes from block to block at the source.
    pub(crate) from: usize,
}

impl Spread {
    /// The same distance on both sides.
    pub(crate) const fn even(block: usize, count: usize, stride: usize) -> Self {
        Self { block, count, to: stride, from: stride }
    }

    /// Blocks that lie in `span` bytes on the side with the larger distance.
    pub(crate) fn within(block: usize, to: usize, from: usize, span: usize) -> Self {
        Self { block, count: (span.saturating_sub(block)) / to.max(from) + 1, to, from }
    }

    /// Bytes moved.
    pub(crate) const fn bytes(&self) -> usize {
        self.block * self.count
    }

    /// The same as the library knows it.
    pub(crate) fn pattern(&self) -> Pattern {
        Pattern::blocks(self.block, self.count, self.to, self.from)
    }

    /// Bytes of the larger side.
    pub(crate) fn hull(&self) -> usize {
        let (to, from) = self.pattern().hulls();
        to.max(from)
    }
}

/// `8x1024/8256<-8`
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, count, to, from } = self;
        write!(f, "{block}x{count}/{to}<-{from}")
    }
}

/// A place on another PE of this node, and private memory as large, from where both begin at an offset
/// of their own.
pub(crate) struct Sides<'t> {
    token: &'t World,
    pe: Pe,
    mine: SymAddr,
    near: *mut u8,
    private: Vec<u8>,
    skew: usize,
}

/// What both sides are aligned to at least: a page.
const ALIGN: usize = 4096;

impl<'t> Sides<'t> {
    /// Sides of `place` and as many private bytes.
    pub(crate) fn new(token: &'t World, place: On<'t, [u8]>) -> Self {
        let offset = place.offset();
        let mine = SymAddr::assume(token.endpoint().mine(offset));
        let near: *mut u8 = near(place.ptr(token)).cast();
        let private = vec![1; place.len() + ALIGN];
        Self { token, pe: place.pe(), mine, near, private, skew: 0 }
    }

    /// Bytes of each side.
    fn len(&self) -> usize {
        self.private.len() - ALIGN
    }

    /// Lets the private side begin `skew` bytes behind a page's start. Less than a page.
    #[must_use]
    pub(crate) fn skewed(mut self, skew: usize) -> Self {
        assert!(skew < ALIGN, "a skew is less than a page");
        self.skew = skew;
        self
    }

    /// Lets the private side begin so many bytes before where the other one begins in its page: by the low 12 bits of addresses,
    /// what is put looks like what is read next.
    #[must_use]
    pub(crate) fn followed(self, by: usize) -> Self {
        let skew = self.near.addr().wrapping_sub(by) % ALIGN;
        self.skewed(skew)
    }

    fn start(&self) -> usize {
        self.private.as_ptr().align_offset(ALIGN).min(ALIGN - self.skew) + self.skew
    }

    /// Bytes that blocks can lie in.
    pub(crate) fn room(&self) -> usize {
        self.len().saturating_sub(ALIGN)
    }

    /// Panics unless a pattern lies in both sides.
    fn check(&self, pattern: &Pattern) {
        let ((to, from), room) = (pattern.hulls(), self.room());
        assert!(to.max(from) <= room, "{pattern:?} does not fit sides of {room} bytes");
    }

    /// Moves `spread` as the library's `iputmem` and `igetmem` do.
    #[inline(never)]
    pub(crate) fn routine(&mut self, spread: &Spread, direction: Direction) {
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
    pub(crate) fn planned(&mut self, plan: &Plan, direction: Direction) {
        let pattern = plan.pattern();
        self.check(pattern);
        let [outer, row] = pattern.inner();
        let is_apart = row.count == 1 || row.to.min(row.from) >= pattern.block();
        assert!(outer.count == 1 && is_apart, "{plan} is not blocks in one loop");
        let (to, from) = self.ends(direction);
        // SAFETY: the plan's blocks lie in both sides and apart, as just checked. The sides are different
        // memory.
        unsafe { execute_dyn(plan, to, from) };
    }

    /// Moves blocks as Algorithm 1 does, by a put of this measure's own: see [`baseline::loop_of_puts`].
    pub(crate) fn loop_of_puts(&mut self, pattern: &Pattern, direction: Direction) {
        self.check(pattern);
        let (to, from) = self.ends(direction);
        let start = self.near as usize;
        let place = start..start + self.len();
        // SAFETY: all blocks lie in both sides, as just checked, which are different memory.
        unsafe { baseline::loop_of_puts(pattern, &place, to, from, direction) };
    }

    /// Loads the lines of the source and stores to those of the destination: see [`baseline::lines`].
    pub(crate) fn limit(&mut self, pattern: &Pattern, direction: Direction) {
        self.check(pattern);
        let (to, from) = self.ends(direction);
        // SAFETY: all blocks lie in both sides, as just checked, which are different memory.
        unsafe { baseline::lines(pattern, to, from) };
    }

    fn ends(&mut self, direction: Direction) -> (*mut u8, *const u8) {
        let private = self.private.as_mut_ptr().wrapping_add(self.start());
        match direction {
            Direction::Put => (self.near, private),
            Direction::Get => (private, self.near),
        }
    }
}

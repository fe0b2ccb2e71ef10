//! The two sides (source and destination) of strided transfers, and functions that move blocks between them: the library's routines
//! and plans, a loop of puts (Algorithm 1), and, as baseline, loads and stores of the same cache lines.

use std::ops::Range;

use shmem_core::object::SymAddr;
use shmem_core::strided::{Level, Pattern, TransferPlan, execute_dyn};

use super::*;
use crate::baseline::memcpy;

/// The direction of a transfer: from private memory to the other PE (put), or back (get).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Put,
    Get,
}

impl Direction {
    /// Both directions, with their names in cases.
    pub(crate) const BOTH: [(&'static str, Self); 2] = [("put", Self::Put), ("get", Self::Get)];
}

pub(crate) const fn even(block: usize, count: usize, stride: usize) -> Pattern {
    Pattern::blocks(block, count, stride, stride)
}

/// Returns a pattern with as many blocks as fit `span` bytes on the side with the longer stride.
pub(crate) fn within(block: usize, to: usize, from: usize, span: usize) -> Pattern {
    Pattern::blocks(block, span.saturating_sub(block) / to.max(from) + 1, to, from)
}

pub(crate) fn hull(pattern: &Pattern) -> usize {
    let (to, from) = pattern.hulls();
    to.max(from)
}

/// Two sides of a transfer: memory of another PE of this node (`place`), and private memory (`own`), with an offset (`skew`).
pub(crate) struct Sides<'w> {
    world: &'w World,
    place: On<'w, [f64]>,
    /// Address of this PE's copy of `place`, by which routines name `place`. `near` points to `place` itself.
    mine: SymAddr,
    near: *mut u8,
    own: &'w mut [u8],
    skew: usize,
}

/// Alignment of the private side, before `skew` is added: two pages.
pub(super) const ALIGN: usize = 8192;

impl<'w> Sides<'w> {
    /// Makes two sides. `own` must be longer than the space for blocks by twice [`ALIGN`].
    pub(super) fn new(world: &'w World, place: On<'w, [f64]>, own: &'w mut [u8]) -> Self {
        let mine = SymAddr::assume(world.endpoint().mine(place.offset()));
        Self { world, place, mine, near: near(place.ptr(world)).cast(), own, skew: 0 }
    }

    /// Sets the start of the private side to `skew` bytes after a multiple of [`ALIGN`].
    pub(crate) fn skewed(&mut self, skew: usize) -> &mut Self {
        assert!(skew < ALIGN, "a skew is less than two pages");
        self.skew = skew;
        self
    }

    /// Sets the private side's offset in a page to `by` bytes before the other side's offset in a page. Then a store and a later
    /// load have addresses with equal low 12 bits, although they access different memory (4K aliasing).
    pub(super) fn followed(&mut self, by: usize) -> &mut Self {
        self.skewed(self.near.addr().wrapping_sub(by) % 4096)
    }

    fn start(&self) -> usize {
        let address = self.own.as_ptr().addr();
        address.next_multiple_of(ALIGN) - address + self.skew
    }

    pub(super) fn room(&self) -> usize {
        self.own.len().saturating_sub(2 * ALIGN).min(self.place.len() * size_of::<f64>())
    }

    /// Returns both sides, for routines on elements. The skew must be a multiple of an element's size.
    pub(super) fn elements(&mut self) -> (On<'w, [f64]>, &mut [f64]) {
        let start = self.start();
        let whole = (self.own.len() - start) / size_of::<f64>() * size_of::<f64>();
        (self.place, bytemuck::cast_slice_mut(&mut self.own[start..][..whole]))
    }

    /// Returns destination and source. Panics if the blocks do not fit.
    fn ends(&mut self, pattern: &Pattern, direction: Direction) -> (*mut u8, *const u8) {
        let room = self.room();
        assert!(hull(pattern) <= room, "{pattern:?} does not fit sides of {room} bytes");
        let own = self.own.as_mut_ptr().wrapping_add(self.start());
        match direction {
            Direction::Put => (self.near, own),
            Direction::Get => (own, self.near),
        }
    }

    #[inline(never)]
    pub(super) fn routine(&mut self, pattern: &Pattern, direction: Direction) {
        let (start, pattern) = (self.start(), black_box(pattern));
        let (block, [_, Level { count, to, from }]) = (pattern.block(), pattern.inner());
        // `iputmem` wants strides that are at least a block, also for a single block.
        let (to, from) = (to.max(block), from.max(block));
        let (own, pe) = (&mut self.own[start..], self.place.pe());
        match direction {
            Direction::Put => self.world.iputmem(self.mine, own, to, from, block, count, pe),
            Direction::Get => self.world.igetmem(own, self.mine, to, from, block, count, pe),
        }
    }

    pub(crate) fn planned(&mut self, plan: &TransferPlan, direction: Direction) {
        let (to, from) = self.ends(plan.pattern(), direction);
        let [outer, row] = plan.pattern().inner();
        let is_apart = row.count == 1 || row.to.min(row.from) >= plan.pattern().block();
        assert!(outer.count == 1 && is_apart, "{plan} is not blocks in one loop");
        // SAFETY: the plan's blocks are inside both sides (`ends`), and do not overlap each other (assertions above). The sides are
        // different memory.
        unsafe { execute_dyn(plan, to, from) };
    }

    /// Returns, for each round, the nanoseconds of a transfer by each plan. Leaves out a first round, which touches pages.
    pub(crate) fn race(
        &mut self,
        plans: &[TransferPlan],
        count: usize,
        direction: Direction,
        rounds: usize,
    ) -> Vec<Vec<f64>> {
        let mut round = || plans.iter().map(|plan| timed(count, || self.planned(plan, direction))).collect();
        let all: Vec<_> = (0..=rounds).map(|_| round()).collect();
        all[1..].to_vec()
    }

    pub(super) fn loop_of_puts(&mut self, pattern: &Pattern, direction: Direction) {
        let (to, from) = self.ends(pattern, direction);
        let place = self.near.addr()..self.near.addr() + self.room();
        // SAFETY: all blocks are inside both sides (`ends`), which are different memory.
        unsafe { loop_of_puts(pattern, &place, to, from, direction) };
    }

    pub(super) fn limit(&mut self, pattern: &Pattern, direction: Direction) {
        let (to, from) = self.ends(pattern, direction);
        // SAFETY: all blocks are inside both sides (`ends`), which are different memory.
        unsafe { lines(pattern, to, from) };
    }

    /// Returns the nanoseconds of a transfer by the library's routine, and by a loop of puts.
    pub(super) fn beside_puts(
        &mut self,
        count: usize,
        pattern: &Pattern,
        direction: Direction,
    ) -> (f64, f64) {
        let ours = timed(count, || self.routine(pattern, direction));
        (ours, timed(count, || self.loop_of_puts(pattern, direction)))
    }
}

const LINE: usize = 64;

/// Performs the least that a library's put or get needs: a call, a check that `symmetric` is inside `place`, and a `memcpy`.
///
/// # Safety
///
/// `to` must be writable and `from` readable for `bytes` bytes. The two ranges must not overlap.
#[inline(never)]
unsafe fn move_one(place: &Range<usize>, symmetric: usize, to: *mut u8, from: *const u8, bytes: usize) {
    if symmetric < place.start || symmetric + bytes > place.end {
        panic!("a block outside the place");
    }
    // SAFETY: `to` is writable, `from` is readable, and the ranges do not overlap (caller).
    unsafe { memcpy(to, from, bytes) };
}

/// Performs Algorithm 1 as users write it: a loop of puts or of gets, or two nested loops if the pattern has two levels. `place` is
/// the other PE's side.
///
/// # Safety
///
/// Every block of `pattern` must be readable from `from` on, and writable from `to` on. The two sides must not overlap.
#[inline(never)]
pub(super) unsafe fn loop_of_puts(
    pattern: &Pattern,
    place: &Range<usize>,
    to: *mut u8,
    from: *const u8,
    direction: Direction,
) {
    let (block, [outer, inner]) = (pattern.block(), pattern.inner());
    for row in 0..outer.count {
        let (mut to, mut from) = (to.wrapping_add(row * outer.to), from.wrapping_add(row * outer.from));
        for _ in 0..inner.count {
            let symmetric = match direction {
                Direction::Put => to as usize,
                Direction::Get => from as usize,
            };
            // SAFETY: the block is readable at `from` and writable at `to`, and the sides do not overlap (caller).
            unsafe { move_one(black_box(place), symmetric, to, from, block) };
            (to, from) = (to.wrapping_add(inner.to), from.wrapping_add(inner.from));
        }
    }
}

/// Performs the baseline: a load from each cache line of the source's blocks, then a store to each line of the destination's
/// blocks. A line that several blocks share is visited for each block. The last line of an unaligned block may be left out.
///
/// # Safety
///
/// Every block of `pattern` must be readable from `from` on, and writable from `to` on.
#[inline(never)]
pub(super) unsafe fn lines(pattern: &Pattern, to: *mut u8, from: *const u8) {
    // SAFETY: the byte is in a block, which is readable (caller). Volatile loads are not removed by the compiler.
    let load = |at| _ = unsafe { from.wrapping_add(at).read_volatile() };
    each_line(pattern, |level| level.from, load);
    // SAFETY: the byte is in a block, which is writable (caller).
    let store = |at| unsafe { to.wrapping_add(at).write_volatile(1) };
    each_line(pattern, |level| level.to, store);
}

/// Calls `each` with the offset of every [`LINE`]th byte of each block of a side, from the first on, with little overhead.
#[inline(never)]
fn each_line(pattern: &Pattern, apart: impl Fn(Level) -> usize, mut each: impl FnMut(usize)) {
    let (block, [outer, inner]) = (pattern.block(), pattern.inner());
    let (rows, distance) = (apart(outer), apart(inner));
    for mut first in (0..outer.count).map(|row| row * rows) {
        if block <= LINE {
            for _ in 0..inner.count {
                each(first);
                first += distance;
            }
            continue;
        }
        for _ in 0..inner.count {
            let mut at = 0;
            while at < block {
                each(first + at);
                at += LINE;
            }
            first += distance;
        }
    }
}

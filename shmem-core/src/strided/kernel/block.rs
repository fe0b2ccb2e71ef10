//! How one block is copied: by one piece, a few, or a loop of them.
//!
//! The last piece of a block is laid so that it ends with the block; where the length is no multiple
//! of the pieces it overlaps the one before. So no block needs a loop over single bytes, and nothing
//! outside of it is read or written.

use super::vector::Vector;

/// The copy of one block.
pub(super) trait Block: Copy {
    /// Short enough for a loop that copies four at a time.
    const SHORT: bool = true;

    /// Copies a block.
    ///
    /// # Safety
    ///
    /// The block must be readable at `from` and writable at `to`, the two must not overlap, and the
    /// machine must have the instructions of its pieces.
    unsafe fn copy(self, to: *mut u8, from: *const u8);
}

/// One piece.
#[derive(Clone, Copy)]
pub(super) struct One<V>(core::marker::PhantomData<V>);

impl<V> One<V> {
    pub(super) const NEW: Self = Self(core::marker::PhantomData);
}

impl<V: Vector> Block for One<V> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block is this piece (caller).
        let piece = unsafe { V::load(from) };
        // SAFETY: the block is this piece (caller).
        unsafe { piece.store(to) };
    }
}

/// A piece and one of another size behind it.
#[derive(Clone, Copy)]
pub(super) struct Two<V, W>(core::marker::PhantomData<(V, W)>);

impl<V, W> Two<V, W> {
    pub(super) const NEW: Self = Self(core::marker::PhantomData);
}

impl<V: Vector, W: Vector> Block for Two<V, W> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block begins with this piece (caller).
        let first = unsafe { V::load(from) };
        // SAFETY: and goes on with this one.
        let second = unsafe { W::load(from.wrapping_add(V::BYTES)) };
        // SAFETY: where the first was read, on the other side.
        unsafe { first.store(to) };
        // SAFETY: where the second was read, on the other side.
        unsafe { second.store(to.wrapping_add(V::BYTES)) };
    }
}

/// Two pieces, of which the second ends with the block: one to two of them long.
#[derive(Clone, Copy)]
pub(super) struct Ends<V> {
    last: usize,
    piece: core::marker::PhantomData<V>,
}

impl<V: Vector> Ends<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((V::BYTES..=2 * V::BYTES).contains(&block));
        Self { last: block - V::BYTES, piece: core::marker::PhantomData }
    }
}

impl<V: Vector> Block for Ends<V> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block has at least the length of a piece.
        let first = unsafe { V::load(from) };
        // SAFETY: this one ends where the block ends.
        let last = unsafe { V::load(from.wrapping_add(self.last)) };
        // SAFETY: where the first was read, on the other side.
        unsafe { first.store(to) };
        // SAFETY: where the last was read, on the other side.
        unsafe { last.store(to.wrapping_add(self.last)) };
    }
}

/// Three pieces, of which the last ends with the block: two to three of them long.
#[derive(Clone, Copy)]
pub(super) struct Three<V>(usize, core::marker::PhantomData<V>);

impl<V: Vector> Three<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((2 * V::BYTES..=3 * V::BYTES).contains(&block));
        Self(block - V::BYTES, core::marker::PhantomData)
    }
}

impl<V: Vector> Block for Three<V> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block has at least the length of two pieces.
        unsafe { Two::<V, V>::NEW.copy(to, from) };
        // SAFETY: this one ends where the block ends.
        unsafe { One::<V>::NEW.copy(to.wrapping_add(self.0), from.wrapping_add(self.0)) };
    }
}

/// Four pieces, of which the last two end with the block: two to four of them long.
#[derive(Clone, Copy)]
pub(super) struct Quad<V>(Ends<V>, usize);

impl<V: Vector> Quad<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((2 * V::BYTES..=4 * V::BYTES).contains(&block));
        Self(Ends { last: V::BYTES, piece: core::marker::PhantomData }, block - 2 * V::BYTES)
    }
}

impl<V: Vector> Block for Quad<V> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block has at least the length of two pieces.
        unsafe { self.0.copy(to, from) };
        // SAFETY: these two end where the block ends.
        unsafe { self.0.copy(to.wrapping_add(self.1), from.wrapping_add(self.1)) };
    }
}

/// Pieces in a loop, four at a time, and the last few so that they end with the block: at least four of
/// them long.
#[derive(Clone, Copy)]
pub(super) struct Long<V> {
    /// Bytes of the block that are copied four pieces at a time.
    whole: usize,
    /// Bytes from the beginning of the block to the pieces behind.
    rest: usize,
    /// How many there are.
    pieces: usize,
    piece: core::marker::PhantomData<V>,
}

impl<V: Vector> Long<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!(block >= 4 * V::BYTES);
        let whole = block - block % (4 * V::BYTES);
        let pieces = (block - whole).div_ceil(V::BYTES);
        Self { whole, rest: block - pieces * V::BYTES, pieces, piece: core::marker::PhantomData }
    }
}

impl<V: Vector> Block for Long<V> {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        let four = Quad::<V>::of(4 * V::BYTES);
        let mut done = 0;
        while done < self.whole {
            // SAFETY: `whole` is a multiple of four pieces and inside the block.
            unsafe { four.copy(to.wrapping_add(done), from.wrapping_add(done)) };
            done += 4 * V::BYTES;
        }
        let mut at = self.rest;
        for _ in 0..self.pieces {
            // SAFETY: so many pieces from `rest` on end where the block ends.
            unsafe { One::<V>::NEW.copy(to.wrapping_add(at), from.wrapping_add(at)) };
            at += V::BYTES;
        }
    }
}

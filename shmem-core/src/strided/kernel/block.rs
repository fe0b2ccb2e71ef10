//! How one block is copied: by one piece, by a few, or by the C library.
//!
//! All pieces are read before the first is written. Reads behind writes would be compared with them by the low
//! bits of their addresses, and wait for those whose pages alone differ; and what fetches ahead follows each
//! instruction by itself, from block to block, where a loop inside of blocks would lead it astray.
//!
//! The last piece of a block is laid so that it ends with the block; where the length is no multiple
//! of the pieces it overlaps the one before. So no block needs a loop over single bytes, and nothing
//! outside of it is read or written.

use super::vector::Vector;
use crate::shared;

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
pub(super) struct Three<V> {
    last: usize,
    piece: core::marker::PhantomData<V>,
}

impl<V: Vector> Three<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((2 * V::BYTES..=3 * V::BYTES).contains(&block));
        Self { last: block - V::BYTES, piece: core::marker::PhantomData }
    }
}

impl<V: Vector> Block for Three<V> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block has at least the length of two pieces.
        let first = unsafe { V::load(from) };
        // SAFETY: the second of the two.
        let second = unsafe { V::load(from.wrapping_add(V::BYTES)) };
        // SAFETY: this one ends where the block ends.
        let last = unsafe { V::load(from.wrapping_add(self.last)) };
        // SAFETY: where the first was read, on the other side.
        unsafe { first.store(to) };
        // SAFETY: where the second was read, on the other side.
        unsafe { second.store(to.wrapping_add(V::BYTES)) };
        // SAFETY: where the last was read, on the other side.
        unsafe { last.store(to.wrapping_add(self.last)) };
    }
}

/// Four pieces, of which the last two end with the block: two to four of them long.
#[derive(Clone, Copy)]
pub(super) struct Quad<V> {
    /// Bytes from the beginning of the block to the last two.
    rest: usize,
    piece: core::marker::PhantomData<V>,
}

impl<V: Vector> Quad<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((2 * V::BYTES..=4 * V::BYTES).contains(&block));
        Self { rest: block - 2 * V::BYTES, piece: core::marker::PhantomData }
    }
}

impl<V: Vector> Block for Quad<V> {
    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        let (third, last) = (self.rest, self.rest + V::BYTES);
        // SAFETY: the block has at least the length of two pieces.
        let a = unsafe { V::load(from) };
        // SAFETY: the second of the two.
        let b = unsafe { V::load(from.wrapping_add(V::BYTES)) };
        // SAFETY: two pieces are left where the block ends, of which this is the first.
        let c = unsafe { V::load(from.wrapping_add(third)) };
        // SAFETY: this one ends where the block ends.
        let d = unsafe { V::load(from.wrapping_add(last)) };
        // SAFETY: where the first was read, on the other side.
        unsafe { a.store(to) };
        // SAFETY: where the second was read, on the other side.
        unsafe { b.store(to.wrapping_add(V::BYTES)) };
        // SAFETY: where the third was read, on the other side.
        unsafe { c.store(to.wrapping_add(third)) };
        // SAFETY: where the last was read, on the other side.
        unsafe { d.store(to.wrapping_add(last)) };
    }
}

/// Eight pieces, of which the last four end with the block: four to eight of them long.
#[derive(Clone, Copy)]
pub(super) struct Eight<V> {
    /// Bytes from the beginning of the block to the last four.
    rest: usize,
    piece: core::marker::PhantomData<V>,
}

impl<V: Vector> Eight<V> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((4 * V::BYTES..=8 * V::BYTES).contains(&block));
        Self { rest: block - 4 * V::BYTES, piece: core::marker::PhantomData }
    }
}

impl<V: Vector> Block for Eight<V> {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        let (to_rest, from_rest) = (to.wrapping_add(self.rest), from.wrapping_add(self.rest));
        // SAFETY: the block has at least the length of four pieces.
        let first = unsafe { load_four::<V>(from) };
        // SAFETY: these four end where the block ends.
        let last = unsafe { load_four::<V>(from_rest) };
        // SAFETY: where the first four were read, on the other side.
        unsafe { store_four(first, to) };
        // SAFETY: where the last four were read, on the other side.
        unsafe { store_four(last, to_rest) };
    }
}

/// # Safety
///
/// Four pieces must be readable, and the machine must have their instructions.
#[inline(always)]
unsafe fn load_four<V: Vector>(from: *const u8) -> [V; 4] {
    // SAFETY: the first of four (caller).
    let a = unsafe { V::load(from) };
    // SAFETY: the second of four (caller).
    let b = unsafe { V::load(from.wrapping_add(V::BYTES)) };
    // SAFETY: the third of four (caller).
    let c = unsafe { V::load(from.wrapping_add(2 * V::BYTES)) };
    // SAFETY: the last of four (caller).
    let d = unsafe { V::load(from.wrapping_add(3 * V::BYTES)) };
    [a, b, c, d]
}

/// # Safety
///
/// Four pieces must be writable, and the machine must have their instructions.
#[inline(always)]
unsafe fn store_four<V: Vector>([a, b, c, d]: [V; 4], to: *mut u8) {
    // SAFETY: the first of four (caller).
    unsafe { a.store(to) };
    // SAFETY: the second of four (caller).
    unsafe { b.store(to.wrapping_add(V::BYTES)) };
    // SAFETY: the third of four (caller).
    unsafe { c.store(to.wrapping_add(2 * V::BYTES)) };
    // SAFETY: the last of four (caller).
    unsafe { d.store(to.wrapping_add(3 * V::BYTES)) };
}

/// The C library's copy: its call costs nothing beside a block that its vectors take several turns for, and it
/// chooses by the machine what to do with one.
#[derive(Clone, Copy)]
pub(super) struct Library {
    bytes: usize,
}

impl Library {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        Self { bytes: block }
    }
}

impl Block for Library {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: both sides are valid for the block (caller).
        unsafe { shared::copy(to, from, self.bytes) };
    }
}

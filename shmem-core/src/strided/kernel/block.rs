//! How one block is copied: by one piece, by a few, or by the C library.
//!
//! All pieces are read before the first is written. Reads behind writes would be compared with them by the low
//! bits of their addresses, and wait for those whose pages alone differ; and what fetches ahead follows each
//! instruction by itself, from block to block, where a loop inside of blocks would lead it astray.
//!
//! The last pieces of a block are laid so that they end with the block; where the length is no multiple
//! of the pieces they overlap those before. So no block needs a loop over single bytes, and nothing
//! outside of it is read or written.

use core::marker::PhantomData;

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

/// `FRONT` pieces from the start of a block on, and `BACK` pieces that end with it.
#[derive(Clone, Copy)]
pub(super) struct Pieces<V, const FRONT: usize, const BACK: usize> {
    /// Bytes from the start of the block to the pieces that end with it.
    rest: usize,
    piece: PhantomData<V>,
}

/// One piece.
pub(super) type One<V> = Pieces<V, 1, 0>;

/// One to two pieces.
pub(super) type Ends<V> = Pieces<V, 1, 1>;

/// Two to three pieces.
pub(super) type Three<V> = Pieces<V, 2, 1>;

/// Two to four pieces.
pub(super) type Quad<V> = Pieces<V, 2, 2>;

/// Four to eight pieces.
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
pub(super) type Eight<V> = Pieces<V, 4, 4>;

impl<V: Vector, const FRONT: usize, const BACK: usize> Pieces<V, FRONT, BACK> {
    #[inline(always)]
    pub(super) fn of(block: usize) -> Self {
        debug_assert!((FRONT * V::BYTES..=(FRONT + BACK) * V::BYTES).contains(&block));
        const { assert!(FRONT >= BACK, "pieces that end with a block lie in it if those in front do") }
        Self { rest: block - BACK * V::BYTES, piece: PhantomData }
    }
}

impl<V: Vector, const FRONT: usize, const BACK: usize> Block for Pieces<V, FRONT, BACK> {
    const SHORT: bool = FRONT + BACK <= 4;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block has at least the length of the pieces in front (`of`).
        let front: [V; FRONT] = unsafe { load(from) };
        // SAFETY: these end where the block ends, which has at least their length (`of`).
        let back: [V; BACK] = unsafe { load(from.wrapping_add(self.rest)) };
        // SAFETY: where they were read, on the other side.
        unsafe { store(front, to) };
        // SAFETY: where they were read, on the other side.
        unsafe { store(back, to.wrapping_add(self.rest)) };
    }
}

/// # Safety
///
/// As many pieces must be readable, and the machine must have their instructions.
#[inline(always)]
unsafe fn load<V: Vector, const N: usize>(from: *const u8) -> [V; N] {
    // SAFETY: piece `i` of `N` (caller).
    core::array::from_fn(|i| unsafe { V::load(from.wrapping_add(i * V::BYTES)) })
}

/// # Safety
///
/// As many pieces must be writable, and the machine must have their instructions.
#[inline(always)]
unsafe fn store<V: Vector, const N: usize>(pieces: [V; N], to: *mut u8) {
    // By indices: an iterator that owns them would lie in memory.
    #[expect(clippy::needless_range_loop, reason = "as said")]
    for i in 0..N {
        // SAFETY: piece `i` of `N` (caller).
        unsafe { pieces[i].store(to.wrapping_add(i * V::BYTES)) };
    }
}

/// A piece and one of another size behind it.
#[derive(Clone, Copy)]
pub(super) struct Two<V, W>(PhantomData<(V, W)>);

impl<V, W> Two<V, W> {
    pub(super) const NEW: Self = Self(PhantomData);
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

/// The C library's copy of so many bytes: its call costs nothing beside a block that its vectors take several turns
/// for, and it chooses by the machine what to do with one.
#[derive(Clone, Copy)]
pub(super) struct Library(pub(super) usize);

impl Block for Library {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: both sides are valid for the block (caller).
        unsafe { shared::copy(to, from, self.0) };
    }
}

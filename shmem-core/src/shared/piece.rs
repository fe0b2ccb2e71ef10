//! What is read and written whole, and blocks that are made of it.
//!
//! All pieces of a block are read before the first is written: sides may overlap, and no read is compared with writes in front of
//! it by the low bits of their addresses, to wait for those whose pages alone differ.
//!
//! The last pieces of a block are laid so that they end with the block; where the length is no multiple of the pieces they overlap
//! those before. So no block needs a loop over single bytes, and nothing outside of it is read or written.

use core::marker::PhantomData;

/// A piece that is read and written whole. No address needs to be aligned, and an aligned word of at most 8 bytes
/// is written by one store.
pub(crate) trait Piece: Copy {
    /// How many bytes it has.
    const BYTES: usize;

    /// Reads a piece.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be readable, and the machine must have the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes a piece.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be writable, and the machine must have the instructions.
    unsafe fn store(self, to: *mut u8);
}

/// `FRONT` pieces from the start of a block on, and `BACK` pieces that end with it.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<P, const FRONT: usize, const BACK: usize> {
    /// Bytes from the start of the block to the pieces that end with it.
    rest: usize,
    piece: PhantomData<P>,
}

/// One piece.
pub(crate) type One<P> = Pieces<P, 1, 0>;

/// One to two pieces.
pub(crate) type Ends<P> = Pieces<P, 1, 1>;

/// Two to four pieces.
pub(crate) type Quad<P> = Pieces<P, 2, 2>;

impl<P: Piece, const FRONT: usize, const BACK: usize> Pieces<P, FRONT, BACK> {
    #[inline(always)]
    pub(crate) fn of(block: usize) -> Self {
        debug_assert!((FRONT * P::BYTES..=(FRONT + BACK) * P::BYTES).contains(&block));
        const { assert!(FRONT >= BACK, "pieces that end with a block lie in it if those in front do") }
        Self { rest: block - BACK * P::BYTES, piece: PhantomData }
    }

    /// Copies a block.
    ///
    /// # Safety
    ///
    /// The block must be readable at `from` and writable at `to`, and the machine must have the instructions of its pieces.
    #[inline(always)]
    pub(crate) unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block has at least the length of the pieces in front (`of`).
        let front: [P; FRONT] = unsafe { load(from) };
        // SAFETY: these end where the block ends, which has at least their length (`of`).
        let back: [P; BACK] = unsafe { load(from.wrapping_add(self.rest)) };
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
unsafe fn load<P: Piece, const N: usize>(from: *const u8) -> [P; N] {
    // SAFETY: piece `i` of `N` (caller).
    core::array::from_fn(|i| unsafe { P::load(from.wrapping_add(i * P::BYTES)) })
}

/// # Safety
///
/// As many pieces must be writable, and the machine must have their instructions.
#[inline(always)]
unsafe fn store<P: Piece, const N: usize>(pieces: [P; N], to: *mut u8) {
    // By indices: an iterator that owns them would lie in memory.
    #[expect(clippy::needless_range_loop, reason = "as said")]
    for i in 0..N {
        // SAFETY: piece `i` of `N` (caller).
        unsafe { pieces[i].store(to.wrapping_add(i * P::BYTES)) };
    }
}

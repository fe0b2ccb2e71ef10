//! Values of one register, read and written whole, and blocks of such values.
//!
//! All registers of a block are read before the first is written. So source and destination may overlap, and no read waits for an
//! earlier write with equal low address bits.
//!
//! The last registers of a block end where the block ends. If the block's length is no multiple of a register, they overlap the
//! registers before them. So a block needs no loop over bytes, and nothing outside the block is read or written.

use core::marker::PhantomData;

/// A value that fits a register. It can be read and written at any address; at most 8 aligned bytes are written by one store.
pub(crate) trait Register: Copy {
    const BYTES: usize;

    /// Reads a register.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be readable at `from`, and the machine must have the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes a register.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be writable at `to`, and the machine must have the instructions.
    unsafe fn store(self, to: *mut u8);
}

/// A block that is copied by `FRONT` registers from its start on, and `BACK` registers that end where the block ends.
#[derive(Clone, Copy)]
pub(crate) struct Registers<P, const FRONT: usize, const BACK: usize> {
    /// Bytes from the start of the block to the `BACK` registers.
    rest: usize,
    register: PhantomData<P>,
}

pub(crate) type One<P> = Registers<P, 1, 0>;

/// A block of one to two registers.
pub(crate) type Ends<P> = Registers<P, 1, 1>;

/// A block of two to four registers.
pub(crate) type Quad<P> = Registers<P, 2, 2>;

impl<P: Register, const FRONT: usize, const BACK: usize> Registers<P, FRONT, BACK> {
    #[inline(always)]
    pub(crate) fn of(block: usize) -> Self {
        debug_assert!((FRONT * P::BYTES..=(FRONT + BACK) * P::BYTES).contains(&block));
        const { assert!(FRONT >= BACK, "registers that end with a block lie in it if those in front do") }
        Self { rest: block - BACK * P::BYTES, register: PhantomData }
    }

    /// Copies a block.
    ///
    /// # Safety
    ///
    /// The block must be readable at `from` and writable at `to`, and the machine must have the instructions of its registers.
    #[inline(always)]
    pub(crate) unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the block is at least as long as the `FRONT` registers (`of`).
        let front: [P; FRONT] = unsafe { load(from) };
        // SAFETY: the `BACK` registers end where the block ends, and are not longer than the block (`of`).
        let back: [P; BACK] = unsafe { load(from.wrapping_add(self.rest)) };
        // SAFETY: the `FRONT` registers are inside the block at `to`, as at `from`.
        unsafe { store(front, to) };
        // SAFETY: the `BACK` registers are inside the block at `to`, as at `from`.
        unsafe { store(back, to.wrapping_add(self.rest)) };
    }
}

/// # Safety
///
/// `N` registers must be readable from `from` on, and the CPU must have their instructions.
#[inline(always)]
unsafe fn load<P: Register, const N: usize>(from: *const u8) -> [P; N] {
    // SAFETY: `N` registers are readable (caller), and `i` is below `N`.
    core::array::from_fn(|i| unsafe { P::load(from.wrapping_add(i * P::BYTES)) })
}

/// # Safety
///
/// `N` registers must be writable from `to` on, and the CPU must have their instructions.
#[inline(always)]
unsafe fn store<P: Register, const N: usize>(registers: [P; N], to: *mut u8) {
    // The loop is over indices, because an owning iterator would be stored in memory.
    #[expect(clippy::needless_range_loop, reason = "as said")]
    for i in 0..N {
        // SAFETY: `N` registers are writable (caller), and `i` is below `N`.
        unsafe { registers[i].store(to.wrapping_add(i * P::BYTES)) };
    }
}

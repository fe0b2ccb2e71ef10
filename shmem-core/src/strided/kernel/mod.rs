//! The loops that move blocks in shared memory.
//!
//! Which loop is fastest depends on the shape of a transfer and on the machine. All are correct for every shape: a kernel that does
//! not suit a shape or a machine falls back to [`Kernel::Rows`].
//!
//! Invariants: a kernel reads nothing outside the range from the first byte of the first block to the last byte of the last block,
//! though it may read gaps inside. It writes blocks alone, since gaps may belong to another PE.
//!
//! Other PEs may change the memory at the same time. So every access is assembly, or an atomic of `shared`; the head of that module
//! says why this is no race.

mod isa;
mod plain_rows;
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
mod shuffle;
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
mod span;
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
mod stream;
mod throttled;
mod vector;

use core::fmt;

use super::loop_nest::Level;
pub use isa::Isa;
pub(super) use isa::Maker;
pub(super) use plain_rows::few;

/// A way to move blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Row after row, each block by a few of the widest loads and stores that fit it, and a longer block by the C library's copy.
    Rows,
    /// As `Rows`, slowed down by this many idle stores per block (twice as many on machines that make two stores at a time), for
    /// strides that map to few sets of a cache.
    Throttled(u8),
    /// Non-temporal stores, for transfers larger than the caches; rows for blocks below a line, and without AVX2.
    Stream,
    /// Whole vectors, stored under a mask, for small blocks at one small stride on both sides.
    Span,
    /// Permuted vectors, for words that are dense on one side and every second or third word on the other.
    Shuffle,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("rows"),
            Self::Throttled(touches) => write!(f, "rows throttled by {touches}"),
            Self::Stream => f.write_str("streamed rows"),
            Self::Span => f.write_str("masked spans"),
            Self::Shuffle => f.write_str("shuffles"),
        }
    }
}

/// Moves blocks of `block` bytes in two loops, `levels` outer first.
///
/// # Safety
///
/// Every block must be readable from `from` on and writable from `to` on, the gaps between two blocks of
/// the source must be readable, and no block of the destination may overlap another block of either side.
pub unsafe fn run(kernel: Kernel, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promises; the machine has its best instructions.
    unsafe { run_with(Isa::best(), kernel, block, levels, to, from) };
}

/// As [`run`], for one loop. The arguments stay in registers.
///
/// # Safety
///
/// As [`run`].
#[inline]
pub unsafe fn run_row(kernel: Kernel, block: usize, row: Level, to: *mut u8, from: *const u8) {
    match kernel {
        // SAFETY: the caller's promises.
        Kernel::Rows => unsafe { plain_rows::run_row(block, row.count, row.to, row.from, to, from) },
        // SAFETY: the caller's promises.
        _ => unsafe { run(kernel, block, [Level::ONCE, row], to, from) },
    }
}

/// As [`run`], with instructions of `isa` only, for comparisons.
///
/// # Safety
///
/// As [`run`]; `isa` must be available.
#[inline]
pub unsafe fn run_with(
    isa: Isa,
    kernel: Kernel,
    block: usize,
    levels: [Level; 2],
    to: *mut u8,
    from: *const u8,
) {
    if block == 0 {
        return;
    }
    match kernel {
        // SAFETY: the caller's promises, for every kernel the same.
        Kernel::Rows => unsafe { plain_rows::sweep(plain_rows::Plain, isa, block, levels, to, from) },
        // SAFETY: the caller's promises, for every kernel the same.
        Kernel::Throttled(touches) => unsafe { throttled::sweep(touches, isa, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: the caller's promises, for every kernel the same.
        Kernel::Stream => unsafe { stream::sweep(isa, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: the caller's promises, for every kernel the same.
        Kernel::Span => unsafe { span::sweep(isa, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: the caller's promises, for every kernel the same.
        Kernel::Shuffle => unsafe { shuffle::sweep(isa, block, levels, to, from) },
        #[cfg(any(not(target_arch = "x86_64"), miri, shmem_words))]
        // SAFETY: the caller's promises, for every kernel the same.
        _ => unsafe { plain_rows::sweep(plain_rows::Plain, isa, block, levels, to, from) },
    }
}

#[cfg(test)]
mod tests;

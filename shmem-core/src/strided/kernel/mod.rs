//! The loops that move blocks in shared memory ([`Kernel`]).
//!
//! Which kernel is fastest depends on the shape of a transfer and on the machine. All are correct for every shape: a kernel that
//! does not suit a shape or a machine falls back to [`Kernel::Rows`].
//!
//! Invariants: a kernel reads nothing outside the range from the first byte of the first block to the last byte of the last block,
//! though it may read gaps between blocks. It writes no gaps, since other PEs may write them meanwhile.
//!
//! Other PEs may change the memory at the same time. So every access is assembly, or an atomic of `shared` (its head says why).

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
    /// Row after row of blocks, each by a few of the widest loads and stores that fit it; long blocks by the C library.
    Rows,
    /// As `Rows`, slowed down by this many stores to a cached line after each block (twice as many on machines that make two stores
    /// at a time). For blocks that map to few sets of a cache, or are on many pages.
    Throttled(u8),
    /// Non-temporal stores, for transfers larger than the caches. Blocks below a cache line become rows, as do all without AVX2.
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

/// Moves blocks of `block` bytes in two loops; `levels` has the outer loop first.
///
/// # Safety
///
/// Every block must be readable from `from` on and writable from `to` on, the gaps between two blocks of the source must be
/// readable, and no block of the destination may overlap another block of source or destination.
pub unsafe fn run(kernel: Kernel, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the caller ensures the rest, and the machine has its best instructions.
    unsafe { run_with(Isa::best(), kernel, block, levels, to, from) };
}

/// As [`run`], for one loop. The arguments fit in registers, for a fast call.
///
/// # Safety
///
/// As [`run`].
#[inline]
pub unsafe fn run_row(kernel: Kernel, block: usize, row: Level, to: *mut u8, from: *const u8) {
    match kernel {
        // SAFETY: `plain_rows::run_row` requires no more than this function does.
        Kernel::Rows => unsafe { plain_rows::run_row(block, row.count, row.to, row.from, to, from) },
        // SAFETY: `run` requires no more than this function does.
        _ => unsafe { run(kernel, block, [Level::ONCE, row], to, from) },
    }
}

/// As [`run`], but only with instructions of `isa`, in order to compare instruction sets.
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
        // SAFETY: every kernel requires what this function does (caller), and a block of at least one byte (checked).
        Kernel::Rows => unsafe { plain_rows::sweep(plain_rows::Plain, isa, block, levels, to, from) },
        // SAFETY: every kernel requires what this function does (caller), and a block of at least one byte (checked).
        Kernel::Throttled(touches) => unsafe { throttled::sweep(touches, isa, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: every kernel requires what this function does (caller), and a block of at least one byte (checked).
        Kernel::Stream => unsafe { stream::sweep(isa, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: every kernel requires what this function does (caller), and a block of at least one byte (checked).
        Kernel::Span => unsafe { span::sweep(isa, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: every kernel requires what this function does (caller), and a block of at least one byte (checked).
        Kernel::Shuffle => unsafe { shuffle::sweep(isa, block, levels, to, from) },
        #[cfg(any(not(target_arch = "x86_64"), miri, shmem_words))]
        // SAFETY: every kernel requires what this function does (caller), and a block of at least one byte (checked).
        _ => unsafe { plain_rows::sweep(plain_rows::Plain, isa, block, levels, to, from) },
    }
}

#[cfg(test)]
mod tests;

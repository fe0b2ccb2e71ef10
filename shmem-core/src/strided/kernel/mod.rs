//! The loops that move blocks in shared memory.

use core::fmt;

use super::pattern::Level;

/// A way to move blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Row after row, by the widest loads and stores that fit a block.
    Rows,
    /// As `Rows`, slowed down by this many idle stores per block: for distances that map to few sets of
    /// a cache, where faster code is slower.
    Throttled(u8),
    /// Stores that go round the caches, for what is larger than they are.
    Stream,
    /// The processor's own copy instruction for every block.
    String,
    /// Small blocks at one small distance on both sides: whole vectors, of which only the blocks are
    /// stored.
    Span,
    /// Small blocks between a small distance and none: vectors are shuffled.
    Shuffle,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("rows"),
            Self::Throttled(touches) => write!(f, "rows throttled by {touches}"),
            Self::Stream => f.write_str("streamed rows"),
            Self::String => f.write_str("string moves"),
            Self::Span => f.write_str("masked spans"),
            Self::Shuffle => f.write_str("shuffles"),
        }
    }
}

/// Moves blocks of `block` bytes in two loops, `levels` outer first.
///
/// # Safety
///
/// Every block must be readable from `from` on and writable from `to` on, and no block of the
/// destination may overlap another block of either side.
pub unsafe fn run(_kernel: Kernel, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    let [outer, inner] = levels;
    for i in 0..outer.count {
        let (to, from) = (to.wrapping_add(i * outer.to), from.wrapping_add(i * outer.from));
        for j in 0..inner.count {
            let (to, from) = (to.wrapping_add(j * inner.to), from.wrapping_add(j * inner.from));
            // SAFETY: a block of each side (caller).
            unsafe { core::ptr::copy_nonoverlapping(from, to, block) };
        }
    }
}

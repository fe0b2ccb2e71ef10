//! The published algorithms, and the table that chooses between Algorithms 1 and 2.
//!
//! The source is "Extending Strided Communication Interface in OpenSHMEM" (2015), measured on a Cray XC30 with 64 MiB of data.
//! Algorithm 1 puts each block by itself. Algorithm 2 cuts blocks into columns of 16, 8 and 4 bytes and moves each column by one
//! `iput`. Algorithm 3 chooses between the two by a table.

use crate::const_format::refuse;
use crate::text::named;

named! {
    /// The algorithm of a transfer, with its name in `strided!` and in `SHMEM_STRIDED_ALGORITHM`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum Algorithm {
        /// `putmem` for every block.
        One = "1",
        /// `iput128`, `iput64` and `iput32` for columns of the blocks, or [`One`](Self::One) if strides or addresses forbid
        /// columns.
        Two = "2",
        /// [`One`](Self::One) or [`Two`](Self::Two), by the [published table](PUBLISHED).
        Three = "3",
        /// The kernels of this project, chosen by measured thresholds.
        #[default]
        Auto = "auto",
    }
}

/// The column heads of the published table: bytes between two blocks ("stride size - block size" in the paper).
pub const GAPS: [usize; 6] = [4, 16, 64, 256, 1024, 4096];

/// The published table: a block size in bytes, and for each of the [`GAPS`] whether Algorithm 2 was faster than Algorithm 1.
pub const PUBLISHED: [(usize, [bool; 6]); 8] = [
    (16, [true, true, true, true, true, true]),
    (64, [true, true, true, true, true, true]),
    (128, [false, true, true, true, true, true]),
    (256, [false, false, true, true, true, true]),
    (512, [false; 6]),
    (1024, [false; 6]),
    (4096, [false; 6]),
    (16384, [false; 6]),
];

/// Whether the published table prefers Algorithm 2: `predicate_lookup_table(dest_stride, src_stride, blksize)` of the paper.
///
/// The paper does not say what holds for sizes between table entries, or for two different strides. Here a size is rounded down to
/// an entry (or up to the first), and Algorithm 2 must be faster at both strides.
pub const fn published(to_stride: usize, from_stride: usize, block: usize) -> bool {
    let mut row = 0;
    while row + 1 < PUBLISHED.len() && PUBLISHED[row + 1].0 <= block {
        row += 1;
    }
    PUBLISHED[row].1[gap(to_stride, block)] && PUBLISHED[row].1[gap(from_stride, block)]
}

/// Returns the index into [`GAPS`] for blocks at a stride.
const fn gap(stride: usize, block: usize) -> usize {
    let gap = stride.saturating_sub(block);
    let mut column = 0;
    while column + 1 < GAPS.len() && GAPS[column + 1] <= gap {
        column += 1;
    }
    column
}

/// The number of columns of each width, in the order in which Algorithm 2 moves them. Each column is one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Number of columns of 16 bytes.
    pub iput128: usize,
    /// Number of columns of 8 bytes.
    pub iput64: usize,
    /// Number of columns of 4 bytes.
    pub iput32: usize,
}

impl Columns {
    /// Returns the columns of a block, if `align` divides addresses and strides; `None` if columns cannot fill the block.
    ///
    /// Size, strides and addresses must be multiples of 4. Columns of 16 bytes come first, if 16 divides addresses and strides,
    /// then columns of 8 bytes, if 8 divides them, then of 4.
    pub const fn of(block: usize, align: usize) -> Option<Self> {
        if !block.is_multiple_of(4) || align < 4 {
            return None;
        }
        let iput128 = if align >= 16 { block / 16 } else { 0 };
        let rest = block - 16 * iput128;
        let iput64 = if align >= 8 { rest / 8 } else { 0 };
        Some(Self { iput128, iput64, iput32: (rest - 8 * iput64) / 4 })
    }

    /// Panics if the columns together are longer than `block` bytes.
    #[track_caller]
    pub(super) const fn require_inside(self, block: usize) {
        let words = self.iput128.saturating_mul(4).saturating_add(self.iput64.saturating_mul(2));
        let bytes = words.saturating_add(self.iput32).saturating_mul(4);
        if bytes > block {
            refuse!("columns of " [bytes] " bytes do not lie in blocks of " [block]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published table: columns win for blocks below 128 bytes, below 256 at gaps from 16 bytes, below 512 at gaps from 64.
    fn columns_win(stride: usize, block: usize) -> bool {
        match block {
            0..128 => true,
            128..256 => stride >= block + 16,
            256..512 => stride >= block + 64,
            _ => false,
        }
    }

    /// At each border of the table and one below.
    #[test]
    fn columns_are_chosen_where_the_published_table_has_them_at_both_strides() {
        let beside = |at: &usize| [at - 1, *at];
        let gaps: Vec<usize> = GAPS.iter().flat_map(beside).chain([0, 1 << 20]).collect();
        for block in PUBLISHED.iter().flat_map(|(block, _)| beside(block)).chain([1, 28, 1 << 20]) {
            let columns = |gap: &usize| columns_win(block + gap, block);
            for (to, from) in gaps.iter().flat_map(|to| gaps.iter().map(move |from| (to, from))) {
                let chosen = published(block + to, block + from, block);
                assert_eq!(chosen, columns(to) && columns(from), "{block} {to} {from}");
            }
        }
    }
}

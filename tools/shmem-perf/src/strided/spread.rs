//! Blocks at a distance, as they are measured.

use std::fmt;

/// `count` blocks of `block` bytes, `to` bytes apart at the destination and `from` at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Bytes of a block.
    pub block: usize,
    /// Number of blocks.
    pub count: usize,
    /// Bytes from block to block at the destination.
    pub to: usize,
    /// Bytes from block to block at the source.
    pub from: usize,
}

impl Spread {
    /// The same distance on both sides.
    pub const fn even(block: usize, count: usize, stride: usize) -> Self {
        Self { block, count, to: stride, from: stride }
    }

    /// Blocks that lie in `span` bytes on the side with the larger distance.
    pub fn within(block: usize, to: usize, from: usize, span: usize) -> Self {
        Self { block, count: (span.saturating_sub(block)) / to.max(from) + 1, to, from }
    }

    /// Bytes moved.
    pub const fn bytes(&self) -> usize {
        self.block * self.count
    }

    /// Bytes from the first block to behind the last, at the destination and at the source; the largest
    /// number if they are more than any memory has.
    pub const fn hulls(&self) -> (usize, usize) {
        if self.count == 0 {
            return (0, 0);
        }
        let last = self.count - 1;
        let (to, from) = (last.saturating_mul(self.to), last.saturating_mul(self.from));
        (to.saturating_add(self.block), from.saturating_add(self.block))
    }

    /// Bytes of the larger side.
    pub fn hull(&self) -> usize {
        self.hulls().0.max(self.hulls().1)
    }
}

/// `8x1024/8256<-8`
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, count, to, from } = self;
        write!(f, "{block}x{count}/{to}<-{from}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_ends_with_the_last_block() {
        assert_eq!(Spread { block: 8, count: 3, to: 16, from: 8 }.hulls(), (40, 24));
        assert_eq!(Spread::even(8, 0, 16).hulls(), (0, 0));
        assert_eq!(Spread::even(64, 3, 0_usize.wrapping_sub(8)).hull(), usize::MAX);
        assert_eq!(Spread::even(64, 3, 1 << (usize::BITS - 1)).hull(), usize::MAX);
    }
}

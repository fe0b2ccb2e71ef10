//! Where the blocks of a routine lie, and that they lie inside.

/// Blocks as the caller gives them.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) unit: &'static str,
    pub(super) block: usize,
    pub(super) count: usize,
}

/// Where they are on one side.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    pub(super) name: &'static str,
    pub(super) len: usize,
    pub(super) stride: usize,
}

impl Blocks {
    /// Panics unless all blocks lie inside both sides, one behind the other.
    #[inline(always)]
    #[track_caller]
    pub(super) fn check(self, to: Walk, from: Walk) {
        // One by one: as an array they would be written to memory.
        self.check_side(to);
        self.check_side(from);
    }

    #[inline(always)]
    #[track_caller]
    fn check_side(self, Walk { name, len, stride }: Walk) {
        let Self { unit, block, count } = self;
        if count > 0 && (stride == 0 || stride < block || self.hull(stride) > len) {
            // In pieces: as a whole it would be written to memory before the test.
            refuse(unit, block, count, name, len, stride);
        }
    }

    /// From the first to behind the last; the largest number if it is larger than any memory.
    #[inline(always)]
    pub(super) fn hull(self, stride: usize) -> usize {
        match self.count {
            0 => 0,
            count => (count - 1).saturating_mul(stride).saturating_add(self.block),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse(unit: &str, block: usize, count: usize, name: &str, len: usize, stride: usize) -> ! {
    if stride == 0 {
        panic!("the stride of the {name} is 0; a stride must be at least 1");
    }
    if stride < block {
        panic!(
            "blocks of {block} {unit} overlap at a stride of {stride} in the {name}; the stride must be at least the block"
        );
    }
    let end = (count - 1).saturating_mul(stride).saturating_add(block);
    panic!("the {name} has {len} {unit}, but {count} blocks of {block} at a stride of {stride} end at {end}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
        *std::panic::catch_unwind(check).unwrap_err().downcast::<String>().unwrap()
    }

    #[test]
    fn blocks_must_lie_inside_and_apart() {
        let blocks = Blocks { unit: "elements", block: 4, count: 3 };
        let walk = |len, stride| Walk { name: "place", len, stride };
        blocks.check(walk(20, 8), walk(12, 4));
        Blocks { count: 0, ..blocks }.check(walk(0, 8), walk(0, 0));
        assert_eq!(
            refusal(move || blocks.check(walk(19, 8), walk(12, 4))),
            "the place has 19 elements, but 3 blocks of 4 at a stride of 8 end at 20"
        );
        assert_eq!(
            refusal(move || blocks.check(walk(20, 8), walk(12, 3))),
            "blocks of 4 elements overlap at a stride of 3 in the place; the stride must be at least the block"
        );
        assert_eq!(
            refusal(move || blocks.check(walk(20, 0), walk(12, 4))),
            "the stride of the place is 0; a stride must be at least 1"
        );
        refusal(move || blocks.check(walk(20, usize::MAX), walk(12, 4)));
    }
}

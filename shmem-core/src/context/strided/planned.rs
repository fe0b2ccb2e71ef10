//! A transfer that was planned when it ran.

use crate::strided::{Algorithm, Piece, Pieced, Plan, Spot, each_part, settings};

/// The plan of a transfer between two objects, of which each is taken for one range.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) algorithm: Algorithm,
    /// Bytes from the start of the destination to its first block.
    pub(super) to: usize,
    /// Bytes from the start of the source to its first block.
    pub(super) from: usize,
}

/// One side of a transfer: in which pieces it lies, or as one.
pub(super) type Lies<'a> = (Option<&'a [Piece]>, Piece);

impl Planned {
    /// Has `each` move the blocks, in parts that lie in one piece on either side.
    #[inline(always)]
    pub(super) fn run(&self, to: Lies<'_>, from: Lies<'_>, each: impl Fn(Spot, Spot, &Plan)) {
        if to.0.is_none() && from.0.is_none() {
            let spot = |piece: Piece, at| Spot { segment: piece.segment, offset: piece.offset + at };
            each(spot(to.1, self.to), spot(from.1, self.from), &self.plan);
        } else {
            self.run_parts(to, from, each);
        }
    }

    #[inline(never)]
    fn run_parts(&self, to: Lies<'_>, from: Lies<'_>, each: impl Fn(Spot, Spot, &Plan)) {
        let (whole_to, whole_from) = ([to.1], [from.1]);
        let to = Pieced { pieces: to.0.unwrap_or(&whole_to), at: self.to };
        let from = Pieced { pieces: from.0.unwrap_or(&whole_from), at: self.from };
        each_part(self.plan.pattern(), to, from, |to, from, pattern| {
            // Slots start at multiples of all that matters.
            let align = 1 << (to.offset | from.offset).trailing_zeros().min(usize::BITS - 1);
            each(to, from, &Plan::of(pattern, align, self.algorithm, &settings().thresholds));
        });
    }
}

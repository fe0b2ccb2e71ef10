//! The tree that defines the result of a reduction.
//!
//! Floating sums depend on their order. So a reduction promises an order that depends on the number of ranks alone. A [`Vertex`]
//! represents `2^k` consecutive ranks that begin at a multiple of `2^k`; the last vertex of a level is cut at the number of ranks.
//! The value of a vertex is `op(value of the first half, value of the second half)`. An empty second half is skipped, because a
//! zero in its place would change a result: `-0.0 + 0.0` is `+0.0`. The value of a single rank is its operand. The result is the
//! value of the root: for seven ranks `((0 1)(2 3))((4 5)6)`. The error of a sum grows with the logarithm of the ranks.
//!
//! Members combine only the two halves of a vertex. So the bits of a value do not depend on the PE or the round that
//! computes it. A member's partial results for a set of ranks are the values of the set's
//! [cover](super::barrier_reduction::Cover), the largest vertices inside the set. The tree of the first `n` ranks is the
//! whole tree, cut at `n`, so a scan [folds](fold) as a reduction does.

use core::iter::Peekable;
use core::ops::Range;

use shmem_core::planted_fault::mutant;

use super::reduce_op::ReduceOp;

/// Bytes of the stack buffer for partial results. It fits the first-level cache. More ranks have more results, so shorter tiles.
pub(super) const PARTIALS: usize = 4 << 10;

/// Bytes of the stack buffer for short operands. To zero a larger buffer would take longer than to combine the operands.
const FEW: usize = 256;

/// The operands of a fold, addressed by number.
#[derive(Clone, Copy)]
pub(super) enum Operands<'o, 'v> {
    /// Operands in memory that nobody writes during the fold.
    InPlace(&'o dyn Fn(usize) -> &'v [u8]),
    /// Operands that a function copies tile by tile: (number, offset, destination).
    Read(&'o dyn Fn(usize, usize, &mut [u8])),
}

/// A vertex of the tree: consecutive ranks that have one combined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vertex {
    first: usize,
    end: usize,
}

impl Vertex {
    pub(super) const fn all(ranks: usize) -> Self {
        assert!(ranks > 0, "of no ranks there is no value");
        Self { first: 0, end: ranks }
    }

    pub(super) const fn rank(rank: usize) -> Self {
        Self { first: rank, end: rank + 1 }
    }

    /// In the tree of `ranks` ranks, returns the largest vertex whose first rank is `run.start` and whose ranks are all in `run`.
    pub(super) fn largest_in(run: Range<usize>, ranks: usize) -> Self {
        let Range { start: first, end } = run;
        assert!(first < end && end <= ranks, "{first}..{end} are no run of {ranks} ranks");
        // The first rank must be a multiple of the vertex's length, and the vertex must end inside the run.
        let aligned = if first == 0 { usize::MAX } else { 1 << first.trailing_zeros() };
        let whole = 1 << (end - first).ilog2();
        if end == ranks && aligned >= end - first {
            Self { first, end }
        } else {
            Self { first, end: first + aligned.min(whole) }
        }
    }

    pub(super) fn ranks(self) -> Range<usize> {
        self.first..self.end
    }

    /// Returns the number of levels below the vertex, which is also the number of partial results that its value needs.
    fn depth(self) -> usize {
        (self.end - self.first).next_power_of_two().ilog2() as usize
    }

    fn halves(self) -> Option<(Self, Self)> {
        let Self { first, end } = self;
        let half = (end - first).next_power_of_two() / 2;
        let middle = if mutant("left-to-right") { (end - 1).max(first) } else { first + half };
        (end - first > 1).then_some((Self { first, end: middle }, Self { first: middle, end }))
    }

    /// Computes one tile of the vertex's value. `given` yields vertices of known value, disjoint and in the order of ranks, with
    /// their operand numbers. Returns the tile if the value is itself an operand in memory, and otherwise writes it to `into`.
    /// `partials` has space for [`depth`](Self::depth) tiles.
    fn value<'v>(
        self,
        given: &mut Peekable<impl Iterator<Item = (Self, usize)>>,
        (operands, tile): (Operands<'_, 'v>, &Range<usize>),
        into: &mut [u8],
        partials: &mut [u8],
        op: &dyn ReduceOp,
    ) -> Option<&'v [u8]> {
        if let Some((_, number)) = given.next_if(|(vertex, _)| *vertex == self) {
            return match operands {
                Operands::InPlace(of) => Some(&of(number)[tile.clone()]),
                Operands::Read(read) => {
                    read(number, tile.start, into);
                    None
                }
            };
        }
        let (left, right) = self.halves().unwrap_or_else(|| unreachable!("{self:?} has not been given"));
        let left = left.value(given, (operands, tile), into, partials, op);
        let (made, partials) = partials.split_at_mut(into.len());
        let right = right.value(given, (operands, tile), made, partials, op);
        op.combine(into, left, right.unwrap_or(made));
        None
    }
}

/// Writes the combination of the operands of `ranks` ranks to `into`. Each operand is as long as `into`.
#[inline]
pub(super) fn fold(ranks: usize, operands: Operands<'_, '_>, into: &mut [u8], op: &dyn ReduceOp) {
    if let (2, Operands::InPlace(of)) = (ranks, operands) {
        // Fast path for two ranks, without partial results.
        return op.combine(into, Some(of(0)), of(1));
    }
    let given = (0..ranks).map(|rank| (Vertex::rank(rank), rank));
    fold_vertices(core::iter::once(Vertex::all(ranks)), given, operands, into, op);
}

/// Writes the values of `vertices` to `into`, one after the other. They are combined from known values, which `given` yields as
/// (vertex, operand number) in the order of ranks.
pub(super) fn fold_vertices(
    vertices: impl Iterator<Item = Vertex> + Clone,
    given: impl Iterator<Item = (Vertex, usize)> + Clone,
    operands: Operands<'_, '_>,
    into: &mut [u8],
    op: &dyn ReduceOp,
) {
    let bytes = into.len().checked_div(vertices.clone().count()).unwrap_or_default();
    let depth = vertices.clone().map(Vertex::depth).max().unwrap_or_default();
    with_partials(depth * op.size(), depth * bytes, |partials| {
        let most = partials.len().checked_div(depth).unwrap_or(bytes) / op.size() * op.size();
        for start in (0..bytes).step_by(most.max(1)) {
            let tile = start..bytes.min(start + most);
            let mut given = given.clone().peekable();
            for (k, vertex) in vertices.clone().enumerate() {
                let into = &mut into[k * bytes..][tile.clone()];
                if let Some(whole) = vertex.value(&mut given, (operands, &tile), into, partials, op) {
                    into.copy_from_slice(whole);
                }
            }
        }
    });
}

/// Calls `work` with zeroed memory for partial results: [`FEW`] bytes if `wanted` fits, [`PARTIALS`] if `least` fits, else `least`.
fn with_partials<R>(least: usize, wanted: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    match (least, wanted) {
        (_, 0..=FEW) => work(&mut [0; FEW]),
        (0..=PARTIALS, _) => work(&mut [0; PARTIALS]),
        _ => work(&mut vec![0; least]),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collective::reduce_op::Typed;

    pub(in crate::collective) fn added() -> impl ReduceOp {
        Typed::new(|a: f64, b: f64| a + b, |sum| sum, false)
    }

    /// Returns the value of vertex `index` of a level by the definition in the head of the module; None for a vertex without ranks.
    pub(in crate::collective) fn by_definition<N: Copy>(
        operands: &[N],
        level: u32,
        index: usize,
        op: &impl Fn(N, N) -> N,
    ) -> Option<N> {
        if level == 0 {
            return operands.get(index).copied();
        }
        let half = |index| by_definition(operands, level - 1, index, op);
        match (half(2 * index), half(2 * index + 1)) {
            (Some(left), Some(right)) => Some(op(left, right)),
            (left, _) => left,
        }
    }

    /// Returns the value of all operands by that definition.
    pub(in crate::collective) fn root<N: Copy>(operands: &[N], op: &impl Fn(N, N) -> N) -> N {
        by_definition(operands, operands.len().next_power_of_two().ilog2(), 0, op).unwrap()
    }

    /// Generates numbers whose sums depend on the order: values that cancel, zeros of both signs, infinities, NaNs, subnormals.
    pub(in crate::collective) fn operand() -> impl Strategy<Value = f64> {
        prop_oneof![
            8 => any::<f64>(),
            8 => (-4_i32..4, -60_i32..60).prop_map(|(n, e)| f64::from(n) * 2_f64.powi(e)),
            2 => Just(-0.0), 1 => Just(0.0),
            1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::NAN)],
            1 => (1_u64..1 << 52).prop_map(f64::from_bits),
        ]
    }

    /// Whether both numbers have the same bits, or both are NaN.
    pub(in crate::collective) fn same(one: f64, other: f64) -> bool {
        one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
    }

    #[test]
    fn a_missing_right_half_is_no_zero() {
        for ranks in 1..70 {
            let mut into = [0.0_f64];
            let operand = |_| bytemuck::bytes_of(&-0.0_f64);
            fold(ranks, Operands::InPlace(&operand), bytemuck::cast_slice_mut(&mut into), &added());
            assert_eq!(into[0].to_bits(), (-0.0_f64).to_bits(), "{ranks} ranks");
        }
    }

    proptest! {
        /// Tests operands that are in place or copied, in one tile or several.
        #[test]
        fn a_fold_is_the_tree_and_its_prefixes_are_trees(
            operands in proptest::collection::vec(proptest::collection::vec(operand(), 3), 1..300),
            prefix: proptest::sample::Index,
            repeated in prop_oneof![Just(1_usize), Just(100)],
        ) {
            let ranks = prefix.index(operands.len()) + 1;
            let operands: Vec<Vec<f64>> = operands.iter().map(|of_rank| of_rank.repeat(repeated)).collect();
            let expected = |k: usize| root(&operands[..ranks].iter().map(|of_rank| of_rank[k]).collect::<Vec<_>>(), &|a, b| a + b);
            let in_place = |rank: usize| bytemuck::cast_slice(&operands[rank]);
            let read = |rank: usize, at: usize, into: &mut [u8]| into.copy_from_slice(&in_place(rank)[at..][..into.len()]);
            for operands in [Operands::InPlace(&in_place), Operands::Read(&read)] {
                let mut into = vec![0.0; 3 * repeated];
                fold(ranks, operands, bytemuck::cast_slice_mut(&mut into), &added());
                for (k, sum) in into.into_iter().enumerate() {
                    prop_assert!(same(sum, expected(k)));
                }
            }
        }
    }
}

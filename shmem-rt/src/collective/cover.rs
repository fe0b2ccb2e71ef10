//! Covers: the partial results that stand for a set of ranks.

use core::ops::Range;

use super::reduction::Reduction;
use super::tree::{Operands, Vertex, fold_vertices};

/// The largest [vertices](Vertex) whose ranks all lie in a set, in the order of ranks: together they are the set. Whoever has their
/// values can make those of a larger set of them and of the cover of what is missing. The bits are the same in whatever order sets
/// are joined: each value that is made on the way is that of a vertex.
///
/// `c` ranks that follow each other have at most `2 log2(c)` vertices, and a power of two from a multiple of it on has one. Values of a
/// cover lie one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cover<'r> {
    runs: &'r [Range<usize>],
    ranks: usize,
}

impl<'r> Cover<'r> {
    /// Of runs of ranks that rise and do not touch each other, among so many ranks.
    pub(super) fn of(runs: &'r [Range<usize>], ranks: usize) -> Self {
        Self { runs, ranks }
    }

    /// How many vertices it has.
    pub(super) fn len(self) -> usize {
        self.vertices().count()
    }

    /// The vertices.
    pub(super) fn vertices(self) -> impl Iterator<Item = Vertex> + Clone + use<'r> {
        self.runs.iter().flat_map(move |run| {
            let mut run = run.clone();
            core::iter::from_fn(move || {
                let vertex = (!run.is_empty()).then(|| Vertex::largest_in(run.clone(), self.ranks))?;
                run.start = vertex.ranks().end;
                Some(vertex)
            })
        })
    }

    /// The vertices, with numbers that are even or odd.
    fn numbered(self, first: usize) -> impl Iterator<Item = (Vertex, usize)> + Clone + use<'r> {
        self.vertices().enumerate().map(move |(k, vertex)| (vertex, 2 * k + first))
    }

    /// Writes its values to `into`, of operands that are given for other vertices, with their numbers, in the order of ranks.
    pub(super) fn fold<'v>(
        self,
        given: impl Iterator<Item = (Vertex, usize)> + Clone,
        operand: &dyn Fn(usize) -> &'v [u8],
        into: &mut [u8],
        op: &dyn Reduction,
    ) {
        fold_vertices(self.vertices(), given, Operands::InPlace(operand), into, op);
    }

    /// Writes its values to `into`, of those of two covers of which it is both together.
    pub(super) fn join(
        self,
        (one, ones): (Cover<'_>, &[u8]),
        (other, others): (Cover<'_>, &[u8]),
        into: &mut [u8],
        op: &dyn Reduction,
    ) {
        let mut one_given = one.numbered(0).peekable();
        let mut other_given = other.numbered(1).peekable();
        let given = core::iter::from_fn(move || match (one_given.peek(), other_given.peek()) {
            (Some((left, _)), Some((right, _))) if left.ranks().start > right.ranks().start => {
                other_given.next()
            }
            (Some(_), _) => one_given.next(),
            _ => other_given.next(),
        });
        let bytes = into.len().checked_div(self.len()).unwrap_or_default();
        let operand = |number: usize| &[ones, others][number % 2][number / 2 * bytes..][..bytes];
        fold_vertices(self.vertices(), given, Operands::InPlace(&operand), into, op);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collective::tree::tests::{added, operand, root, same};

    /// The runs that a set of ranks has.
    fn runs(set: &[bool]) -> Vec<Range<usize>> {
        let begins = |rank: &usize| set[*rank] && (*rank == 0 || !set[rank - 1]);
        let end = |first: usize| (first..set.len()).find(|rank| !set[*rank]).unwrap_or(set.len());
        (0..set.len()).filter(begins).map(|first| first..end(first)).collect()
    }

    #[test]
    fn a_cover_has_as_few_vertices_as_is_said() {
        let len = |first: usize, end: usize, ranks: usize| {
            Cover::of(core::slice::from_ref(&(first..end)), ranks).len()
        };
        assert_eq!([len(64, 128, 1000), len(48, 96, 1000), len(28, 56, 1000)], [1, 2, 3]);
        assert_eq!([len(0, 7, 7), len(4, 7, 7), len(6, 7, 7), len(0, 6, 7)], [1, 1, 1, 2]);
        for ranks in [63_usize, 64, 65, 100] {
            for first in 0..ranks {
                for end in first + 1..=ranks {
                    let most = (2 * (end - first).ilog2() as usize).max(1);
                    assert!(len(first, end, ranks) <= most, "{first}..{end} of {ranks}");
                }
            }
        }
    }

    proptest! {
        /// Every rank is in a set of its own at first, or in that of a node; sets are joined in a random order.
        #[test]
        fn covers_make_the_same_bits_in_every_order_of_joining(
            operands in proptest::collection::vec(proptest::collection::vec(operand(), 3), 1..300),
            nodes in 1_usize..20,
            placement in 0..4,
            seed: u64,
        ) {
            let ranks = operands.len();
            let mut random = seed | 1;
            let mut next = |below: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) as usize % below
            };
            let node = |rank: usize, next: &mut dyn FnMut(usize) -> usize| match placement {
                0 => rank * nodes / ranks,
                1 => rank % nodes,
                2 => rank,
                _ => next(nodes),
            };
            let of: Vec<usize> = (0..ranks).map(|rank| node(rank, &mut next)).collect();
            let mut sets: Vec<(Vec<bool>, Vec<f64>)> = Vec::new();
            for node in 0..nodes.max(ranks) {
                let set: Vec<bool> = of.iter().map(|of| *of == node).collect();
                let cover = runs(&set);
                let cover = Cover::of(&cover, ranks);
                let given = (0..ranks).filter(|rank| set[*rank]).map(|rank| (Vertex::rank(rank), rank));
                let operand = |rank: usize| bytemuck::cast_slice(&operands[rank]);
                let mut values = vec![0.0; 3 * cover.len()];
                cover.fold(given, &operand, bytemuck::cast_slice_mut(&mut values), &added());
                if cover.len() > 0 {
                    sets.push((set, values));
                }
            }
            while sets.len() > 1 {
                let (one, left) = sets.swap_remove(next(sets.len()));
                let (other, right) = sets.swap_remove(next(sets.len()));
                let set: Vec<bool> = one.iter().zip(&other).map(|(one, other)| one | other).collect();
                let runs = [runs(&set), runs(&one), runs(&other)];
                let [cover, ones, others] = [0, 1, 2].map(|k| Cover::of(&runs[k], ranks));
                let mut values = vec![0.0; 3 * cover.len()];
                let [left, right] = [&left, &right].map(|values| bytemuck::cast_slice(values));
                cover.join((ones, left), (others, right), bytemuck::cast_slice_mut(&mut values), &added());
                sets.push((set, values));
            }
            let (set, values) = &sets[0];
            let all = runs(set);
            prop_assert_eq!(Cover::of(&all, ranks).vertices().collect::<Vec<_>>(), [Vertex::all(ranks)]);
            for (k, value) in values.iter().enumerate() {
                let column: Vec<f64> = operands.iter().map(|of_rank| of_rank[k]).collect();
                prop_assert!(same(*value, root(&column, &|a, b| a + b)));
            }
        }
    }
}

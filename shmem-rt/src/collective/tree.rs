//! The tree that says what the result of a reduction is.
//!
//! Floating sums depend on the order in which they are made. So the order is part of what a reduction promises, and it
//! depends on the number of ranks alone: not on nodes, rounds, slices or timing. A [`Vertex`] stands for ranks that follow
//! each other, as many as a power of two, from a multiple of that on, cut at the number of ranks. Its value is that of
//! its first half, combined with that of the second, on the right; where all ranks lie in the first half there is nothing
//! to combine with, and no zero stands in (`-0.0 + 0.0` is `+0.0`). The value of a single rank is its operand, and the
//! result is the value of the vertex of all ranks: with 7 of them `((0 1)(2 3))((4 5)6)`.
//!
//! No value has a second definition. So whoever combines the halves of vertices and nothing else comes to the same bits,
//! whichever vertices it is given and wherever they were made: on another PE, in another round, piece by piece. What
//! a member is given of a set of ranks is its [cover](super::cover). The error of a sum grows with the logarithm of
//! the ranks. The first ranks of many are a tree of their own, with vertices of the large one: so prefixes are
//! [folded](fold) as all ranks are.
//!
//! Operands are combined as slices, in tiles that stay in the first cache: an operation on numbers becomes one on
//! vectors of them.

use core::iter::Peekable;
use core::ops::Range;

use bytemuck::Pod;
use shmem_core::primitive::mutant;

use super::partials::Partials;

/// Ranks that have a value: see the head of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vertex {
    first: usize,
    end: usize,
}

impl Vertex {
    /// All of so many ranks.
    pub(super) const fn all(ranks: usize) -> Self {
        assert!(ranks > 0, "of no ranks there is no value");
        Self { first: 0, end: ranks }
    }

    /// A single rank.
    pub(super) const fn rank(rank: usize) -> Self {
        Self { first: rank, end: rank + 1 }
    }

    /// The largest one that begins with the first rank of a run of ranks and lies in it, among so many ranks.
    pub(super) fn largest_in(run: Range<usize>, ranks: usize) -> Self {
        let Range { start: first, end } = run;
        assert!(first < end && end <= ranks, "{first}..{end} are no run of {ranks} ranks");
        // The first rank must be a multiple of as many, and those behind the run must not belong to them.
        let aligned = if first == 0 { usize::MAX } else { 1 << first.trailing_zeros() };
        let whole = 1 << (end - first).ilog2();
        if end == ranks && aligned >= end - first {
            Self { first, end }
        } else {
            Self { first, end: first + aligned.min(whole) }
        }
    }

    /// Its ranks.
    pub(super) fn ranks(self) -> Range<usize> {
        self.first..self.end
    }

    /// Most tiles that lie half made while its value is made, besides the one where that goes.
    pub(super) fn partials(self) -> usize {
        (self.end - self.first).next_power_of_two().ilog2().saturating_sub(1) as usize
    }

    /// How often ranks are halved until each is alone: so many tiles lie half made while its value is made of operands that
    /// are read one by one, besides the one where that goes.
    pub(super) fn depth(self) -> usize {
        (self.end - self.first).next_power_of_two().ilog2() as usize
    }

    /// Makes its value in `into`, of operands that `read` writes where they are wanted. `combine` writes what is on the left,
    /// combined with what is on the right.
    fn value_read<N>(
        self,
        read: &impl Fn(usize, &mut [N]),
        into: &mut [N],
        partials: &mut [N],
        combine: &impl Fn(&mut [N], &[N]),
    ) {
        let Some((left, right)) = self.halves() else { return read(self.first, into) };
        left.value_read(read, into, partials, combine);
        let (made, partials) = partials.split_at_mut(into.len());
        right.value_read(read, made, partials, combine);
        combine(into, made);
    }

    /// Its halves, unless it is a single rank.
    fn halves(self) -> Option<(Self, Self)> {
        let Self { first, end } = self;
        let half = (end - first).next_power_of_two() / 2;
        let middle = if mutant("left-to-right") { (end - 1).max(first) } else { first + half };
        (end - first > 1).then_some((Self { first, end: middle }, Self { first: middle, end }))
    }

    /// Makes its value of the values that come next in `given`, which are those of disjoint vertices in the order of ranks.
    /// It is either given as it is, and returned, or made in `into`. `partials` has room for as many tiles as
    /// [`partials`](Self::partials) says.
    pub(super) fn value<'v, N: Copy>(
        self,
        given: &mut Peekable<impl Iterator<Item = (Self, &'v [N])>>,
        into: &mut [N],
        partials: &mut [N],
        op: &impl Fn(N, N) -> N,
    ) -> Option<&'v [N]> {
        if let Some((_, value)) = given.next_if(|(vertex, _)| *vertex == self) {
            return Some(value);
        }
        let (left, right) = self.halves().unwrap_or_else(|| unreachable!("{self:?} has not been given"));
        let left = left.value(given, into, partials, op);
        if let Some((_, value)) = given.next_if(|(vertex, _)| *vertex == right) {
            combine(into, left, value, op);
        } else {
            let (made, partials) = partials.split_at_mut(into.len());
            let value = right.value(given, made, partials, op);
            combine(into, left, value.unwrap_or(made), op);
        }
        None
    }
}

/// Combines the operands of so many ranks into `into`, each as long as that, by the tree. `partials` is room for
/// what lies half made ([`Partials`](super::partials::Partials)): the more there is, the longer are the tiles.
pub(super) fn fold<'o, N: Copy + 'o>(
    ranks: usize,
    operand: impl Fn(usize) -> &'o [N],
    into: &mut [N],
    partials: &mut [N],
    op: &impl Fn(N, N) -> N,
) {
    let all = Vertex::all(ranks);
    for tile in tiles(into.len(), all.partials(), partials.len()) {
        let into = &mut into[tile.clone()];
        let given = (0..ranks).map(|rank| (Vertex::rank(rank), &operand(rank)[tile.clone()]));
        if let Some(only) = all.value(&mut given.peekable(), into, partials, op) {
            into.copy_from_slice(only);
        }
    }
}

/// As [`fold`], of operands that are read when their turn comes: `read` writes what a rank has, from an item on. `partials` has
/// room for [`depth`](Vertex::depth) items at least.
pub(super) fn fold_read<N: Copy>(
    ranks: usize,
    read: &impl Fn(usize, usize, &mut [N]),
    into: &mut [N],
    partials: &mut [N],
    op: &impl Fn(N, N) -> N,
) {
    let all = Vertex::all(ranks);
    for tile in tiles(into.len(), all.depth(), partials.len()) {
        let first = tile.start;
        let read = |rank, into: &mut [N]| read(rank, first, into);
        all.value_read(&read, &mut into[tile], partials, &|left, right| combine(left, None, right, op));
    }
}

/// As [`fold_read`], in one tile, of slices that `combine` combines as a whole. `partials` has room for as many tiles as
/// [`depth`](Vertex::depth) says.
pub(super) fn fold_slices<N>(
    ranks: usize,
    read: &impl Fn(usize, &mut [N]),
    into: &mut [N],
    partials: &mut [N],
    combine: &impl Fn(&mut [N], &[N]),
) {
    Vertex::all(ranks).value_read(read, into, partials, combine);
}

/// As [`fold_read`], with room for what lies half made, whatever the size of items.
pub(super) fn fold_read_within<I: Pod>(
    ranks: usize,
    into: &mut [I],
    op: &impl Fn(I, I) -> I,
    read: &impl Fn(usize, usize, &mut [I]),
) {
    with_partials(ranks, |partials| fold_read(ranks, read, into, partials, op));
}

/// Lends room for what lies half made while so many ranks are combined, or some of them.
pub(super) fn with_partials<I: Pod, R>(ranks: usize, work: impl FnOnce(&mut [I]) -> R) -> R {
    Partials::with(Vertex::all(ranks).depth(), work)
}

/// Cuts so many numbers into tiles of which as many as `held` fit `room`.
pub(super) fn tiles(numbers: usize, held: usize, room: usize) -> impl Iterator<Item = Range<usize>> {
    let most = room.checked_div(held).unwrap_or(numbers).max(usize::from(numbers == 0));
    assert!(most > 0, "{held} partial results do not fit {room} numbers");
    (0..numbers).step_by(most.max(1)).map(move |first| first..numbers.min(first + most))
}

/// Writes what is on the left, or `into` itself, combined with what is on the right.
#[inline]
fn combine<N: Copy>(into: &mut [N], left: Option<&[N]>, right: &[N], op: &impl Fn(N, N) -> N) {
    assert!(into.len() == right.len(), "a tile of {}, and one of {}", into.len(), right.len());
    match left {
        Some(left) => {
            assert!(into.len() == left.len(), "a tile of {}, and one of {}", into.len(), left.len());
            into.iter_mut().zip(left.iter().zip(right)).for_each(|(into, (l, r))| *into = op(*l, *r));
        }
        None => into.iter_mut().zip(right).for_each(|(into, right)| *into = op(*into, *right)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the head of the module says, in so many words: vertex `index` of a level, if it has ranks.
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

    /// Of all operands.
    pub(in crate::collective) fn root<N: Copy>(operands: &[N], op: &impl Fn(N, N) -> N) -> N {
        by_definition(operands, operands.len().next_power_of_two().ilog2(), 0, op).unwrap()
    }

    /// Numbers whose sums show the order: values that cancel, zeros of both signs, infinities, NaNs, subnormals.
    pub(in crate::collective) fn operand() -> impl Strategy<Value = f64> {
        prop_oneof![
            8 => any::<f64>(),
            8 => (-4_i32..4, -60_i32..60).prop_map(|(n, e)| f64::from(n) * 2_f64.powi(e)),
            2 => Just(-0.0), 1 => Just(0.0),
            1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::NAN)],
            1 => (1_u64..1 << 52).prop_map(f64::from_bits),
        ]
    }

    /// The same number, or both are none.
    pub(in crate::collective) fn same(one: f64, other: f64) -> bool {
        one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
    }

    #[test]
    fn seven_are_combined_as_the_head_of_the_module_says() {
        // Not commutative, not associative, and every result shows how it was made.
        let texts: Vec<String> = (0..7).map(|rank| rank.to_string()).collect();
        let made = std::cell::RefCell::new(texts);
        let op = |left: usize, right: usize| {
            let mut made = made.borrow_mut();
            let both = format!("({} {})", made[left], made[right]);
            made.push(both);
            made.len() - 1
        };
        let operands: Vec<[usize; 1]> = (0..7).map(|rank| [rank]).collect();
        let mut into = [0];
        fold(7, |rank| &operands[rank], &mut into, &mut [0; 4], &op);
        assert_eq!(made.borrow()[into[0]], "(((0 1) (2 3)) ((4 5) 6))");
    }

    #[test]
    fn a_missing_right_half_is_no_zero() {
        let sum = |ranks: usize| {
            let mut into = [0.0];
            fold(ranks, |_| &[-0.0], &mut into, &mut [0.0; 8], &|a: f64, b: f64| a + b);
            into[0].to_bits()
        };
        (1..70).for_each(|ranks| assert_eq!(sum(ranks), (-0.0_f64).to_bits(), "{ranks} ranks"));
    }

    #[test]
    fn the_largest_vertex_of_a_run_is_the_largest() {
        for ranks in 1_usize..40 {
            // All vertices there are, by the definition.
            let levels = 0_u32..=ranks.next_power_of_two().ilog2();
            let of_level = |level| (0..ranks.div_ceil(1_usize << level)).map(move |index| (level, index));
            let vertices: Vec<Range<usize>> = levels
                .flat_map(of_level)
                .map(|(level, index): (u32, usize)| index << level..((index + 1) << level).min(ranks))
                .collect();
            for first in 0..ranks {
                for end in first + 1..=ranks {
                    let inside = |vertex: &&Range<usize>| vertex.start == first && vertex.end <= end;
                    let largest = vertices.iter().filter(inside).map(|vertex| vertex.end).max();
                    let found = Vertex::largest_in(first..end, ranks).ranks();
                    assert_eq!(Some(found.end), largest, "{first}..{end} of {ranks}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_fold_is_the_tree_and_its_prefixes_are_trees(
            operands in proptest::collection::vec(proptest::collection::vec(operand(), 3), 1..300),
            prefix: proptest::sample::Index,
            room in 1_usize..40,
        ) {
            let ranks = prefix.index(operands.len()) + 1;
            let mut into = [0.0; 3];
            let mut partials = vec![0.0; room.max(Vertex::all(ranks).partials())];
            fold(ranks, |rank| &operands[rank], &mut into, &mut partials, &|a, b| a + b);
            for (k, sum) in into.into_iter().enumerate() {
                let column: Vec<f64> = operands[..ranks].iter().map(|of_rank| of_rank[k]).collect();
                prop_assert!(same(sum, root(&column, &|a, b| a + b)));
            }
            let mut again = [0.0; 3];
            fold(ranks, |rank| &operands[rank], &mut again, Partials::new().of(), &|a, b| a + b);
            prop_assert!(into.iter().zip(again).all(|(one, other)| same(*one, other)));
            let mut read = [0.0; 3];
            let mut partials = vec![0.0; room.max(Vertex::all(ranks).depth())];
            let of = |rank: usize, first: usize, into: &mut [f64]| {
                into.copy_from_slice(&operands[rank][first..first + into.len()]);
            };
            fold_read(ranks, &of, &mut read, &mut partials, &|a, b| a + b);
            prop_assert!(into.iter().zip(read).all(|(one, other)| same(*one, other)));
            let mut slices = [0.0; 3];
            let mut partials = vec![0.0; 3 * Vertex::all(ranks).depth()];
            fold_slices(ranks, &|rank, into| of(rank, 0, into), &mut slices, &mut partials, &|left, right| {
                left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
            });
            prop_assert!(into.iter().zip(slices).all(|(one, other)| same(*one, other)));
        }
    }
}

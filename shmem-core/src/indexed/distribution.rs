//! Distributions: the numbering of the elements of an object over several PEs.

/// A numbering of an object's elements over several PEs: [`Block`], [`Block::of`], [`Cyclic`] or [`BlockCyclic`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no distribution",
    label = "not a way to number the elements of several PEs",
    note = "distributions are `Block`, `Block::of(n)`, `Cyclic` and `BlockCyclic::<B>`"
)]
pub trait Distribution: Copy + sealed::Sealed {
    /// The map from indices to members (PEs, by rank) and their elements.
    #[doc(hidden)]
    type Map: sealed::Map;

    /// Returns the map for `members` members with `share` elements each.
    ///
    /// # Panics
    ///
    /// If `share` is too small for the distribution, or no multiple of its block.
    #[doc(hidden)]
    #[track_caller]
    fn map(self, share: usize, members: usize) -> Self::Map;
}

pub(super) mod sealed {
    pub trait Sealed {}

    /// Maps an index to a member and an element of that member, and back.
    ///
    /// # Safety
    ///
    /// For every index below [`len`](Self::len), `locate` must return a rank below the number of members, and an element number
    /// below the share for which the map was made.
    pub unsafe trait Map: Copy + Send + Sync + core::fmt::Debug {
        /// Returns the number of elements that have an index.
        fn len(&self) -> usize;

        /// Returns the rank of the member that has an index's element, and the element's number there. Unspecified beyond the end.
        fn locate(&self, index: usize) -> (usize, usize);

        /// Returns an upper limit on the number of elements of one member that have an index.
        fn depth(&self) -> usize;

        /// Returns how many elements from an index on are contiguous on one member, at least 1. Those at the end may have no index.
        fn run(&self, index: usize) -> usize;

        /// Returns the index of a member's element number `element`. The index grows with `element`, and may be beyond the end.
        fn index_of(&self, rank: usize, element: usize) -> usize;
    }
}

/// The first member has the first elements, and so on: index `i` is element `i % share` of member `i / share`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block;

impl Block {
    /// Returns the distribution of `length` elements in blocks. Each member has `length` divided by the number of members, rounded
    /// up; the last members may have fewer. The object must be large enough.
    pub const fn of(length: usize) -> BlockOf {
        BlockOf(length)
    }
}

/// The distribution that [`Block::of`] returns, with its number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockOf(usize);

/// Deals elements to members in turn (round-robin): index `i` is element `i / members` of member `i % members`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cyclic;

/// Deals blocks of `B` elements to members in turn (round-robin). The share of a member must be a multiple of `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCyclic<const B: usize>;

impl sealed::Sealed for Block {}
impl sealed::Sealed for BlockOf {}
impl sealed::Sealed for Cyclic {}
impl<const B: usize> sealed::Sealed for BlockCyclic<B> {}

impl Distribution for Block {
    type Map = Blocks;

    fn map(self, share: usize, members: usize) -> Blocks {
        Blocks { block: share, by: Reciprocal::of(share), len: whole(share, members) }
    }
}

impl Distribution for BlockOf {
    type Map = Blocks;

    fn map(self, share: usize, members: usize) -> Blocks {
        let (Self(len), block) = (self, self.0.div_ceil(members.max(1)));
        assert!(
            block <= share && members > 0,
            "{len} elements over {members} members are {block} for each, and each has {share}: make the object larger, or \
             spread it over more"
        );
        Blocks { block, by: Reciprocal::of(block), len }
    }
}

impl Distribution for Cyclic {
    type Map = Turns<1>;

    fn map(self, share: usize, members: usize) -> Turns<1> {
        BlockCyclic::<1>.map(share, members)
    }
}

impl<const B: usize> Distribution for BlockCyclic<B> {
    type Map = Turns<B>;

    fn map(self, share: usize, members: usize) -> Turns<B> {
        const { assert!(B > 0, "blocks of no elements: a `BlockCyclic::<B>` has a `B` of 1 or more") };
        assert!(
            share.is_multiple_of(B),
            "each member has {share} elements, which are no whole blocks of {B}: a share is a multiple of the block"
        );
        Turns { turns: share / B, members, by: Reciprocal::of(members), len: whole(share, members) }
    }
}

#[track_caller]
fn whole(share: usize, members: usize) -> usize {
    let Some(len) = share.checked_mul(members) else {
        panic!("{members} times {share} elements are more than there are numbers")
    };
    len
}

/// The map of [`Block`] and [`BlockOf`]: one block for each member.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    block: usize,
    by: Reciprocal,
    len: usize,
}

// SAFETY: an index below `len` is below `members * block`. So its quotient by `block`, the rank, is below `members`, and its
// remainder, the element, is below `block`, which is at most the share. (If `block` is 0, `len` is 0.)
unsafe impl sealed::Map for Blocks {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn locate(&self, index: usize) -> (usize, usize) {
        self.by.divide(index)
    }

    fn depth(&self) -> usize {
        self.block
    }

    fn run(&self, index: usize) -> usize {
        self.block - self.by.divide(index).1
    }

    fn index_of(&self, rank: usize, element: usize) -> usize {
        rank * self.block + element
    }
}

/// The map of [`Cyclic`] and [`BlockCyclic`]: blocks of `B` elements, dealt to members in turn.
#[derive(Clone, Copy, Debug)]
pub struct Turns<const B: usize> {
    /// Number of blocks of each member.
    turns: usize,
    members: usize,
    by: Reciprocal,
    /// Number of elements on all members.
    len: usize,
}

// SAFETY: an index below `len`, which is `members * turns * B`, is in a block whose number is below `members * turns`. The
// remainder of that number by `members`, the rank, is below `members` (not 0, since `len` is not). The quotient is below `turns`,
// so the element is below `turns * B`, which is the share.
unsafe impl<const B: usize> sealed::Map for Turns<B> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn locate(&self, index: usize) -> (usize, usize) {
        let (block, within) = (index / B, index % B);
        let (turn, rank) = self.by.divide(block);
        (rank, turn * B + within)
    }

    fn depth(&self) -> usize {
        self.turns * B
    }

    fn run(&self, index: usize) -> usize {
        if self.members == 1 { self.len - index } else { B - index % B }
    }

    fn index_of(&self, rank: usize, element: usize) -> usize {
        (element / B * self.members + rank) * B + element % B
    }
}

/// A divisor with its reciprocal, for divisions by one multiplication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reciprocal {
    divisor: u64,
    /// (2^64 - 1) / `divisor`, rounded down.
    factor: u64,
}

impl Reciprocal {
    /// Returns the reciprocal of `divisor`; 0 counts as 1.
    pub(super) fn of(divisor: usize) -> Self {
        let divisor = (divisor as u64).max(1);
        Self { divisor, factor: u64::MAX / divisor }
    }

    /// Returns the quotient and the remainder of `number`.
    #[inline(always)]
    pub(super) fn divide(self, number: usize) -> (usize, usize) {
        let (number, Self { divisor, factor }) = (number as u64, self);
        // `factor` is at least 2^64 / divisor - 1. So number * factor / 2^64 is less than the exact quotient by at most
        // number / 2^64, which is below 1. Rounded down, it is the quotient or one less.
        let quotient = ((u128::from(number) * u128::from(factor)) >> 64) as u64;
        let rest = number - quotient * divisor;
        let is_short = rest >= divisor;
        let rest = if is_short { rest - divisor } else { rest };
        ((quotient + u64::from(is_short)) as usize, rest as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sealed::Map;
    use super::*;
    use crate::fixture::refusal;

    /// Where each index is, counted out by hand.
    fn agrees(map: &impl Map, members: usize, by_hand: &[(usize, usize)]) {
        assert_eq!(map.len(), by_hand.len());
        for (index, place) in by_hand.iter().enumerate() {
            assert_eq!(map.locate(index), *place, "index {index}");
            assert_eq!(map.index_of(place.0, place.1), index);
        }
        for rank in 0..members {
            let owned =
                (0..map.depth()).map(|element| map.index_of(rank, element)).take_while(|i| *i < map.len());
            let expected = (0..by_hand.len()).filter(|index| by_hand[*index].0 == rank);
            assert!(owned.eq(expected), "those of {rank}");
        }
    }

    /// Blocks of `block` elements, dealt out to members in turn.
    fn dealt(block: usize, members: usize, turns: usize) -> Vec<(usize, usize)> {
        let turn =
            |turn| (0..members).flat_map(move |rank| (0..block).map(move |k| (rank, turn * block + k)));
        (0..turns).flat_map(turn).collect()
    }

    proptest! {
        #[test]
        fn elements_are_where_they_are_dealt_out_to(members in 1..9_usize, share in 0..40_usize, length in 0..200_usize) {
            agrees(&Block.map(share, members), members, &dealt(share, members, 1));
            agrees(&Cyclic.map(share, members), members, &dealt(1, members, share));
            agrees(&BlockCyclic::<1>.map(share, members), members, &dealt(1, members, share));
            agrees(&BlockCyclic::<5>.map(5 * share, members), members, &dealt(5, members, share));
            let block = length.div_ceil(members);
            let mut some = dealt(block, members, 1);
            some.truncate(length);
            agrees(&Block::of(length).map(block, members), members, &some);
            agrees(&Block::of(length).map(block + 3, members), members, &some);
        }
    }

    #[test]
    fn there_must_be_room_for_whole_blocks() {
        let room = refusal(|| _ = Block::of(10).map(3, 3));
        assert!(room.starts_with(
            "10 elements over 3 members are 4 for each, and each has 3: make the object larger"
        ));
        let blocks = refusal(|| _ = BlockCyclic::<4>.map(10, 3));
        assert!(
            blocks.starts_with("each member has 10 elements, which are no whole blocks of 4"),
            "{blocks}"
        );
        assert_eq!(Block::of(7).map(3, 3).index_of(2, 0), 6);
    }

    /// Numbers of all lengths, and those beside powers of two.
    fn numbers() -> impl Strategy<Value = usize> {
        let any = (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| (number >> shift) as usize);
        let beside =
            (0..64_u32, 0..3_usize).prop_map(|(bit, by)| (1_usize << bit).wrapping_sub(1).wrapping_add(by));
        prop_oneof![any, beside]
    }

    proptest! {
        #[test]
        fn it_divides_as_the_processor_does(number in numbers(), divisor in numbers(), times in numbers()) {
            let divisor = divisor.max(1);
            let reciprocal = Reciprocal::of(divisor);
            let multiple = times.wrapping_mul(divisor);
            for number in [number, multiple, multiple.wrapping_sub(1), usize::MAX] {
                prop_assert_eq!(reciprocal.divide(number), (number / divisor, number % divisor));
            }
        }
    }
}

//! Which PEs have which rank.

use std::ops::Range;

/// The numbers of PEs, by rank. Each has one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ranks {
    /// `start`, `start + stride`, and so on.
    Strided { start: u32, stride: i64, size: u32 },
    /// Numbers that grow, but by no one stride.
    Ascending(Box<[u32]>),
    /// Numbers in some other order, and ranks in the order of their numbers.
    Listed { numbers: Box<[u32]>, ascending: Box<[u32]> },
}

impl Ranks {
    /// So many PEs, each of which has its number as rank.
    pub(super) fn all(size: usize) -> Self {
        Self::Strided { start: 0, stride: 1, size: size as u32 }
    }

    /// The PEs with these numbers, one of them at least and all different, in the order of their ranks.
    pub(super) fn of(numbers: Vec<u32>) -> Self {
        let step = |pair: &[u32]| i64::from(pair[1]) - i64::from(pair[0]);
        let stride = numbers.get(..2).map_or(1, step);
        if numbers.windows(2).all(|pair| step(pair) == stride) {
            return Self::Strided { start: numbers[0], stride, size: numbers.len() as u32 };
        }
        if numbers.is_sorted() {
            return Self::Ascending(numbers.into());
        }
        let mut ascending: Box<[u32]> = (0..numbers.len() as u32).collect();
        ascending.sort_unstable_by_key(|rank| numbers[*rank as usize]);
        Self::Listed { numbers: numbers.into(), ascending }
    }

    pub(super) fn size(&self) -> usize {
        match self {
            Self::Strided { size, .. } => *size as usize,
            Self::Ascending(numbers) | Self::Listed { numbers, .. } => numbers.len(),
        }
    }

    /// The number of the PE with a rank, if there is one.
    #[inline]
    pub(super) fn number(&self, rank: usize) -> Option<usize> {
        match self {
            Self::Strided { start, stride, size } => {
                (rank < *size as usize).then(|| (i64::from(*start) + stride * rank as i64) as usize)
            }
            Self::Ascending(numbers) | Self::Listed { numbers, .. } => {
                numbers.get(rank).map(|number| *number as usize)
            }
        }
    }

    /// The numbers of all, if they are one behind the other.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        match self {
            Self::Strided { start, stride, size } if *stride == 1 || *size == 1 => {
                Some(*start as usize..*start as usize + *size as usize)
            }
            _ => None,
        }
    }

    /// The rank of the PE with a number, if it has one.
    #[inline]
    pub(super) fn find(&self, number: usize) -> Option<usize> {
        match self {
            Self::Strided { start, stride, size } => {
                let distance = number as i64 - i64::from(*start);
                let steps = match stride {
                    1 => distance,
                    _ if distance % stride == 0 => distance / stride,
                    _ => return None,
                };
                (0..i64::from(*size)).contains(&steps).then_some(steps as usize)
            }
            Self::Ascending(numbers) => numbers.binary_search_by_key(&number, |number| *number as usize).ok(),
            Self::Listed { numbers, ascending } => {
                let place = ascending.binary_search_by_key(&number, |rank| numbers[*rank as usize] as usize);
                Some(ascending[place.ok()?] as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Different numbers below 60 in any order, among which are those of strides, growing ones and others.
    fn numbers() -> impl Strategy<Value = Vec<u32>> {
        let strided = (0..30_u32, 1..30_usize, -7..8_i64).prop_map(|(start, size, stride)| {
            let all = (0..size as i64).map(|k| i64::from(start) + k * if stride == 0 { 1 } else { stride });
            all.take_while(|number| (0..60).contains(number)).map(|number| number as u32).collect()
        });
        let any = vec(0..60_u32, 1..30).prop_map(|all| {
            let mut seen = BTreeSet::new();
            all.into_iter().filter(|number| seen.insert(*number)).collect::<Vec<_>>()
        });
        let ascending = any.clone().prop_map(|mut all| {
            all.sort_unstable();
            all
        });
        prop_oneof![strided, any, ascending]
    }

    proptest! {
        #[test]
        fn ranks_are_places_in_a_list(numbers in numbers()) {
            let ranks = Ranks::of(numbers.clone());
            prop_assert_eq!(ranks.size(), numbers.len());
            for rank in 0..numbers.len() + 2 {
                prop_assert_eq!(ranks.number(rank), numbers.get(rank).map(|number| *number as usize));
            }
            let listed = numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            let range = ranks.range();
            prop_assert_eq!(range.is_some(), listed);
            prop_assert!(range.is_none_or(|range| range.eq(numbers.iter().map(|number| *number as usize))));
            for number in 0..70 {
                let place = numbers.iter().position(|other| *other as usize == number);
                prop_assert_eq!(ranks.find(number), place);
            }
        }

        #[test]
        fn one_stride_is_no_list(start in 0..1000_u32, stride in 1..9_u32, size in 1..500_u32, turned: bool) {
            let mut numbers: Vec<u32> = (0..size).map(|k| start + k * stride).collect();
            if turned {
                numbers.reverse();
            }
            let is_strided = matches!(Ranks::of(numbers), Ranks::Strided { .. });
            prop_assert!(is_strided);
        }
    }

    #[test]
    fn all_pes_have_their_numbers_as_ranks() {
        assert_eq!(Ranks::all(3), Ranks::of(vec![0, 1, 2]));
        assert_eq!(Ranks::all(1), Ranks::of(vec![0]));
    }
}

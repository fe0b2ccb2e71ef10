//! The numbers of PEs by rank.

use std::ops::Range;

/// The numbers of PEs, by rank, all different.
#[derive(Debug)]
pub(super) enum Ranks {
    /// Numbers `start`, `start + stride`, and so on.
    Strided { start: u32, stride: i64, size: u32 },
    /// Numbers without a common stride, by rank; and the ranks in the ascending order of their numbers.
    Listed { numbers: Box<[u32]>, ascending: Box<[u32]> },
}

impl Ranks {
    pub(super) fn all(size: usize) -> Self {
        Self::Strided { start: 0, stride: 1, size: size as u32 }
    }

    /// Describes PEs by their numbers, at least one and all different, in the order of ranks.
    pub(super) fn of(numbers: Vec<u32>) -> Self {
        let step = |pair: &[u32]| i64::from(pair[1]) - i64::from(pair[0]);
        let stride = numbers.get(..2).map_or(1, step);
        if numbers.windows(2).all(|pair| step(pair) == stride) {
            return Self::Strided { start: numbers[0], stride, size: numbers.len() as u32 };
        }
        let mut ascending: Box<[u32]> = (0..numbers.len() as u32).collect();
        ascending.sort_unstable_by_key(|rank| numbers[*rank as usize]);
        Self::Listed { numbers: numbers.into(), ascending }
    }

    pub(super) fn size(&self) -> usize {
        match self {
            Self::Strided { size, .. } => *size as usize,
            Self::Listed { numbers, .. } => numbers.len(),
        }
    }

    #[inline]
    pub(super) fn number(&self, rank: usize) -> Option<usize> {
        match self {
            Self::Strided { start, stride, size } => {
                (rank < *size as usize).then(|| (i64::from(*start) + stride * rank as i64) as usize)
            }
            Self::Listed { numbers, .. } => numbers.get(rank).map(|number| *number as usize),
        }
    }

    /// Returns the numbers as a range, if they are consecutive.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        match self {
            Self::Strided { start, stride, size } if *stride == 1 || *size == 1 => {
                Some(*start as usize..*start as usize + *size as usize)
            }
            _ => None,
        }
    }

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
            Self::Listed { numbers, ascending } => {
                let place = ascending.binary_search_by_key(&number, |rank| numbers[*rank as usize] as usize);
                Some(ascending[place.ok()?] as usize)
            }
        }
    }
}

//! A list with runs of equal values, run-length encoded.

use std::collections::HashMap;
use std::hash::Hash;

/// A list with many equal neighbours. It stores each different value once, and 8 bytes for each run of equal elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualRun<T> {
    values: Box<[T]>,
    runs: Box<[Run]>,
    len: usize,
}

/// A run of equal values: index of its first element in the list, and index of its value among the different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    value: u32,
}

impl<T> EqualRun<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element at an index.
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len {
            return None;
        }
        let run = self.runs.partition_point(|run| run.first as usize <= index) - 1;
        Some(&self.values[self.runs[run].value as usize])
    }

    /// The different values, in the order of their first elements.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Maps all elements; `of` is called once for each different value.
    pub fn map<U: Eq + Hash + Clone>(&self, of: impl FnMut(&T) -> U) -> EqualRun<U> {
        let made: Vec<U> = self.values.iter().map(of).collect();
        let starts = self.runs.iter().map(|run| (run.first as usize, made[run.value as usize].clone()));
        let (values, runs) = runs_of(starts);
        EqualRun { values, runs, len: self.len }
    }

    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        let ends = self.runs.iter().skip(1).map(|run| run.first as usize).chain([self.len]);
        let runs = self.runs.iter().zip(ends);
        runs.flat_map(|(run, end)| {
            std::iter::repeat_n(&self.values[run.value as usize], end - run.first as usize)
        })
    }
}

/// Encodes a list. Panics if a run of equal elements starts at index 2^32 or above.
impl<T: Eq + Hash + Clone> FromIterator<T> for EqualRun<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut len = 0;
        let (values, runs) = runs_of(all.into_iter().inspect(|_| len += 1).enumerate());
        Self { values, runs, len }
    }
}

/// Returns the different values and the runs, from (start, value) of each run.
fn runs_of<T: Eq + Hash + Clone>(starts: impl Iterator<Item = (usize, T)>) -> (Box<[T]>, Box<[Run]>) {
    let (mut values, mut runs, mut known) = (Vec::new(), Vec::<Run>::new(), HashMap::new());
    for (first, value) in starts {
        let place = known.get(&value).copied().unwrap_or_else(|| {
            values.push(value.clone());
            known.insert(value, values.len() as u32 - 1);
            values.len() as u32 - 1
        });
        if runs.last().is_none_or(|last| last.value != place) {
            let first = u32::try_from(first).unwrap_or_else(|_| panic!("{first} values are too many"));
            runs.push(Run { first, value: place });
        }
    }
    (values.into(), runs.into())
}

/// Groups numbers by equal values, in the order of the first number of each group.
pub fn groups<T: PartialEq>(values: impl Iterator<Item = (usize, T)>) -> Vec<(T, Vec<usize>)> {
    let mut groups: Vec<(T, Vec<usize>)> = Vec::new();
    for (number, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, numbers)) => numbers.push(number),
            None => groups.push((value, vec![number])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_are_those_of_a_list(runs in vec((0..4_u8, 1..9_usize), 0..9)) {
            let list: Vec<u8> =
                runs.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count)).collect();
            let alike: EqualRun<u8> = list.iter().copied().collect();
            prop_assert_eq!(alike.iter().copied().collect::<Vec<_>>(), list.clone());
            prop_assert_eq!((alike.len(), alike.is_empty()), (list.len(), list.is_empty()));
            for index in 0..list.len() + 2 {
                prop_assert_eq!(alike.get(index), list.get(index));
            }
            let mut changes = list.clone();
            changes.dedup();
            prop_assert_eq!(alike.runs.len(), changes.len());
            let halves = alike.map(|value| value / 2);
            prop_assert_eq!(halves, list.iter().map(|value| value / 2).collect());
            changes.sort_unstable();
            changes.dedup();
            prop_assert_eq!(alike.values().len(), changes.len());
        }
    }
}

//! Sorting on one PE: a counting sort for each digit of the keys, the last digit first.
//!
//! It knows nothing of PEs, and sorts all keys in the serial solution, too.

/// Bits of a digit: as many counters as places in memory that caches can follow.
const BITS: u32 = 11;

const DIGITS: usize = u32::BITS.div_ceil(BITS) as usize;

/// Sorts keys into a slice as long as theirs. So is `room`, in which nothing is left that means anything.
pub(crate) fn sort(keys: &[u32], sorted: &mut [u32], room: &mut [u32]) {
    let mut places = [[0_usize; 1 << BITS]; DIGITS];
    for key in keys {
        for (number, places) in places.iter_mut().enumerate() {
            places[digit(*key, number)] += 1;
        }
    }
    let [first, second, third] = &mut places;
    deal(keys, sorted, 0, first);
    deal(sorted, room, 1, second);
    deal(room, sorted, 2, third);
}

/// Sorts by one digit, of which `counts` says how often it has each value.
fn deal(from: &[u32], to: &mut [u32], number: usize, counts: &mut [usize]) {
    let mut next = 0;
    for place in &mut *counts {
        next += std::mem::replace(place, next);
    }
    let places = counts;
    for key in from {
        let place = &mut places[digit(*key, number)];
        to[*place] = *key;
        *place += 1;
    }
}

fn digit(key: u32, number: usize) -> usize {
    (key >> (number as u32 * BITS)) as usize & ((1 << BITS) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_sorted(keys in proptest::collection::vec(any::<u32>(), 0..200)) {
            let mut expected = keys.clone();
            expected.sort_unstable();
            let [mut sorted, mut room] = [(); 2].map(|()| vec![0; keys.len()]);
            sort(&keys, &mut sorted, &mut room);
            prop_assert_eq!(sorted, expected);
        }
    }
}
